"""The sites of a trace that hold two-way weights, or can be summed to such."""

from __future__ import annotations

import re

import numpy as np
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.trace.trace import AttentionTrace


def two_way_sites(trace: AttentionTrace) -> list[str]:
    """The sites of weights over query and key, with or without a context.  Raises TraceError where there is none."""
    found = [
        name
        for name, one in trace.sites.items()
        if one.attrs["quantity"] == "weight" and {"query", "key"} <= set(one.dims) and "feature" not in one.dims
    ]
    if not found:
        raise TraceError("no weights over query and key in this trace")
    return found


def two_way_weights(trace: AttentionTrace, site: str) -> xr.DataArray:
    """Weights [head, query, key] of a site, summed over context where there is one; without heads there is one."""
    weights = trace.site(site)
    if "context" in weights.dims:
        weights = weights.sum("context", keep_attrs=True)
    if "head" not in weights.dims:
        weights = weights.expand_dims("head")
    return weights.transpose("head", "query", "key")


def layer_of(site: str) -> int:
    """The layer of a site from 0; 0 where it has none."""
    found = re.search(r"layer\.(\d+)/", site)
    return int(found[1]) if found else 0


def same_tokens(weights: xr.DataArray) -> bool:
    """Whether queries and keys are the same tokens: texts that attend to themselves."""
    if weights.sizes["query"] != weights.sizes["key"]:
        return False
    names = ("token", "text", "start")
    if any(f"{axis}_{name}" not in weights.coords for axis in ("query", "key") for name in names):
        return False
    return all(np.array_equal(weights[f"query_{name}"].values, weights[f"key_{name}"].values) for name in names)
