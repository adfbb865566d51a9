"""Sites of a trace that hold two-way weights, or three-way weights to be summed over context."""

from __future__ import annotations

import re

import numpy as np
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.trace.trace import AttentionTrace


def two_way_sites(trace: AttentionTrace) -> list[str]:
    """Names of the sites with weights over query and key, with or without context.  Raises TraceError if none has."""
    names = [
        name
        for name, array in trace.sites.items()
        if array.attrs["quantity"] == "weight" and {"query", "key"} <= set(array.dims) and "feature" not in array.dims
    ]
    if not names:
        raise TraceError("no weights over query and key in this trace")
    return names


def two_way_weights(trace: AttentionTrace, site: str) -> xr.DataArray:
    """Weights [head, query, key] of a site, summed over any context; a site without heads gets one."""
    weights = trace.site(site)
    if "context" in weights.dims:
        weights = weights.sum("context", keep_attrs=True)
    if "head" not in weights.dims:
        weights = weights.expand_dims("head")
    return weights.transpose("head", "query", "key")


def layer_of(site: str) -> int:
    """The layer number of a site, from 0; also 0 if the name has no layer."""
    match = re.search(r"layer\.(\d+)/", site)
    return int(match[1]) if match else 0


def same_tokens(weights: xr.DataArray) -> bool:
    """Whether queries and keys are the same tokens, as in self-attention."""
    if weights.sizes["query"] != weights.sizes["key"]:
        return False
    names = ("token", "text", "start")
    if any(f"{axis}_{name}" not in weights.coords for axis in ("query", "key") for name in names):
        return False
    return all(np.array_equal(weights[f"query_{name}"].values, weights[f"key_{name}"].values) for name in names)
