"""The shelf as widgets: pickers, and a table whose rows choose a card."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.common import cards, figures, state, style
from triattn_core import records
from triattn_core.shelf import Card

# A filter appears once the shelf has two values for it.
FILTERS = {
    "task": ("Task", records.task),
    "mechanism": ("Mechanism", cards.label),
    "similarity": ("Similarity", cards.similarity),
    "language": ("Language", lambda card: records.spoken(records.language(card))),
}
ROW, MOST = 26, 24  # pixels of a row, rows without scrolling
NUMBER = st.column_config.NumberColumn(format="%.1f")
COLUMNS = {
    "": st.column_config.Column(width=24),
    "name": st.column_config.Column(width=170),
    "dev": NUMBER,
    "test": NUMBER,
    "parameters": st.column_config.NumberColumn(format="localized"),
    "MB": NUMBER,
}


def pickers(shelf: Sequence[Card]) -> tuple[Card, Card, list[Card]]:
    """The row above the table: the card, the one to compare it with, and the cards that pass the filters."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        card = state.pick("Checkpoint", shelf, "checkpoint", show=lambda card: card.name, width=210)
        # What may be compared with it comes first.
        others = sorted((one for one in shelf if one != card), key=lambda one: records.data(one) != records.data(card))
        others = others or [card]
        other = state.pick("Compare with", others, "other", show=lambda card: card.name, width=210)
        rows = list(shelf)
        for key, (label, of) in FILTERS.items():
            options = sorted({of(one) for one in shelf})
            if len(options) > 1:
                chosen = state.pick(label, ["all", *options], key, width=130)
                rows = [one for one in rows if chosen in ("all", of(one))]
    return card, other, rows


def tables(rows: Sequence[Card], card: Card) -> None:
    """A table for those that may be compared; a click anywhere in a row chooses its card."""
    for number, group in enumerate(records.groups(rows).values()):
        st.html(cards.group_head(group))
        _table(group, card, f"shelf{number}")


def _table(rows: Sequence[Card], card: Card, key: str) -> None:
    def take() -> None:
        at = state.picked(key)
        st.session_state["checkpoint"] = card if at is None else rows[at]

    said = _said(rows)
    tints = [f"color: {style.colour(records.model(one, 'mechanism'))}" for one in rows]
    state.mark(key, rows.index(card) if card in rows else None)
    st.dataframe(
        cards.frame(rows).style.apply(lambda _: tints, subset=[""]),
        key=key,
        hide_index=True,
        row_height=ROW,
        height=ROW * (min(len(rows), MOST) + 1) + 7,
        on_select=take,
        selection_mode=["single-row", "single-cell"],
        column_config=COLUMNS,
        alt=said,
    )
    figures.note(said)


def _said(rows: Sequence[Card]) -> str:
    """A sentence: the highest and the lowest score on test."""
    scored = sorted((one for one in rows if records.score(one) is not None), key=records.score)
    if not scored:
        return f"{len(rows)} not yet measured on test."
    ends = [f"{one.name}, {records.score(one):.1f}" for one in (scored[-1], scored[0])]
    if len(scored) == 1:
        return f"{records.metric_name(scored[0]).capitalize()} on test, %: {ends[0]}."
    return f"Highest {records.metric_name(scored[-1])} on test of {len(scored)}, %: {ends[0]}; lowest: {ends[1]}."
