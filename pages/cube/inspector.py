"""The cube with the exact numbers of its chosen cell, and the command that prints them."""

from __future__ import annotations

import streamlit as st

from pages.shared import cell_command, numbers
from pages.shared.page_scene import PageScene
from triattn_core.trace import Choice
from triattn_core.views.cube import NEEDS
from triattn_core.views.lib import cell


@st.fragment
def explore(page: PageScene, choice: Choice) -> None:
    """Figure, inspector and lists: a click runs this alone."""
    trace, settings, canvas = page.scene.trace, page.scene.settings, page.scene.screen
    at = dict(zip(NEEDS, page.choose()))
    page.answer(stamp=canvas.payload["stamp"], numbers=cell.read(trace, choice, at))
    place = cell_command.cell(trace, choice.site, dict([*choice.index, *choice.reduce, *at.items()]), settings.option)
    cell_command.command(page.entries[0].name, page.row, place)
    numbers.below(trace, choice, settings.hide, at["query"], canvas.payload["cells"])
