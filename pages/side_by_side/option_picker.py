"""Two candidates or options of one example under one checkpoint: which checkpoint, and how it is shown."""

from __future__ import annotations

import streamlit as st

from pages.shared import languages, models, url_state
from pages.shared.task_picker import TaskLabels
from triattn_core.checkpoint.registry import Entry
from triattn_core.trace import Choice

# The turn asks under both: the other way round the queries would be two different texts.
DIRECTION = "a_over_b"


def settings(task: str, words: TaskLabels) -> tuple[Entry, Choice, str]:
    """Shows the pickers; returns the checkpoint, the layer, head and quantity, and the unit of the context.

    Tokens are not offered: with another option long texts are truncated to other tokens.
    """
    _, entries = languages.single(models.entries(task, ("tri",)), "checkpoint", prefer="en")
    if not entries:
        st.info("Options are compared by their context, and no Tri-Attention checkpoint is here yet.")
        st.stop()
    entry = url_state.pick("Checkpoint", entries, "checkpoint", show=lambda entry: entry.name, width=190)
    model = entry.config["model"]
    choice = url_state.site(DIRECTION, int(model.get("layers", 2)), int(model.get("heads", 12)))
    units = [unit for unit in words.units if unit != "tokens"]
    return entry, choice, url_state.pick("Context as", units, "context", width=108)
