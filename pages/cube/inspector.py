"""A cube, of a checkpoint or of a file: the three slices, the exact numbers of the chosen cell, and all its heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

import streamlit as st

from pages.shared import canvas_component, head_strip, numbers
from pages.shared.page_scene import ShownScene
from triattn_core.trace import AttentionTrace
from triattn_core.views.cube import axes_of, stamp
from triattn_core.views.lib import cell

COST = (
    "Cost if removed: the log-odds of the answer, less those with this one weight at zero and the rest of its query "
    "scaled up; above zero it speaks for the answer"
)
Costs = Callable[[Sequence[int]], Mapping[tuple[int, ...], float]]


def show(page: ShownScene, heads: AttentionTrace, source: str, costs: Costs | None = None) -> None:
    """Shows the cube, and below it the strip of heads.

    heads: a site for each row of the strip; source: identifies them.  costs: of the chosen cell what the answer loses
    without it, and without each of the strongest, where a model can say so.
    """
    settings = page.scene.settings
    explore(page, costs)
    head_strip.show(heads, source, (head_strip.row_of(heads, settings.site), settings.head and settings.head - 1))


@st.fragment
def explore(page: ShownScene, costs: Costs | None = None) -> None:
    """Figure, inspector and lists: a click runs this alone."""
    shown, settings, sizes = page.scene.shown, page.scene.settings, map(len, page.scene.axes)
    assert shown is not None  # `build` fills it
    position = dict(zip(axes_of(shown.array), page.choose(costed=COST if costs is not None else "")))
    page.answer(stamp=stamp(shown, settings.hide), numbers=cell.numbers_of(shown, position))
    page.show_command(shown.choice, position)
    numbers.below(shown, settings.hide, position["query"], prod(sizes))
    if costs is not None:  # last, for it may load the model: all else is there
        canvas_component.send_costs(page.key, stamp(shown, settings.hide), costs(list(position.values())))
