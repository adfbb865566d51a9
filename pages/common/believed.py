"""Can attributions be believed: comprehensiveness and sufficiency of one example, and over a file of rows."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from pages.common import asking, cards, case_rows, figures, mining, models, state
from pages.common.errors import shown
from triattn_core import records
from triattn_core.analysis.offered import METHODS
from triattn_core.case_card import attribute
from triattn_core.views import perturbation
from triattn_core.views.signs import minus

FEW = (12, 48, 100)  # rows of a file
ENOUGH = 8  # rows without which a bootstrap band is too narrow to believe
HOW = (
    "DeYoung et al. 2020; tokens are deleted (read nowhere), not blanked, in the order of what they add to the answer "
    f"in all their roles together; grey: middle 95 % of {attribute.DRAWS} random rankings"
)


def one(question: asking.Question, steps: int, method: str | None = None) -> str:
    """The curves of the example and the area of each method beside the control's; returns the chosen method.

    method: what is chosen already, further up.
    """

    st.html(cards.section("Can they be believed?", HOW))
    if method is None:
        method = state.segments("Method", list(METHODS), "method", label_visibility="collapsed")
    with shown():
        curves, areas, band = attribute.tested(question, steps)
    said = perturbation.said(method, areas, band, attribute.DRAWS)
    draw = partial(perturbation.figure, curves, chosen=method, theme=asking.theme())
    two(draw, said, "faithful")
    rows = curves.rename(columns={"draw": "random draw"})
    figures.numbers("The curves as numbers", rows, "curves-numbers")
    return method


def two(draw, said: str, key: str) -> None:
    """A figure of each measure beside the other, and the sentence that is also their text."""
    with st.container(key=f"main-{key}"):
        for measure, column in zip(perturbation.TITLES, st.columns(2, gap="large")):
            with column:
                figures.drawn(draw(measure=measure), said, f"{key}-{measure}")
    figures.note(said)


def over(question: asking.Question, method: str) -> None:
    """Bi, C-Bi and Tri of one similarity against each other over rows, once the reader asks for it."""
    rivals = alike(question)
    st.html(cards.section("Over many rows", f"{len(rivals)} checkpoints of one similarity; 95 % bootstrap bands"))
    with st.container(horizontal=True, vertical_alignment="bottom", key="rows-settings"):
        chosen = state.pick("Rows", [case_rows.OWN, case_rows.FILE], "rows", width=170)
        count = state.segments("How many", list(FEW), "count")
        which = state.segments("Methods", ["this one", "all"], "which")
        if st.button("Run", key="run", width=84, help="Asks each checkpoint about each row; it can be stopped."):
            st.session_state["over asked"] = True
    with shown():
        source = case_rows.asked(chosen, question.task, question.language)
        if source is None or not st.session_state.get("over asked"):
            what = method if which == "this one" else "all methods"
            said = f"Not run yet: {what}, {count} rows, {', '.join(card.name for card in rivals)}."
            st.html(f'<p class="t-note">{said}</p>')
            return
        names = [method] if which == "this one" else []
        table = mining.asked(("faithful", *names), rivals, source, _rows(names), count)
    if table is not None:
        _shown(table, rivals)


def alike(question: asking.Question) -> list:
    """The checkpoints of the asked one's similarity and data, one a mechanism, it itself among them."""
    same = {}
    for card in [question.card, *models.shelf(question.task, ("bi", "cbi", "tri"))]:
        wanted = all(
            what(card) == what(question.card)
            for what in (records.language, records.data, lambda c: records.model(c, "similarity"))
        )
        if wanted:
            same.setdefault(records.model(card, "mechanism"), card)
    return [same[name] for name in ("bi", "cbi", "tri") if name in same]


def _rows(names: list[str]):
    def parts(bundles, rows):
        from triattn_core.analysis import faithfulness

        return faithfulness.together(bundles, rows, methods=names)

    return parts


def _shown(table: pd.DataFrame, rivals: list) -> None:
    from triattn_core.analysis.faithfulness import summary

    found = summary(table)
    mechanisms = {card.name: records.model(card, "mechanism") for card in rivals}
    draw = partial(perturbation.over, found, mechanisms=mechanisms, theme=asking.theme())
    two(draw, gains(found), "faithful-over")
    figures.numbers("Means and bands as numbers", found, "over-numbers")
    data = table.to_csv(index=False).encode("utf-8-sig")
    st.download_button("All rows, CSV", data, "faithful.csv", "text/csv", on_click="ignore")


def gains(found: pd.DataFrame) -> str:
    """A sentence: for each checkpoint the methods whose gain over the control has a band without zero."""
    rows, parts = int(found["rows"].max()), []
    if rows < ENOUGH:
        return f"{rows} row{'s' * (rows != 1)}: too few to tell any method from random; {ENOUGH} at least."
    for name, of in found[found["method"] != perturbation.RANDOM].groupby("checkpoint", sort=False):
        good = (of["measure"] == "comprehensiveness") & (of["gain_low"] > 0)
        good |= (of["measure"] == "sufficiency") & (of["gain_high"] < 0)
        some = of[good]
        told = ", ".join(f"{row.method} ({row.measure} {row.gain:+.3f})" for row in some.itertuples())
        parts.append(f"{name}: {told or 'none'}")
    asked = int((found["method"] != perturbation.RANDOM).sum())
    said = f"Better than random over {rows} rows, by the mean difference (of sufficiency less is better): "
    said += f"{'; '.join(parts)}."
    return minus(f"{said} Of {asked} bands of 95 % {0.025 * asked:g} would say so by chance in the mean.")
