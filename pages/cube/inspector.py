"""The cube with the exact numbers of its chosen cell, and the command that prints them."""

from __future__ import annotations

from math import prod

import streamlit as st

from pages.shared import cell_command, numbers
from pages.shared.page_scene import PageScene
from triattn_core.trace import Choice
from triattn_core.views.cube import NEEDS, stamp
from triattn_core.views.lib import cell


@st.fragment
def explore(page: PageScene, choice: Choice) -> None:
    """Figure, inspector and lists: a click runs this alone."""
    trace, settings, sizes = page.scene.trace, page.scene.settings, map(len, page.scene.axes)
    position = dict(zip(NEEDS, page.choose()))
    page.answer(stamp=stamp(trace, choice, settings.hide), numbers=cell.read(trace, choice, position))
    place = cell_command.cell(
        trace, choice.site, dict([*choice.index, *choice.reduce, *position.items()]), settings.option
    )
    cell_command.command(page.entries[0].name, page.row, place)
    numbers.below(trace, choice, settings.hide, position["query"], prod(sizes))
