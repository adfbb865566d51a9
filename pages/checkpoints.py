"""Checkpoints: the shelf, what each reached, how two differ, and what the start weights had read."""

from __future__ import annotations

import streamlit as st

from pages.common import cards, models, state, style
from pages.common.errors import plain, shown
from triattn_core import records
from triattn_core.views import history, side_by_side

FILTERS = {
    "task": ("Task", records.task),
    "mechanism": ("Mechanism", cards.label),
    "lang": ("Language", records.language),
}

style.heading(
    "Checkpoints", "The shelf: every trained model here, what it reached, and what its start weights had read."
)
for broken in models.broken():
    st.error(plain(broken.problem or ""))
shelf = [card for group in records.groups(models.shelf()).values() for card in group]
if not shelf:
    st.info("There is no checkpoint to show yet: train one with the command triattn train.")
    st.stop()


def choose():
    """The row of pickers: which card, which to compare it with, and which rows the table has."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        card = state.pick("Checkpoint", shelf, "checkpoint", show=lambda card: card.name, width=210)
        others = [one for one in shelf if one != card] or [card]
        other = state.pick("Compare with", others, "other", show=lambda card: card.name, width=210)
        rows = shelf
        for key, (label, of) in FILTERS.items():
            options = sorted({of(one) for one in shelf})
            if len(options) > 1:
                chosen = state.pick(label, ["all", *options], key, width=130)
                rows = [one for one in rows if chosen in ("all", of(one))]
        st.space("stretch")
        checked = st.button("Verify all", width=96)
    return card, other, rows, checked


def table(rows, card) -> None:
    """The shelf; a click on a row chooses its card."""

    def take() -> None:
        picked = st.session_state["shelf"]["selection"]["rows"]
        st.session_state["checkpoint"] = rows[picked[0]] if picked else card

    frame = cards.frame(rows)
    tints = [f"color: {style.colour(records.model(one, 'mechanism'))}" for one in rows]
    styled = frame.style.apply(lambda _: tints, subset=[""])
    number = st.column_config.NumberColumn
    st.session_state["shelf"] = {"selection": {"rows": [rows.index(card)] if card in rows else [], "columns": []}}
    st.dataframe(
        styled,
        key="shelf",
        hide_index=True,
        row_height=28,
        on_select=take,
        selection_mode="single-row",
        column_config={
            "": st.column_config.Column(width=24),
            "name": st.column_config.Column(width=170),
            **{name: number(format="%.1f") for name in ("dev", "test", "MB")},
        },
        alt="The checkpoints with their metrics.",
    )


def losses(card, other) -> None:
    """The loss of both while they were trained."""
    names = dict(zip(side_by_side.titles([cards.named(one) for one in (card, other)]), (card, other)))
    told = {name: one.metrics.get("history") or [] for name, one in names.items()}
    colours = {name: style.colour(records.model(one, "mechanism")) for name, one in names.items()}
    st.html(cards.section("Loss", "cross-entropy; line dev, thin train, dot lowest dev"))
    if any(told.values()):
        theme = "dark" if style.dark() else "light"
        st.altair_chart(history.figure(told, colours, theme), theme=None, alt="Loss of both models over the steps.")
    else:
        st.html('<p class="t-note">No history is recorded.</p>')


def verified(card, asked: bool) -> None:
    """The checks of a card: on asking, and as long as this browser stays."""
    results = st.session_state.setdefault("verified", {})
    if asked:
        with shown(stop=False), st.spinner(f"Verifying {card.name}"):
            results[card.digest] = models.verify(card)
    if card.digest in results:
        st.html(cards.checks(*results[card.digest]))


left, right = st.container(key="main").columns([2.7, 1], gap="medium")
with left:
    card, other, rows, check_all = choose()
    table(rows, card)
    st.html(cards.footnote(rows, shelf))
    config, loss = st.columns([1, 1.15], gap="large")
    with config:
        st.html(cards.section("Config", "what differs"))
        differing, equal = cards.differing(card, other)
        st.html(differing)
        with st.expander(f"{len(equal)} other settings are equal"):
            st.html(cards.facts([(name, str(setting)) for name, setting in equal.items()]))
    with loss:
        losses(card, other)
with right.container(key="aside"):
    st.html(cards.head(card) + cards.measured(card))
    if check_all:
        for one in shelf:
            verified(one, True)
    verified(card, st.button("Verify", width=96, help="Digest, shapes, and the recorded example once more."))
    st.html(cards.sources(card) + cards.contents(card))
    with st.container(horizontal=True):
        st.page_link("pages/cube.py", label="Open as cube", query_params={"checkpoint": card.name})
        st.page_link("pages/side_by_side.py", label="Side by side")
        with st.popover("Whole card"):
            st.markdown(records.readme(card) or "This checkpoint has no README.md.")
