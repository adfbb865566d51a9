"""The tensor of one head in the cube explorer: query × key × feature, features of a cluster side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from triattn_core.trace.distribution import Distribution
from triattn_core.views import cube
from triattn_core.views.lib.canvas import Canvas

NEEDS = ("query", "key", "feature")


def figure(
    shown: Distribution,
    order: Sequence[int],
    assignments: Sequence[int],
    exact: bool = True,
    start_cell: Sequence[int] | None = None,
) -> Canvas:
    """The explorer of a tensor as `analysis.maps.mtsa_tensor` makes it.

    shown: its weight or relevance.  order: positions of the features as they stand.  assignments: the cluster of each,
    from 0.  exact, start_cell: see `cube.figure`.  Raises TraceError where the site is no tensor.
    """
    trace, choice = shown.trace, shown.choice
    site = trace.site(choice.site)
    named = site.assign_coords(feature_segment=("feature", [f"cluster {i + 1}" for i in assignments]))
    named_trace = replace(trace, sites={**trace.sites, choice.site: named})
    return cube.figure(Distribution(named_trace, choice), exact=exact, start_cell=start_cell, order={"feature": order})
