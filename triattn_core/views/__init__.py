"""Views: functions of a trace and a choice that return a figure.  They draw; they do not show, save or cache.

Those of the table are offered below the cube, wherever the chosen array has their axes, or can be reduced to them.  All
others are called by the scenes and pages that they are made for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from triattn_core.trace import reduce
from triattn_core.trace.axes import QUANTITIES
from triattn_core.trace.distribution import Distribution
from triattn_core.views.points import figure as points

if TYPE_CHECKING:
    import altair as alt
    import plotly.graph_objects as go


@runtime_checkable
class TraceView(Protocol):
    """A module that draws a chosen array of a trace.

    TITLE: what it is called on a page.  NEEDS: the axes of the array that it draws,
    all of them and no other.  QUANTITIES, which it may leave out: those of `axes.QUANTITIES` that it draws; without
    it, all.
    """

    TITLE: str

    @property
    def NEEDS(self) -> tuple[str, ...]: ...

    def figure(
        self, shown: Distribution, *, hide_special: bool = False, theme: str = "light"
    ) -> alt.TopLevelMixin | go.Figure:
        """The figure.  Raises TraceError where an axis of NEEDS is missing."""

    def describe(self, shown: Distribution, *, hide_special: bool = False) -> str:
        """A sentence that says the figure in words, with its numbers."""


TRACE_VIEWS: Mapping[str, TraceView] = {"points": points}


JOINS = {"weight": "sum", "relevance": "logsumexp"}  # of an axis, by quantity: see `trace.reduce`


def quantities(view: TraceView) -> Collection[str]:
    """The quantities that a view draws."""
    return getattr(view, "QUANTITIES", QUANTITIES)


def fitting_views(shown: Distribution) -> dict[str, TraceView]:
    """The views of the table that can draw a choice: its quantity is one of theirs, and its axes are their NEEDS, or
    `reduce_to` leaves these.

    An axis more is reduced only where the weights of a query sum to one over it: their sum is then again a share of the
    query's attention.  Heads and features are not reduced: each has distributions of its own.
    """
    array = shown.array
    axes = set(array.dims)
    reducible = set(shown.axes) if shown.choice.site.quantity in JOINS else set()
    return {
        name: view
        for name, view in TRACE_VIEWS.items()
        if array.attrs["quantity"] in quantities(view) and set(view.NEEDS) <= axes <= {*view.NEEDS, *reducible}
    }


def reduce_to(shown: Distribution, needs: tuple[str, ...]) -> Distribution:
    """The same choice of an array with no axis but `needs`: weights are summed over the others, relevances joined
    by log-sum-exp, in each head on its own.  The site's other quantity is reduced with it.  Raises TraceError where a
    quantity is neither."""
    extra = [str(axis) for axis in shown.array.dims if axis not in needs]
    sites = dict(shown.trace.sites)
    for quantity, join in JOINS.items():
        site = shown.choice.site.with_quantity(quantity)
        for axis in extra if site in sites else ():
            sites[site] = reduce(sites[site], axis, join)
    return Distribution(replace(shown.trace, sites=sites), shown.choice) if extra else shown
