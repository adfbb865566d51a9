"""What each score costs as texts grow, as the bench last measured it."""

from __future__ import annotations

from functools import partial
from html import escape
from statistics import mean

import pandas as pd
import streamlit as st

from pages.shared import checkpoint_html, figures, style
from triattn_core.results import third_order
from triattn_core.results.third_order import MEMBERS
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.views.charts import efficiency, score_costs

PANEL = 560  # pixels of a chart of costs: two beside each other where there is room
TOKENS, COLUMNS = 128, 3  # the length at which costs stand beside accuracy; panels in a row
COLOURS = {
    "tree": "accent",
    "product, window of 32": "accent",
    "two-way": "bi",
}  # of the palette; all others in Tri-Attention's


def show() -> None:
    """Shows time and memory, with the powers of the length that each grows with."""
    measured = third_order.cost()
    if measured is None:
        return
    about = f"forward, one head of {measured['features']} features, {measured['machine']}, {measured['date']}"
    st.html(checkpoint_html.section("What it costs", escape(about)))
    points = pd.DataFrame(measured["points"]).rename(columns={"form": "name"})
    families = {name: COLOURS.get(name, "tri") for name in points.name.unique()}
    sentence = f"{efficiency.describe(points)} {growth(points)}"
    with st.container(horizontal=True, gap="medium", key="third-order-cost"):
        for column in efficiency.PANELS:
            chart = partial(efficiency.figure, points, families, column, True, style.theme())
            with st.container(width=PANEL):
                figures.show(chart, sentence, f"third-order-{column}")
    figures.folded("In words, and the command", f"{sentence} {measured['command']} measures it again.")
    _against_accuracy(points)
    figures.numbers("All lengths as numbers", points, "third-order-numbers")


def growth(points: pd.DataFrame) -> str:
    """How time grows at the longest texts, and why it does so otherwise than the work."""
    lengths = sorted(points.tokens.unique())[-3:]
    seconds = {name: dict(zip(form.tokens, form.seconds)) for name, form in points.groupby("name", sort=False)}
    each = "; ".join(
        f"{name} {third_order.fitted_power(measured):.1f} "
        f"({', '.join(f'{power:.1f}' for power in third_order.doublings(measured))})"
        for name, measured in seconds.items()
    )
    return (
        f"Power of the length n with which time grows, fitted over {', '.join(map(str, lengths))} tokens, and in "
        f"brackets in each doubling: {each}. Work over a cube is n³, and in the last doubling time of our forms with a "
        "cube grows about so. A higher power is not of work: a cube that outgrows the processor's cache would explain "
        "it; that was not measured. "
        "Strassen's score runs here over such a cube; in its authors' algorithm, which is not run here, it is "
        "sub-cubic (arXiv 2501.19215). Triangle attention has n² pairs with n third nodes each; the tree has "
        "two maps of n², and a window of 32 keys and 32 context tokens leaves n."
    )


def _against_accuracy(points: pd.DataFrame) -> None:
    """Draws what each score reaches on each task against its time at TOKENS."""
    at = points[points.tokens == TOKENS].set_index("name").seconds
    rows = [
        (LABORATORY[task].LABEL, MEMBERS[name].label, 1e3 * at[MEMBERS[name].label], mean(cell.accuracy))
        for (task, name), cell in third_order.reached().items()
        if name in MEMBERS and MEMBERS[name].label in at
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
