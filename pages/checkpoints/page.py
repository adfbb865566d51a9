"""Checkpoints: the shelf, what each reached, how two differ, and their pre-training data."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.checkpoints import registry_table
from pages.shared import (
    attention_worth,
    checkpoint_differences,
    checkpoint_html,
    checkpoint_picker,
    deep_links,
    disagreements,
    models,
    natural_text,
    style,
)
from pages.shared.errors import plain, report_errors
from triattn_core.checkpoint import metadata, provenance


def verify_and_show(card, asked) -> None:
    """Verifies the cards asked for, and shows what was found for them, or for the chosen card before."""
    results = st.session_state.setdefault("verified", {})
    for checked in asked:
        with report_errors(stop=False), st.spinner(f"Verifying {checked.name}"):
            results[checked.name, checked.digest] = models.verify(checked)
    for checked in asked or [card]:
        if (checked.name, checked.digest) in results:
            st.html(checkpoint_html.checks(checked.name, *results[checked.name, checked.digest]))


def show_detail(card, cards_here) -> None:
    """All about one card."""
    st.html(checkpoint_html.head(card) + checkpoint_html.metrics_html(card) + attention_worth.facts(card))
    with st.container(horizontal=True):
        this = st.button("Verify", width=96, help="Its digest, its shapes, and its recorded example once more.")
        every = st.button("Verify all", width=96)
    verify_and_show(card, cards_here if every else [card] if this else [])
    st.html(checkpoint_html.contents(card))
    with st.container(horizontal=True, vertical_alignment="center"):
        if metadata.model_setting(card, "mechanism") == "tri":
            st.page_link("pages/cube/page.py", label=deep_links.PAGES["cube"], query_params={"checkpoint": card.name})
        if metadata.model_setting(card, "mechanism") == "mtsa":
            st.page_link("pages/mtsa/page.py", label=deep_links.PAGES["mtsa"], query_params={"checkpoint": card.name})
        elif card.config.get("kind") == "coin":
            st.page_link("pages/coin/page.py", label=deep_links.PAGES["coin"], query_params={"checkpoint": card.name})
        elif card.config.get("kind") == "tan":
            beside = {checkpoint_picker.KEY: checkpoint_picker.preset_of(card)}
            st.page_link("pages/side_by_side/page.py", label="Side by side", query_params=beside)
        with st.popover("Model card"):
            st.markdown(provenance.model_card(card) or "This checkpoint has no README.md.")


style.heading("Checkpoints", "Trained checkpoints, their scores, and what their pre-training data contained.")
for broken in models.broken():
    st.error(plain(broken.problem or ""))
sound = [card for group in metadata.comparable_groups(models.shelf()).values() for card in group]
if not sound:
    st.info("There is no checkpoint to show yet: train one with the command triattn train.")
    st.stop()
left, right = st.container(key="main").columns([2.7, 1], gap="medium")
with left:
    card, other, rows = registry_table.pickers(sound)
    st.html(attention_worth.legend(rows) + f'<p class="t-note">{escape(natural_text.sentence(models.shelf()))}</p>')
    registry_table.tables(rows, card)
    st.html(checkpoint_html.footnote(rows, sound))
    config, loss = st.columns([1, 1.15], gap="large")
    with config:
        checkpoint_differences.show([card, other], "Config")
    with loss:
        preset = checkpoint_picker.preset_of(card)
        compared = [card, other, *(row for row in sound if row.name in preset)]
        disagreements.losses(list({row.name: row for row in compared}.values()))
    st.html(checkpoint_html.sources(card))
with right.container(key="aside"):
    show_detail(card, sound)
