"""Comparison of mechanisms on one pair of sentences: two-way maps of query × key and measures on their rows.

Two-way maps of a three-way site, per head:

    weight      W[n,i] = sum_j A[n,i,j]                the weights sum to one over key × context together,
                                                       so the sum over context is a distribution over keys
    relevance   R[n,i] = log sum_j exp S[n,i,j]        the softmax of R over i is W

Where they sum to one over keys alone, for each context (triangle attention), W is their mean over context, and R the
logarithm of the mean of the softmax over keys.

Relevance is centred per query for display, R[n,i] - mean_i R[n,i]: the softmax is invariant to shifts of a row.  Heads
are averaged last.  Rows of mean weights sum to one; the softmax of a mean relevance is *not* the mean weight, so all
numbers in bits and all ranks are computed from weights.

An empty row (a query without keys) gives zeros everywhere.  NaN means that a token is absent, as in maps of two inputs
(`token_alignment.align_maps`), and stays NaN in all results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import BESIDE, with_attrs, without_axes
from triattn_core.trace.relevance import centred

AXES = ("query", "key")
TOP = 3  # size of the sets of top keys that are compared


def two_way_map(
    site: xr.DataArray,
    head: int | None = None,
    fold: Callable[[xr.DataArray], xr.DataArray] = lambda value: value,
    sum_axes: Sequence[str] = (),
) -> xr.DataArray:
    """The two-way map [query, key], float64, of a site with or without a context axis; `head=None`: mean of heads.

    Weights are summed over context; relevances are joined by log-sum-exp over context and centred per query.
    sum_axes: those that a distribution runs over, where the site does not say.
    fold: folds query and key (`TokenGrouping.array`), before relevances are centred and heads averaged.
    Raises TraceError for another quantity, a missing axis, or a head that does not exist.
    """
    quantity = site.attrs.get("quantity")
    if quantity not in ("weight", "relevance"):
        raise TraceError(f"a two-way map is made of weights or relevances, not of {quantity!r}")
    if missing := [axis for axis in AXES if axis not in site.dims]:
        raise TraceError(f"a two-way map needs the axes query and key; this site has no {' and no '.join(missing)}")
    if head is not None and "head" in site.dims:
        if not 0 <= head < site.sizes["head"]:
            raise TraceError(f"head {head} is outside 0…{site.sizes['head'] - 1}")
        site = site.isel(head=head)
    site = without_axes(site if quantity == "weight" else site.astype(np.float64), sum_axes, dtype=np.float64)
    beside = {BESIDE: site.attrs[BESIDE]} if BESIDE in site.attrs else {}
    sums = {"sums_over": "key"} if quantity == "weight" else {}
    site = fold(with_attrs(site.astype(np.float64), quantity=quantity, **sums))
    grouping_attrs = {name: value for name, value in site.attrs.items() if name in ("folded", "mass_before")}
    if quantity == "relevance":
        site = centred(site, ("key",)).where(~(site == -np.inf).all("key"), 0.0)
    if "head" in site.dims:
        site = site.mean("head")
    attrs = {"quantity": quantity} | (sums or {"centred": "key"}) | grouping_attrs | beside
    return with_attrs(site.transpose(*AXES), **attrs)


def difference(left: xr.DataArray, right: xr.DataArray) -> xr.DataArray:
    """The signed map left[n,i] - right[n,i]; 0 where both are masked, NaN where a token is absent.

    Raises TraceError if quantities or tokens differ.
    """
    if left.attrs.get("quantity") != right.attrs.get("quantity"):
        raise TraceError(f"a {left.attrs.get('quantity')} and a {right.attrs.get('quantity')} cannot be subtracted")
    require_same_tokens([left, right])
    a, b = left.values, right.values
    both, absent = np.isfinite(a) | np.isfinite(b), np.isnan(a) | np.isnan(b)
    return with_attrs(left.copy(data=np.where(absent, np.nan, np.subtract(a, b, where=both, out=np.zeros_like(a)))))


def seed_spread(*models: Sequence[xr.DataArray]) -> np.ndarray:
    """[query, key], the spread over seeds: maximum - minimum of each cell, for the model with the larger spread.

    models: the maps of the seeds of each model.  Smaller differences between two models are within seed variance.
    0 where a cell is masked in all maps.
    """
    ranges = []
    for maps in models:
        values = np.stack([array.values for array in maps])
        masked = ~np.isfinite(values).any(axis=0)
        ranges.append(np.ptp(np.where(masked, 0.0, values), axis=0))
    return np.max(ranges, axis=0)


def require_same_tokens(maps: Sequence[xr.DataArray], names: Sequence[str] = ()) -> None:
    """Raises TraceError unless all maps have the same tokens on query and key."""
    for number, other in enumerate(maps[1:], start=1):
        for axis in AXES:
            first, second = _tokens(maps[0], axis), _tokens(other, axis)
            if first != second:
                subject = f"{names[0]} and {names[number]}" if names else "two maps"
                raise TraceError(
                    f"{subject} cut the sentences into different tokens ({axis}: {len(first)} and {len(second)}); "
                    "choose checkpoints that share a tokenizer"
                )


def _tokens(array: xr.DataArray, axis: str) -> list[str]:
    name = f"{axis}_token"
    return [str(token) for token in (array[name].values if name in array.coords else range(array.sizes[axis]))]


def _shares(weights: xr.DataArray) -> np.ndarray:
    """Rows [query, key] divided by their sum, to keep rounding errors out of the logarithms; zero rows stay zero."""
    rows = np.clip(np.nan_to_num(weights.transpose(*AXES).values.astype(np.float64)), 0.0, None)
    total = rows.sum(axis=1, keepdims=True)
    return np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)


def _plogp(shares: np.ndarray) -> np.ndarray:
    return shares * np.log2(shares, out=np.zeros_like(shares), where=shares > 0)


def entropy(weights: xr.DataArray) -> np.ndarray:
    """[query] in bits: H[n] = -sum_i W[n,i] log2 W[n,i], with 0 log 0 = 0; from 0 (one key) to log2 of the keys."""
    return np.where(_absent_queries(weights), np.nan, np.abs(_plogp(_shares(weights)).sum(axis=1)))


def _absent_queries(weights: xr.DataArray) -> np.ndarray:
    """[query]: whether a query token is absent."""
    return np.isnan(weights.transpose(*AXES).values).all(axis=1)


def jensen_shannon(left: xr.DataArray, right: xr.DataArray) -> np.ndarray:
    """[query] in bits, from 0 to 1: JSD[n] = H((P + Q) / 2) - (H(P) + H(Q)) / 2 of the rows P = left[n], Q = right[n].

    0 if either row is empty, NaN if a query is absent.  Raises TraceError if tokens differ.
    """
    require_same_tokens([left, right])
    p, q = _shares(left), _shares(right)
    # As a sum of non-negative terms; the difference of entropies would lose digits if P is close to Q.
    middle = (p + q) / 2
    terms = _relative_entropy_terms(p, middle) + _relative_entropy_terms(q, middle)
    nonzero = (p.sum(axis=1) > 0) & (q.sum(axis=1) > 0)
    values = np.where(nonzero, np.clip(terms.sum(axis=1) / 2, 0.0, 1.0), 0.0)
    return np.where(_absent_queries(left) | _absent_queries(right), np.nan, values)


def overlap(left: xr.DataArray, right: xr.DataArray, k: int = TOP) -> np.ndarray:
    """[query], the number of keys among the top k of both rows: |T_k(left[n]) ∩ T_k(right[n])|, from 0 to k.

    T_k: the k keys with the largest weights, the first on ties.  Two unrelated rows of K keys share k * k / K on
    average.  NaN if a row is empty.  Raises TraceError if tokens differ.
    """
    require_same_tokens([left, right])
    p, q = _shares(left), _shares(right)
    top_keys = [np.argsort(-rows, axis=1, kind="stable")[:, :k] for rows in (p, q)]
    shared = (top_keys[0][:, :, None] == top_keys[1][:, None, :]).sum(axis=(1, 2)).astype(float)
    return np.where((p.sum(axis=1) > 0) & (q.sum(axis=1) > 0), shared, np.nan)


def _relative_entropy_terms(shares: np.ndarray, middle: np.ndarray) -> np.ndarray:
    ratio = np.divide(shares, middle, out=np.ones_like(shares), where=shares > 0)
    return shares * np.log2(ratio)


def rank(weights: xr.DataArray) -> np.ndarray:
    """[query, key], integer: 1 + the number of keys of the same query with a larger weight; 0 in a row of zeros, and
    for absent tokens.

    Ties share the better rank.
    """
    rows = weights.transpose(*AXES).values
    num_greater = (rows[:, None, :] > rows[:, :, None]).sum(axis=2)
    return np.where((rows > 0).any(axis=1, keepdims=True) & ~np.isnan(rows), 1 + num_greater, 0)


def layer_count(trace: AttentionTrace) -> int:
    """The number of attention layers: from the trace's metadata, otherwise from its highest site."""
    layers = [site.layer for site in trace.sites if site.layer is not None and not site.module]
    return int(trace.meta.get("layers") or max(layers, default=-1) + 1)
