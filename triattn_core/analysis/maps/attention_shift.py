"""How far a model's attention moves between two traces of the same queries and keys, as one number."""

from __future__ import annotations

import numpy as np
import xarray as xr

from triattn_core.analysis.maps.compare import AXES, jensen_shannon
from triattn_core.analysis.maps.joint_keys import with_context_key
from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import without_axes


def attention_shift(before: AttentionTrace, after: AttentionTrace) -> float:
    """The mean Jensen-Shannon divergence, 0 to 1 bit, between the weights before and after, over all query tokens,
    heads, layers and both directions; weights are summed over context, or averaged where each has its own
    (Bi-joint's context is one key).

    The same measure as in `leave_one_out`.  Raises TraceError if queries or keys differ.
    """
    bits = [
        jensen_shannon(*(_rows(trace.site(site)) for trace in (before, after)))
        for site in before.sites
        if site.quantity == "weight"
    ]
    return float(np.nanmean(np.concatenate(bits)))


def _rows(weights: xr.DataArray) -> xr.DataArray:
    """[head and query, key] of weights, with or without context."""
    weights = without_axes(with_context_key(weights))
    values = weights.transpose(..., "query", "key").values
    return xr.DataArray(values.reshape(-1, values.shape[-1]), dims=AXES)
