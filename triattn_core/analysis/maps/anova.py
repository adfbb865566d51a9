"""Functional ANOVA of the relevance cube.

Functional analysis of variance (Hoeffding 1948; Sobol' 1993) of the relevance S of one head:

    S[n,i,j] = m + f_Q[n] + f_K[i] + f_C[j] + f_QK[n,i] + f_QC[n,j] + f_KC[i,j] + f_QKC[n,i,j]

Each part has mean 0 along each of its axes; on a complete cube the parts are orthogonal and their sums of squares add
up to that of S - m.  f_Q cancels in the softmax over key × context, so shares are taken of the rest:

    among keys    f_K + f_QK       moves attention among keys, whatever the context token
    redirected    f_KC + f_QKC     moves attention to other keys depending on the context token; no two-way map has it
    (the others)  f_C + f_QC       move attention among context tokens only

Where each context token has distributions over keys of its own (triangle attention), f_C and f_QC cancel too: what
softmax sees are the parts with an axis that a distribution runs over.

Masked cells.  A key or context token that is masked entirely is dropped, which leaves a complete cube.  If single cells
are masked, the parts are sequential least squares (type I) over the kept cells in the order above: each is what its
axes add to the fit of all previous ones.  On a complete cube the results are equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import distribution_axes, with_attrs
from triattn_core.trace.information import mutual_information
from triattn_core.trace.site import Site

AXES = ("query", "key", "context")
TERMS = {
    "query": (0,),
    "key": (1,),
    "context": (2,),
    "query_key": (0, 1),
    "query_context": (0, 2),
    "key_context": (1, 2),
    "three_way": (0, 1, 2),
}
VISIBLE_TERMS = tuple(name for name in TERMS if name != "query")  # those that affect a softmax over key × context
ROUNDS, CLOSE = 2000, 1e-12
UNDERFLOW = -69.0  # logarithm of 1e-30: larger weights do not underflow in float32
ROUNDING = 1e-9  # relative size below which values are rounding errors


def decompose(cube: np.ndarray, keep: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """The ANOVA component of each of TERMS: arrays [..., N, I, J] that sum to the cube minus its mean.

    keep: bool, [N, I, J] or in the shape of the cube; by default all finite cells.  Masked cells hold 0.
    """
    finite = np.isfinite(cube)
    keep = finite if keep is None else finite & keep
    residual = np.where(keep, cube, 0.0).astype(np.float64)
    residual = _subtract_means(residual, keep, ())[0]
    components: dict[str, np.ndarray] = {}
    fitted: list[tuple[int, ...]] = []
    for name, axes in TERMS.items():
        before, fitted = residual, [axes, *fitted]
        residual = np.zeros_like(residual) if name == "three_way" else _residual(residual, keep, fitted)
        components[name] = before - residual
    return components


def _residual(residual: np.ndarray, keep: np.ndarray, fitted: list[tuple[int, ...]]) -> np.ndarray:
    """The least-squares residual after fitting means over all sets of axes in `fitted`, the newest first: each is
    projected out in turn until convergence; on a complete cube one round is enough."""
    scale = np.abs(residual).max(initial=0.0)
    for _ in range(ROUNDS):
        largest_step = 0.0
        for number, axes in enumerate(fitted):
            residual, step = _subtract_means(residual, keep, axes)
            largest_step = max(largest_step, step if number else 0.0)
        if largest_step <= CLOSE * scale:
            break
    return residual


def _subtract_means(residual: np.ndarray, keep: np.ndarray, axes: tuple[int, ...]) -> tuple[np.ndarray, float]:
    """The residual minus the means of the kept cells over all other axes, and the largest of these means."""
    other_axes = tuple(axis - 3 for axis in range(3) if axis not in axes)
    count = keep.sum(other_axes, keepdims=True)
    means = residual.sum(other_axes, keepdims=True) / np.maximum(count, 1)
    return np.where(keep, residual - means, 0.0), float(np.abs(means).max(initial=0.0))


def variance_shares(
    cube: np.ndarray, keep: np.ndarray | None = None, sum_axes: Sequence[str] = ("key", "context")
) -> dict[str, np.ndarray]:
    """The share of each of VISIBLE_TERMS in the variance visible to the softmax: [...] each, 1 in total.

    sum_axes: those that a distribution runs over; a part with none of them is invisible, and its share is 0.  All are
    0 if the relevance is constant.
    """
    components = decompose(cube, keep)
    # As differences of remainders, which add up to the total even without convergence.
    remainders = [sum(list(components.values())[i:]) for i in range(len(components) + 1)]
    squares = [np.sum(np.square(remainder), axis=(-3, -2, -1)) for remainder in remainders[:-1]] + [0.0]
    hidden = [i for i, axes in enumerate(TERMS.values()) if not {AXES[axis] for axis in axes} & set(sum_axes)]
    visible = squares[1] - sum(squares[i] - squares[i + 1] for i in hidden if i)
    seen = {name: np.where(i in hidden, 0.0, squares[i] - squares[i + 1]) for i, name in enumerate(components)}
    return {
        name: _clear_rounding(np.divide(part, visible, out=np.zeros_like(visible), where=visible > 0))
        for name, part in seen.items()
        if name in VISIBLE_TERMS
    }


def redirected_share(cube: np.ndarray) -> np.ndarray:
    """[...]: the share of the visible variance with which the context token redirects attention to other keys: that of
    key × context plus the three-way part.

    cube: complete cubes [..., N, I, J].
    """
    return _sum_redirected(variance_shares(cube))


def _sum_redirected(shares: Mapping[str, np.ndarray]) -> np.ndarray:
    return shares["key_context"] + shares["three_way"]


def _clear_rounding(values: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """The values with rounding errors set to 0."""
    return np.where(np.abs(values) < ROUNDING * scale, 0.0, values)


def three_way_residual(relevance: xr.DataArray, weights: xr.DataArray | None = None) -> xr.DataArray:
    """The component f_QKC of a site as contributions; `weights`, if given, determine the masked cells.

    Raises TraceError if the site is not a cube of relevance.
    """
    cube = _cube(relevance)
    residual = decompose(cube.values, None if weights is None else kept_cells(relevance, weights))["three_way"]
    residual = _clear_rounding(residual, float(np.abs(cube.values).max(initial=0.0, where=np.isfinite(cube.values))))
    return with_attrs(cube.copy(data=residual), quantity="contribution")


def kept_cells(relevance: xr.DataArray, weights: xr.DataArray) -> np.ndarray:
    """[1, I, J]: the cells of keys and context tokens that are not masked.

    Where the relevance holds −inf, that is the mask, exactly: a cell is masked if it is −inf in all heads and queries,
    and the weights are not looked at.  (In a logarithm of weights, those that underflowed are −inf too.)  A relevance
    that is finite everywhere has no mask of its own, and the weights tell: a token is masked if it has no weight in any
    head although its scores are too high for its weights to underflow in float32.  Of scores so low that they would,
    masked or not, nothing tells; such tokens are kept.
    """
    scores, values = (
        cube.values.astype(np.float64).reshape(-1, *cube.shape[-2:])
        for cube in (_cube(relevance), _cube(weights, "weight"))
    )
    finite = np.asarray(np.isfinite(scores).any(0))
    if np.isneginf(scores).any():
        return finite[None]
    over = tuple(1 + i for i, axis in enumerate(("key", "context")) if axis in (distribution_axes(weights) or AXES))
    return (_tokens_with_weight(scores, values, over) & finite)[None]


def _tokens_with_weight(scores: np.ndarray, values: np.ndarray, over: tuple[int, ...]) -> np.ndarray:
    """[I, J]: the cells of tokens that have weight, or whose weights may have underflowed; [heads × N, I, J] each.

    over: the dimensions that a distribution runs over.
    """
    has_weight = values > 0
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        total = np.logaddexp.reduce(np.where(has_weight, scores, -np.inf), over, keepdims=True)
        masked = np.asarray((~has_weight & (scores - total > UNDERFLOW)).any(0))
    any_head = np.asarray(has_weight.any(0))  # [I, J]
    keys, context = np.asarray(any_head.any(1)), np.asarray(any_head.any(0))
    keep_key = keys | ~masked[:, context].any(1)
    keep_context = context | ~masked[keys].any(0)
    return keep_key[:, None] & keep_context


def _cube(site: xr.DataArray, quantity: str = "relevance") -> xr.DataArray:
    actual, missing = site.attrs.get("quantity"), [axis for axis in AXES if axis not in site.dims]
    if actual != quantity or missing:
        problem = f"one without {' and '.join(missing)}" if actual == quantity else str(actual)
        raise TraceError(f"a {quantity} over query, key and context is needed, not {problem}")
    return site.transpose(..., *AXES)


def share_table(trace: AttentionTrace) -> pd.DataFrame:
    """A row for each cube and head of a trace: `site`, `head`, the share of each of VISIBLE_TERMS, `among_keys` and
    `redirected`, and `information`, the mean over queries in bits.

    Raises TraceError if the trace has no cube.
    """
    sites = [site for site, array in trace.sites.items() if _is_cube(site, array)]
    if not sites:
        raise TraceError("no cube of relevance in this trace: only Tri-Attention with context leaves one")
    tables = []
    for site in sites:
        relevance, weights = trace.site(site), trace.site(site.with_quantity("weight"))
        tables.append(
            site_shares(
                site,
                _cube(relevance).values,
                _cube(weights, "weight").values,
                kept_cells(relevance, weights),
                trace.sum_axes(site),
            )
        )
    return pd.concat(tables, ignore_index=True)


def _is_cube(site: Site, array: xr.DataArray) -> bool:
    return site.quantity == "relevance" and set(AXES) <= set(array.dims)


def site_shares(
    site: Site,
    relevance: np.ndarray,
    weights: np.ndarray,
    keep: np.ndarray | None = None,
    sum_axes: Sequence[str] = (),
) -> pd.DataFrame:
    """The rows of `share_table` for one site; cubes [heads, N, I, J].  sum_axes: see `variance_shares`."""
    shares = variance_shares(relevance, keep, sum_axes or ("key", "context"))
    among_keys, redirected = shares["key"] + shares["query_key"], _sum_redirected(shares)
    bits = mutual_information(weights).mean(-1)
    heads = {"site": str(site.attention), "head": np.arange(len(bits)), **shares}
    return pd.DataFrame({**heads, "among_keys": among_keys, "redirected": redirected, "information": bits})
