"""Checkpoints: all of them, what each reached, how two differ, and their pre-training data."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.checkpoints import detail, registry_table, score_dots
from pages.shared import (
    attention_worth,
    checkpoint_differences,
    checkpoint_html,
    checkpoint_picker,
    disagreements,
    models,
    natural_text,
    style,
)
from pages.shared.errors import escape_markdown
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import list_checkpoints

style.heading("Checkpoints", "What each trained model reaches, and what it has read.")
for problem in filter(None, (entry.problem for entry in list_checkpoints())):
    st.error(escape_markdown(problem))
sound = [entry for group in metadata.comparable_groups(models.entries()).values() for entry in group]
if not sound:
    st.info("There is no checkpoint to show yet: train one with the command triattn train.")
    st.stop()
left, right = st.container(key="main").columns([2.7, 1], gap="medium")
with left:
    entry, other, rows = registry_table.pickers(sound)
    if found := natural_text.summary(models.entries()):
        st.html(f'<p class="t-lead"><b>{escape(found.lead)}</b> The numbers are on Studies.</p>')
    score_dots.show(rows, entry)
    registry_table.tables(rows, entry)
    st.html(attention_worth.legend(rows))
    st.html(checkpoint_html.footnote(rows, sound))
    config, loss = st.container(key="main-training").columns([1, 1.15], gap="large")
    with config:
        checkpoint_differences.show([entry, other], "Config")
    with loss:
        preset = checkpoint_picker.preset_of(entry)
        compared = [entry, other, *(row for row in sound if row.name in preset)]
        disagreements.losses(list({row.name: row for row in compared}.values()))
    st.html(checkpoint_html.sources(entry))
with right.container(key="aside"):
    detail.show(entry, sound)
