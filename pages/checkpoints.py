"""Checkpoints: the shelf, what each reached, how two differ, and what the start weights had read."""

from __future__ import annotations

import streamlit as st

from pages.common import cards, compared, flips, models, shelf, style
from pages.common.errors import plain, shown
from triattn_core import records


def verified(card, asked) -> None:
    """Verifies the cards asked for, and shows what was found for them, or for the chosen card before."""
    results = st.session_state.setdefault("verified", {})
    for one in asked:
        with shown(stop=False), st.spinner(f"Verifying {one.name}"):
            results[one.name, one.digest] = models.verify(one)
    for one in asked or [card]:
        if (one.name, one.digest) in results:
            st.html(cards.checks(one.name, *results[one.name, one.digest]))


def aside(card, cards_here) -> None:
    """All about one card."""
    st.html(cards.head(card) + cards.measured(card))
    with st.container(horizontal=True):
        this = st.button("Verify", width=96, help="Its digest, its shapes, and its recorded example once more.")
        every = st.button("Verify all", width=96)
    verified(card, cards_here if every else [card] if this else [])
    st.html(cards.contents(card))
    with st.container(horizontal=True, vertical_alignment="center"):
        if records.model(card, "mechanism") == "tri":
            st.page_link("pages/cube.py", label="Open as cube", query_params={"checkpoint": card.name})
        if records.model(card, "mechanism") == "mtsa":
            st.page_link("pages/mtsa.py", label="Open in MTSA", query_params={"checkpoint": card.name})
        elif card.config.get("kind") == "coin":
            st.page_link("pages/coin.py", label="Open in COIN", query_params={"checkpoint": card.name})
        elif card.config.get("kind") == "tan":
            beside = {compared.KEY: compared.beside(card)}
            st.page_link("pages/side_by_side.py", label="Side by side", query_params=beside)
        with st.popover("Whole card"):
            st.markdown(records.readme(card) or "This checkpoint has no README.md.")


style.heading(
    "Checkpoints", "The shelf: every trained model here, what it reached, and what its start weights had read."
)
for broken in models.broken():
    st.error(plain(broken.problem or ""))
sound = [card for group in records.groups(models.shelf()).values() for card in group]
if not sound:
    st.info("There is no checkpoint to show yet: train one with the command triattn train.")
    st.stop()
left, right = st.container(key="main").columns([2.7, 1], gap="medium")
with left:
    card, other, rows = shelf.pickers(sound)
    shelf.tables(rows, card)
    st.html(cards.footnote(rows, sound))
    config, loss = st.columns([1, 1.15], gap="large")
    with config:
        st.html(cards.section("Config", "what differs"))
        differing, equal = cards.differing(card, other)
        st.html(differing)
        with st.expander(f"{len(equal)} other settings are equal"):
            st.html(cards.facts([(name, str(setting)) for name, setting in equal.items()]))
    with loss:
        flips.losses([card, other])
    st.html(cards.sources(card))
with right.container(key="aside"):
    aside(card, sound)
