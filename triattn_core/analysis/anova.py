"""Does context matter?  The cube of relevance taken apart, and what key and context tell of each other in its weights.

Functional analysis of variance (Hoeffding 1948; Sobol' 1993) of the relevance S of one head:

    S[n,i,j] = m + f_Q[n] + f_K[i] + f_C[j] + f_QK[n,i] + f_QC[n,j] + f_KC[i,j] + f_QKC[n,i,j]

Each part has mean 0 along each of its axes; on a whole cube the parts are orthogonal and their sums of squares add up
to that of S - m.  The softmax over key × context does not see f_Q, so that shares are taken of the rest:

    among keys    f_K + f_QK       moves attention among keys whatever the context token
    redirected    f_KC + f_QKC     moves it to other keys with the context token: what no two-way map can hold
    (the others)  f_C + f_QC       move attention among context tokens only

Masked cells.  A key or a context token that is masked as a whole is left out, and the rest is a whole cube.  Where
single cells are masked, the parts are sequential least squares (type I) over the kept cells in the order above: each
is what its axes add to the fit of all before it.  On a whole cube that is the same.

For the weights A of one query the mutual information

    I[n] = sum_ij A[n,i,j] log2(A[n,i,j] / (sum_j A[n,i,j] sum_i A[n,i,j]))

is 0 where each context token shares out its attention among keys alike (Cover and Thomas 2006, Eq. 2.28).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace

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
SEEN = tuple(name for name in TERMS if name != "query")  # by the softmax
ROUNDS, CLOSE = 2000, 1e-12
ROUNDING = 1e-9  # of a scale: what is below is no part of the relevance, nor information


def parts(cube: np.ndarray, keep: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """The part of each of TERMS at each cell: arrays [..., N, I, J] that sum to the cube less its mean.

    keep: bool, [N, I, J] or like the cube; all cells that are finite by default.  Masked cells hold 0.
    """
    finite = np.isfinite(cube)
    keep = finite if keep is None else finite & keep
    rest = np.where(keep, cube, 0.0).astype(np.float64)
    rest = _less_means(rest, keep, ())[0]
    found, fitted = {}, []
    for name, axes in TERMS.items():
        before, fitted = rest, [axes, *fitted]
        rest = np.zeros_like(rest) if name == "three_way" else _without(rest, keep, fitted)
        found[name] = before - rest
    return found


def _without(rest: np.ndarray, keep: np.ndarray, fitted: list[tuple[int, ...]]) -> np.ndarray:
    """The residual of least squares on the means over all sets of axes in `fitted`, the new one first: each is
    projected out in turn until nothing moves; on a whole cube once is enough."""
    scale = np.abs(rest).max(initial=0.0)
    for _ in range(ROUNDS):
        moved = 0.0
        for number, axes in enumerate(fitted):
            rest, step = _less_means(rest, keep, axes)
            moved = max(moved, step if number else 0.0)
        if moved <= CLOSE * scale:
            break
    return rest


def _less_means(rest: np.ndarray, keep: np.ndarray, axes: tuple[int, ...]) -> tuple[np.ndarray, float]:
    """Less the mean of the kept cells over all other axes, and the largest of these means."""
    over = tuple(axis - 3 for axis in range(3) if axis not in axes)
    count = keep.sum(over, keepdims=True)
    means = rest.sum(over, keepdims=True) / np.maximum(count, 1)
    return np.where(keep, rest - means, 0.0), float(np.abs(means).max(initial=0.0))


def shares(cube: np.ndarray, keep: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """The share of each of SEEN in the sum of squares that the softmax can see: [...] each, together 1.

    All are 0 where the relevance is the same everywhere.
    """
    found = parts(cube, keep)
    # As differences of what is left over: these add up to the whole, converged or not.
    left = [sum(list(found.values())[at:]) for at in range(len(found) + 1)]
    squares = [np.sum(np.square(one), axis=(-3, -2, -1)) for one in left[:-1]] + [0.0]
    whole = squares[1]
    return {
        name: _cleared(np.divide(squares[at] - squares[at + 1], whole, out=np.zeros_like(whole), where=whole > 0))
        for at, name in enumerate(found)
        if name in SEEN
    }


def _cleared(found: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """The same with 0 for what rounding leaves."""
    return np.where(np.abs(found) < ROUNDING * scale, 0.0, found)


def information(weights: np.ndarray) -> np.ndarray:
    """I(key; context | query) in bits of weights [..., N, I, J]: [..., N], 0 for a query without weights."""
    joint = np.clip(weights.astype(np.float64), 0.0, None)
    total = joint.sum((-2, -1), keepdims=True)
    joint = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)
    apart = joint.sum(-1, keepdims=True) * joint.sum(-2, keepdims=True)
    ratio = np.divide(joint, apart, out=np.ones_like(joint), where=joint > 0)
    return _cleared(np.maximum((joint * np.log2(ratio)).sum((-2, -1)), 0.0))


def three_way(relevance: xr.DataArray, weights: xr.DataArray | None = None) -> xr.DataArray:
    """f_QKC of a site as a map of contributions, on its own axes; `weights`, where given, say what is masked.

    Raises TraceError for a site that is no cube of relevance.
    """
    cube = _cube(relevance)
    found = parts(cube.values, None if weights is None else kept(weights))["three_way"]
    found = _cleared(found, float(np.abs(cube.values).max(initial=0.0, where=np.isfinite(cube.values))))
    return cube.copy(data=found).drop_attrs().assign_attrs(quantity="contribution")


def kept(weights: xr.DataArray) -> np.ndarray:
    """[1, I, J]: keys and context tokens that anything attends to in any head."""
    values = _cube(weights, "weight").values
    seen = values.max(tuple(range(values.ndim - 2))) > 0
    return (seen.any(1)[:, None] & seen.any(0)[None])[None]


def _cube(site: xr.DataArray, quantity: str = "relevance") -> xr.DataArray:
    other, missing = site.attrs.get("quantity"), [axis for axis in AXES if axis not in site.dims]
    if other != quantity or missing:
        found = f"one without {' and '.join(missing)}" if other == quantity else str(other)
        raise TraceError(f"a {quantity} over query, key and context is needed, not {found}")
    return site.transpose(..., *AXES)


def table(trace: AttentionTrace) -> pd.DataFrame:
    """A row for each cube and head of a trace: `site`, `head`, the share of each of SEEN, `among_keys` and
    `redirected`, and `information`, the mean over queries in bits.

    Raises TraceError where the trace has no cube.
    """
    names = [name.removesuffix("/relevance") for name, one in trace.sites.items() if _is_cube(name, one)]
    if not names:
        raise TraceError("no cube of relevance in this trace: only Tri-Attention with context leaves one")
    found = []
    for name in names:
        relevance, weights = trace.site(f"{name}/relevance"), trace.site(f"{name}/weight")
        found.append(measured(name, _cube(relevance).values, _cube(weights, "weight").values, kept(weights)))
    return pd.concat(found, ignore_index=True)


def _is_cube(name: str, site: xr.DataArray) -> bool:
    return name.endswith("/relevance") and set(AXES) <= set(site.dims)


def measured(name: str, relevance: np.ndarray, weights: np.ndarray, keep: np.ndarray | None = None) -> pd.DataFrame:
    """The rows of `table` for one site; cubes [heads, N, I, J]."""
    found = shares(relevance, keep)
    among, redirected = found["key"] + found["query_key"], found["key_context"] + found["three_way"]
    bits = information(weights).mean(-1)
    heads = {"site": name, "head": np.arange(len(bits)), **found}
    return pd.DataFrame({**heads, "among_keys": among, "redirected": redirected, "information": bits})
