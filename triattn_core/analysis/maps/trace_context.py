"""Does context matter, of a cube of any origin: the parts of its relevance, or of the logarithm of its weights.

The logarithm of a weight is its relevance but for a number of its query, which the softmax does not see: shares of what
softmax sees are the same (`anova`).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.analysis.maps import anova
from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace
from triattn_core.trace.sites import layer_of

MOST_CELLS = 1 << 21  # of a head's cube
MOST_UNEVEN = 1 << 17  # the same where single cells are masked: least squares take many rounds


def cube_sites(trace: AttentionTrace) -> list[str]:
    """The sites with weights over query, key and context, without their quantity."""
    fits = [name for name, one in trace.sites.items() if {"query", "key", "context"} <= set(one.dims)]
    return sorted(
        {name.rsplit("/", 1)[0] for name in fits if name.endswith("/weight")}, key=lambda name: layer_of(name + "/")
    )


def relevance_of(trace: AttentionTrace, site: str) -> xr.DataArray:
    """[head, query, key, context]: the relevance of a site, else the logarithm of its weights, −inf where one is 0."""
    scores = trace.sites.get(f"{site}/relevance")
    if scores is None:
        weights = trace.site(f"{site}/weight")
        with np.errstate(divide="ignore"):
            scores = weights.copy(data=np.log(weights.values.astype(np.float64))).assign_attrs(quantity="relevance")
    scores = scores if "head" in scores.dims else scores.expand_dims("head")
    return scores.transpose("head", *anova.AXES)


def context_table(trace: AttentionTrace) -> pd.DataFrame:
    """`anova.share_table` of a trace: a row for each site and head.  Raises TraceError where there is no cube, or one
    too large to be taken apart."""
    if not (sites := cube_sites(trace)):
        raise TraceError("no weights over query, key and context in this trace")
    parts = []
    for site in sites:
        relevance, weights = relevance_of(trace, site), trace.site(f"{site}/weight")
        weights = (weights if "head" in weights.dims else weights.expand_dims("head")).transpose("head", *anova.AXES)
        keep = anova.kept_cells(relevance, weights)
        _check_size(relevance.values, keep)
        parts.append(anova.site_shares(site, relevance.values, weights.values, keep))
    return pd.concat(parts, ignore_index=True)


def residual_of(trace: AttentionTrace, site: str, head: int) -> tuple[xr.DataArray, np.ndarray]:
    """The three-way part [query, key, context] of one head, and the bits of each query [query]."""
    weights = trace.site(f"{site}/weight")
    weights = (weights if "head" in weights.dims else weights.expand_dims("head")).isel(head=[head])
    relevance = relevance_of(trace, site).isel(head=[head])
    _check_size(relevance.values, anova.kept_cells(relevance, weights))
    part = anova.three_way_residual(relevance, weights).isel(head=0)
    return part, anova.mutual_information(weights.transpose(..., *anova.AXES).values[0])


def _check_size(cubes: np.ndarray, keep: np.ndarray) -> None:
    cells = int(np.prod(cubes.shape[1:]))
    uneven = bool((~np.isfinite(cubes) & keep).any())
    if cells > (MOST_UNEVEN if uneven else MOST_CELLS):
        why = "with single weights of 0 " if uneven else ""
        raise TraceError(f"a cube of {cells:,} cells {why}is too large to be taken apart here: crop it to fewer tokens")
