"""What each score costs as texts grow, as the bench last measured it."""

from __future__ import annotations

from functools import partial
from html import escape
from statistics import mean

import pandas as pd
import streamlit as st

from pages.shared import checkpoint_html, figures, style
from triattn_core.results import third_order
from triattn_core.results.third_order import FAMILY
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.views.charts import efficiency, score_costs

TOKENS, COLUMNS = 128, 3  # the length at which costs stand beside accuracy; panels in a row
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
    _against_accuracy(points)
    figures.numbers("All lengths as numbers", points, "third-order-numbers")


def _against_accuracy(points: pd.DataFrame) -> None:
    """Draws what each score reaches on each task against its time at TOKENS."""
    at = points[points.tokens == TOKENS].set_index("name").seconds
    rows = [
        (LABORATORY[task].LABEL, FAMILY[name].label, 1e3 * at[FAMILY[name].label], mean(cell.accuracy))
        for (task, name), cell in third_order.reached().items()
        if name in FAMILY and FAMILY[name].label in at
    ]
    if not rows:
        return
    table = pd.DataFrame(rows, columns=["task", "score", "milliseconds", "accuracy"])
    table = table[table.groupby("task").score.transform("count") > 1]
    sentence = score_costs.describe(table)
    st.html(
        checkpoint_html.section("What it buys", f"accuracy, mean over seeds, against time at {TOKENS} tokens a role")
    )
    chart = partial(score_costs.figure, table, "tri", COLUMNS, style.theme())
    figures.show(chart, sentence, "third-order-buys", width="content")
    figures.note(sentence)
