"""Whether context matters in a cube from any source: ANOVA of its relevance, or of the logarithm of its weights.

The logarithm of a weight equals its relevance up to a constant per query, which cancels in the softmax, so that the
shares of visible variance are the same (`anova`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.analysis.maps import anova
from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import without_axes
from triattn_core.trace.site import Site
from triattn_core.trace.sites import layer_by_layer

MOST_CELLS = 1 << 21  # of a head's cube
MOST_UNEVEN = 1 << 17  # the same if single cells are masked: least squares need many rounds


def cube_sites(trace: AttentionTrace) -> list[Site]:
    """The sites with weights over query, key and context, without their quantity, layer by layer."""
    cubes = [site for site, array in trace.sites.items() if set(anova.AXES) <= set(array.dims)]
    return layer_by_layer(site.attention for site in cubes if site.quantity == "weight")


def relevance_of(trace: AttentionTrace, site: Site) -> xr.DataArray:
    """[head, query, key, context]: the relevance of a site, or else the logarithm of its weights (−inf for 0)."""
    scores = trace.sites.get(site.with_quantity("relevance"))
    if scores is None:
        weights = _as_cube(trace.site(site.with_quantity("weight")))
        with np.errstate(divide="ignore"):
            scores = weights.copy(data=np.log(weights.values.astype(np.float64))).assign_attrs(quantity="relevance")
    return _as_cube(scores, trace.sum_axes(site))


def _as_cube(array: xr.DataArray, sum_axes: Sequence[str] = ()) -> xr.DataArray:
    """[head, query, key, context]; axes of a higher order are joined."""
    array = without_axes(array, sum_axes, keep=("context",))
    array = array if "head" in array.dims else array.expand_dims("head")
    return array.transpose("head", *anova.AXES)


def context_table(trace: AttentionTrace) -> pd.DataFrame:
    """`anova.share_table` of a trace: one row per site and head.  Raises TraceError if there is no cube, or one is too
    large to decompose."""
    if not (sites := cube_sites(trace)):
        raise TraceError("no weights over query, key and context in this trace")
    parts = []
    for site in sites:
        relevance, weights = relevance_of(trace, site), _as_cube(trace.site(site.with_quantity("weight")))
        keep = anova.kept_cells(relevance, weights)
        _check_size(relevance.values, keep)
        parts.append(anova.site_shares(site, relevance.values, weights.values, keep, trace.sum_axes(site)))
    return pd.concat(parts, ignore_index=True)


def _check_size(cubes: np.ndarray, keep: np.ndarray) -> None:
    cells = int(np.prod(cubes.shape[1:]))
    uneven = bool((~np.isfinite(cubes) & keep).any())
    if cells > (MOST_UNEVEN if uneven else MOST_CELLS):
        reason = "with single weights of 0 " if uneven else ""
        raise TraceError(
            f"a cube of {cells:,} cells {reason}is too large to be taken apart here: crop it to fewer tokens"
        )
