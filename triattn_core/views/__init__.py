"""Views: functions of a trace and a choice that return a figure.  They draw; they do not show, save or cache.

Those of the table are offered below the cube, wherever the chosen array has their axes.  All others are called by the
scenes and pages that they are made for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from triattn_core.trace import AttentionTrace, Choice
from triattn_core.views.points import figure as points

if TYPE_CHECKING:
    import altair as alt
    import plotly.graph_objects as go


@runtime_checkable
class TraceView(Protocol):
    """A module that draws a chosen array of a trace.

    TITLE: what it is called on a page.  NEEDS: the axes that the array must have.
    """

    TITLE: str

    @property
    def NEEDS(self) -> tuple[str, ...]: ...

    def figure(
        self, trace: AttentionTrace, choice: Choice, *, hide_special: bool = False, theme: str = "light"
    ) -> alt.TopLevelMixin | go.Figure:
        """The figure.  Raises TraceError where an axis is missing."""

    def describe(self, trace: AttentionTrace, choice: Choice, *, hide_special: bool = False) -> str:
        """A sentence that says the figure in words, with its numbers."""


TRACE_VIEWS: Mapping[str, TraceView] = {"points": points}


def views_of_axes(axes: Iterable[Hashable]) -> dict[str, TraceView]:
    """The views of the table whose axes are there."""
    return {name: view for name, view in TRACE_VIEWS.items() if set(view.NEEDS) <= set(axes)}
