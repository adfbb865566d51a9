"""Measures of each head of a trace, in bits and tokens, and attention rollout.

For weights W [query, key] of a head (cubes summed over context), without empty rows; no number where all are empty:

    entropy              mean_n H(W[n])                         0 is one key, log2 of the keys is even
    distance             mean_n sum_i W[n,i] |n - i|            in tokens, where queries and keys are the same tokens
    sink                 max_i mean_n W[n,i]                    the mean weight of the key that gets most
    special              mean_n sum over special i of W[n,i]    the share of [CLS], [SEP] and their like
    query information, context information                      see `trace.information`; the second of cubes

Rows are divided by their sums.  Special tokens are queries and keys like others.

Rollout (Abnar and Zuidema 2020, Eq. 1): R = A_L ... A_1 with A_l = (W_l + I) / 2, W_l the mean of the heads.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import with_attrs, without_axes
from triattn_core.trace.axes import CUBE
from triattn_core.trace.information import context_information, query_information, row_mean, row_shares
from triattn_core.trace.sites import (
    drawn_sites,
    is_signed,
    layer_by_layer,
    layer_numbers,
    same_tokens,
    two_way_sites,
    two_way_weights,
)

MEASURES = ("entropy", "distance", "sink", "special", "query_information", "context_information")


def head_table(trace: AttentionTrace) -> pd.DataFrame:
    """One row per site of weights and head: `site`, `layer` and `head` from 0, and MEASURES, NaN if not defined.
    Raises TraceError if the trace has no weights over query and key."""
    parts = []
    for site, layer in layer_numbers(two_way_sites(trace)).items():
        weights = two_way_weights(trace, site)
        heads = pd.DataFrame({"site": str(site), "layer": layer, "head": np.arange(weights.sizes["head"])})
        for name, values in _measures(weights).items():
            heads[name] = values
        heads["context_information"] = _context_information(trace.site(site))
        parts.append(heads)
    return pd.concat(parts, ignore_index=True)


def _measures(weights: xr.DataArray) -> dict[str, np.ndarray | float]:
    """Measures [head] of weights [head, query, key]."""
    shares, filled = row_shares(weights.values)
    special = weights["key_special"].values > 0 if "key_special" in weights.coords else np.zeros(shares.shape[2], bool)
    measures: dict[str, np.ndarray | float] = {
        "entropy": row_mean(-_plogp(shares).sum(-1), filled),
        "distance": np.nan,
        "sink": (shares.sum(1) / np.maximum(filled.sum(-1), 1)[:, None]).max(-1),
        "special": row_mean(shares[..., special].sum(-1), filled) if special.any() else np.nan,
        "query_information": query_information(weights.values),
    }
    if same_tokens(weights):
        positions = np.arange(shares.shape[1])
        measures["distance"] = row_mean((shares * np.abs(positions[:, None] - positions[None])).sum(-1), filled)
    return {name: np.where(filled.any(-1), values, np.nan) for name, values in measures.items()}


def _plogp(shares: np.ndarray) -> np.ndarray:
    return shares * np.log2(shares, out=np.zeros_like(shares), where=shares > 0)


def _context_information(site: xr.DataArray) -> np.ndarray | float:
    if not set(CUBE) <= set(site.dims):
        return np.nan
    site = without_axes(site, keep=CUBE)
    cube = site if "head" in site.dims else site.expand_dims("head")
    weights = cube.transpose("head", *CUBE).values
    return np.where((weights > 0).any((1, 2, 3)), context_information(weights), np.nan)


def rollout(trace: AttentionTrace) -> xr.DataArray:
    """Rollout [query, key] through all layers of a trace whose queries and keys are the same tokens.

    Rows sum to one if those of the weights do.  Raises TraceError if there are no such layers, or what
    a layer uses is a signed map.
    """
    if any(map(is_signed, drawn_sites(trace))):
        raise TraceError("rollout multiplies weights: what this model uses are signed maps")
    sites = layer_by_layer(two_way_sites(trace))
    if any(site.layer is None for site in sites):
        raise TraceError("rollout goes through layers: this trace has none")
    product = None
    for site in sites:
        weights = two_way_weights(trace, site)
        if not same_tokens(weights):
            raise TraceError("rollout needs queries and keys that are the same tokens")
        mean = weights.values.astype(np.float64).mean(0)
        step = (mean + np.eye(len(mean))) / 2
        product = step if product is None else step @ product
    template = two_way_weights(trace, sites[0]).isel(head=0)
    return with_attrs(template.copy(data=product), quantity="weight", sums_over="key")
