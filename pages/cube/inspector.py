"""A cube, of a checkpoint or of a file: all its heads, the three slices, and the exact numbers of the chosen cell."""

from __future__ import annotations

from math import prod

import streamlit as st

from pages.shared import head_strip, numbers
from pages.shared.page_scene import ShownScene
from triattn_core.trace import AttentionTrace
from triattn_core.views.cube import axes_of, stamp
from triattn_core.views.lib import cell


def show(page: ShownScene, heads: AttentionTrace, source: str) -> None:
    """Shows the strip of heads and the cube.  heads: a site for each row of the strip; source: identifies them."""
    settings = page.scene.settings
    head_strip.show(heads, source, (head_strip.row_of(heads, settings.site), settings.head and settings.head - 1))
    explore(page)


@st.fragment
def explore(page: ShownScene) -> None:
    """Figure, inspector and lists: a click runs this alone."""
    shown, settings, sizes = page.scene.shown, page.scene.settings, map(len, page.scene.axes)
    assert shown is not None  # `build` fills it
    position = dict(zip(axes_of(shown.array), page.choose()))
    page.answer(stamp=stamp(shown, settings.hide), numbers=cell.read(shown, position))
    page.show_command(shown.choice, position)
    numbers.below(shown, settings.hide, position["query"], prod(sizes))
