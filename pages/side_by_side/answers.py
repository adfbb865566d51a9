"""What the models say, above the figures of Side by side."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import checkpoint_picker, option_panel, token_grouping
from pages.shared.errors import notice
from pages.side_by_side import edited_input
from pages.side_by_side.pickers import INPUTS, OPTIONS
from triattn_core.scenes.side_by_side import Settings
from triattn_core.scenes.side_by_side_panels import Comparison


def show(comparison: Comparison, compare: str, example: Any, pairs: bool) -> None:
    """Shows the options of a task that chooses among texts, and the effect of an edit.  pairs: a sentence-pair task."""
    first = comparison.explanations[0]
    if compare == OPTIONS:
        second = comparison.explanations[1].prediction.option
        option_panel.show_options(example, {"": first}, comparison.choice, second, pins=True)
    elif not pairs:
        first_only = {"": first}
        titles = checkpoint_picker.short_names([explanation.entry for explanation in comparison.explanations])
        by_title = first_only if compare == INPUTS else dict(zip(titles, comparison.explanations))
        option_panel.show_options(example, by_title, comparison.choice)
    if compare == INPUTS:
        edited_input.show_effect(comparison)


def show_notes(comparison: Comparison, settings: Settings) -> None:
    """What the user should know of the maps, and phrases that no text has."""
    for note in comparison.notes:
        notice(note)
    token_grouping.missing(comparison.texts, settings.grouping())


def show_models(comparison: Comparison, notes: bool) -> DeltaGenerator:
    """What each model says, with its notes where they are shown; returns the place beside it for what is saved."""
    with st.container(horizontal=True, vertical_alignment="center"):
        checkpoint_picker.show_predictions(comparison, notes=notes)
        return st.container(horizontal=True, width="content", key="tail")
