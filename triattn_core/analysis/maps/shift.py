"""How far all of a model's attention moves between two traces of the same queries and keys, as one number."""

from __future__ import annotations

import numpy as np
import xarray as xr

from triattn_core.analysis.maps.compare import AXES, jensen_shannon
from triattn_core.analysis.maps.joint_keys import with_context_key
from triattn_core.trace import AttentionTrace


def attention_shift(before: AttentionTrace, after: AttentionTrace) -> float:
    """Bits from 0 to 1: the Jensen-Shannon divergence of the weights of each query token and head before and after,
    summed over context (Bi-joint's context is one key), the mean over all layers and both directions.

    As `leave_one_out` gives it for each unit.  Raises TraceError where queries or keys are not the same.
    """
    bits = [
        jensen_shannon(*(_rows(trace.site(site)) for trace in (before, after)))
        for site in before.sites
        if site.endswith("/weight")
    ]
    return float(np.nanmean(np.concatenate(bits)))


def _rows(weights: xr.DataArray) -> xr.DataArray:
    """[head and query, key] of weights, with or without context."""
    weights = with_context_key(weights)
    weights = weights.sum("context") if "context" in weights.dims else weights
    values = weights.transpose(..., "query", "key").values
    return xr.DataArray(values.reshape(-1, values.shape[-1]), dims=AXES)
