"""Which tokens made the answer?  Gradients, occlusion and attention itself, for query, key and context on one scale.

A score F of word vectors x, by role, and a baseline x' (a vector that says nothing, such as that of `[PAD]`):

    integrated gradients    (x_t - x'_t) · mean over a in (0, 1) of dF/dx_t at x' + a (x - x')
                            (Sundararajan et al. 2017, Eq. 1); all tokens together give F(x) - F(x'), and the gap
                            to it says how well the mean was taken
    gradient × input        x_t · dF/dx_t                                  (Shrikumar et al. 2017, section 2)
    occlusion               F(x) - F(x with x'_t in place of x_t)          (Li et al. 2016; Zeiler and Fergus 2014)

The mean over a is taken by Gauss-Legendre quadrature.  Of a linear F all are closed: w·(x - x'), w·x and w·(x - x').

Attention is read from a trace.  A token of B is attended to as a key in `a_over_b`, one of A in `b_over_a`, and a
context token in both; each direction gives 1, shared out over its keys, and where there is a cube over its context.

Rollout (Abnar and Zuidema 2020, section 3) follows a token of A or B down the layers: where there is a residual
connection half of it stays; the rest goes along the weights, and of a cube's cell half to the key and half to the
context token, whose values are mixed there.  It starts from the mean over A and the mean over B, which the prediction
is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor

from triattn_core.analysis.compare import depth, two_way
from triattn_core.analysis.folds import exchanged
from triattn_core.errors import InputError, TraceError
from triattn_core.trace import AttentionTrace

Score = Callable[[Mapping[str, Tensor]], Tensor]  # by role [V, n, h] → [V]
Vectors = Mapping[str, Tensor]  # by role [n, h]
MOST_STEPS = 512


def integrated_gradients(
    score: Score, vectors: Vectors, baseline: Vectors, steps: int = 32, rows: int = 32
) -> tuple[dict[str, np.ndarray], float]:
    """By role [n], and the completeness gap |sum of all - (F(x) - F(x'))|.

    steps: points of the quadrature, `rows` of them in a batch.  Raises InputError for steps outside 1…MOST_STEPS.
    """
    if not 1 <= steps <= MOST_STEPS:
        raise InputError(f"{steps} steps: integrated gradients take 1 to {MOST_STEPS}")
    points, weights = np.polynomial.legendre.leggauss(steps)
    at, share = torch.from_numpy((points + 1) / 2), torch.from_numpy(weights / 2)
    means = {role: torch.zeros_like(one) for role, one in vectors.items()}
    for start in range(0, steps, rows):
        between = {
            role: baseline[role] + at[start : start + rows].to(one)[:, None, None] * (one - baseline[role])
            for role, one in vectors.items()
        }
        for role, slope in _slopes(score, between).items():
            means[role] += torch.einsum("v,vnh->nh", share[start : start + rows].to(slope), slope)
    found = {role: _dot(one - baseline[role], means[role]) for role, one in vectors.items()}
    with torch.no_grad():
        whole = score({role: torch.stack([one, baseline[role]]) for role, one in vectors.items()}).double()
    return found, abs(sum(one.sum() for one in found.values()) - float(whole[0] - whole[1]))


def gradient_times_input(score: Score, vectors: Vectors) -> dict[str, np.ndarray]:
    """By role [n]."""
    slopes = _slopes(score, {role: one[None] for role, one in vectors.items()})
    return {role: _dot(one, slopes[role][0]) for role, one in vectors.items()}


def occlusion(score: Score, vectors: Vectors, baseline: Vectors, rows: int = 32) -> dict[str, np.ndarray]:
    """By role [n], 0 where a token is its own baseline; `rows` variants in a batch."""
    changed = {role: (one != baseline[role]).any(-1).tolist() for role, one in vectors.items()}
    places = [(role, token) for role, some in changed.items() for token, other in enumerate(some) if other]
    found = {role: np.zeros(len(one)) for role, one in vectors.items()}
    with torch.no_grad():
        whole = score({role: one[None] for role, one in vectors.items()}).double()
        for start in range(0, len(places), rows):
            some = places[start : start + rows]
            given = {role: one.repeat(len(some), 1, 1) for role, one in vectors.items()}
            for row, (role, token) in enumerate(some):
                given[role][row, token] = baseline[role][token]
            for (role, token), lost in zip(some, (whole - score(given).double()).tolist()):
                found[role][token] = lost
    return found


def _slopes(score: Score, given: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """dF/dx at each row: rows do not see each other, so that one backward pass of their sum gives all."""
    leaves = {role: one.detach().clone().requires_grad_() for role, one in given.items()}
    slopes = torch.autograd.grad(score(leaves).sum(), list(leaves.values()), allow_unused=True)
    return {
        role: torch.zeros_like(leaf) if slope is None else slope for (role, leaf), slope in zip(leaves.items(), slopes)
    }


def _dot(vectors: Tensor, slopes: Tensor) -> np.ndarray:
    return (vectors.double() * slopes.double()).sum(-1).detach().cpu().numpy()


def attended(trace: AttentionTrace) -> dict[str, np.ndarray]:
    """By role [cells]: what each is attended to, the mean over layers, heads and queries; key and query 1 each, and
    the context 1 where the attention is a cube."""
    layers = range(depth(trace))
    if not layers:
        raise TraceError("no attention layer in this trace")
    keys = {name: [_mean(trace, layer, way) for layer in layers] for name, way in WAYS.items()}
    found = {role: np.mean([one[0] for one in some], 0) for role, some in keys.items()}
    contexts = [one[1] for some in keys.values() for one in some if one[1] is not None]
    return found | ({"context": np.mean(contexts, 0)} if contexts else {})


WAYS = {"query": "b_over_a", "key": "a_over_b"}  # in which direction a role is attended to


def _mean(trace: AttentionTrace, layer: int, way: str) -> tuple[np.ndarray, np.ndarray | None]:
    key, context = maps(trace, layer, way)
    return key.mean(0), None if context is None else context.mean(0)


def maps(trace: AttentionTrace, layer: int, way: str) -> tuple[np.ndarray, np.ndarray | None]:
    """The weights [query, key] and, of a cube, [query, context] of one direction, the mean over heads."""
    site = trace.site(f"layer.{layer}/{way}/weight")
    context = two_way(exchanged(site)).values if "context" in site.dims else None
    return two_way(site).values, context


def rollout(trace: AttentionTrace, residual: bool = True) -> dict[str, np.ndarray]:
    """By role [cells], together 1 (less what queries without a key lose); residual: whether a token stays beside."""
    layers = range(depth(trace))
    if not layers:
        raise TraceError("no attention layer in this trace")
    first = trace.site("layer.0/a_over_b/weight")
    n, i = first.sizes["query"], first.sizes["key"]
    c = first.sizes.get("context", 0)
    at = np.concatenate([np.full(n, 0.5 / n), np.full(i, 0.5 / i), np.zeros(c)])  # over A, B and the context
    for layer in reversed(layers):
        at = at @ _step(trace, layer, residual, n, i, c)
    found = {"query": at[:n], "key": at[n : n + i]}
    return found | ({"context": at[n + i :]} if c else {})


def _step(trace: AttentionTrace, layer: int, residual: bool, n: int, i: int, c: int) -> np.ndarray:
    """One layer: row → where it comes from; the context comes from itself."""
    a, b = slice(0, n), slice(n, n + i)
    step = np.zeros((n + i + c, n + i + c))
    for rows, columns, way in ((a, b, "a_over_b"), (b, a, "b_over_a")):
        key, context = maps(trace, layer, way)
        step[rows, columns] = key if context is None else key / 2
        if context is not None:
            step[rows, n + i :] = context / 2
    if residual:
        step = (step + np.eye(len(step))) / 2
    step[n + i :] = np.eye(len(step))[n + i :]
    return step
