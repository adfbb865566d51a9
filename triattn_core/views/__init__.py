"""Views: functions of a trace and a choice that return a figure.  They draw; they do not show, save or cache.

Each module has NEEDS, the axes that it wants, and `figure(trace, choice, *, hide_special, theme)`; those with a TITLE
beside the cube are offered below it, wherever the chosen array has their axes.  Views that compare several traces
(`side_by_side`) or draw records (`history`) are called by their pages.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from types import ModuleType

from triattn_core.views import cube, points

VIEWS: dict[str, ModuleType] = {
    "cube": cube,
    "points": points,
}


def beside(view: ModuleType, axes: Iterable[Hashable]) -> dict[str, ModuleType]:
    """The other views of the table whose axes are there."""
    return {name: one for name, one in VIEWS.items() if one is not view and set(one.NEEDS) <= set(axes)}
