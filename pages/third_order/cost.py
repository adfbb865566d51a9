"""What each score costs as texts grow, as the bench last measured it."""

from __future__ import annotations

from functools import partial
from html import escape

import pandas as pd
import streamlit as st

from pages.shared import checkpoint_html, figures, style
from triattn_core.results import third_order
from triattn_core.views.charts import efficiency

COLOURS = {"tree": "accent", "two-way": "bi"}  # of the palette; all others in Tri-Attention's


def show() -> None:
    """Shows time and memory, with the power of the length that each grows with."""
    measured = third_order.cost()
    if measured is None:
        return
    about = f"forward, one head of {measured['features']} features, {measured['machine']}, {measured['date']}"
    st.html(checkpoint_html.section("What it costs", escape(about)))
    points = pd.DataFrame(measured["points"]).rename(columns={"form": "name"})
    families = {name: COLOURS.get(name, "tri") for name in points.name.unique()}
    growth = ", ".join(f"{name} n^{power:.1f}" for name, power in measured["power"].items())
    sentence = f"{efficiency.describe(points)} Time grows with the length n as {growth} (fit of the three longest)."
    with st.container(horizontal=True, gap="medium", key="third-order-cost"):
        for column in efficiency.PANELS:
            chart = partial(efficiency.figure, points, families, column, True, style.theme())
            figures.show(chart, sentence, f"third-order-{column}")
    figures.note(f"{sentence} {measured['command']} measures it again.")
    figures.numbers("All lengths as numbers", points, "third-order-numbers")
