"""Which tokens made the answer?  Gradients, occlusion and attention itself, for query, key and context on one scale.

A score F of word vectors x, by role, and a baseline x' (a vector that says nothing, such as that of `[PAD]`):

    integrated gradients    (x_t - x'_t) · mean over a in (0, 1) of dF/dx_t at x' + a (x - x')
                            (Sundararajan et al. 2017, Eq. 1); all tokens together give F(x) - F(x'), and the gap
                            to it says how well the mean was taken
    gradient × input        x_t · dF/dx_t                                  (Shrikumar et al. 2017, section 2)
    occlusion               F(x) - F(x with x'_t in place of x_t)          (Li et al. 2016; Zeiler and Fergus 2014)

Captum computes these three (Kokhlikyan et al. 2020), the mean over a by Gauss-Legendre quadrature.  Of a linear F all
are closed: w·(x - x'), w·x and w·(x - x').

Attention is read from a trace.  A token of B is attended to as a key in `a_over_b`, one of A in `b_over_a`, and a
context token in both; each direction gives 1, shared out over its keys, and where there is a cube over its context.

Rollout (Abnar and Zuidema 2020, section 3) follows a token of A or B down the layers: where there is a residual
connection half of it stays; the rest goes along the weights, and of a cube's cell half to the key and half to the
context token, whose values are mixed there.  It starts from the mean over A and the mean over B, which the prediction
is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from captum.attr import FeatureAblation, InputXGradient, IntegratedGradients
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
    """By role [n], and the completeness gap: the sum of all - (F(x) - F(x')), so that F(x') is F(x) - sum + gap.

    steps: points of the quadrature, `rows` of them in a batch.  Raises InputError for steps outside 1…MOST_STEPS.
    """
    if not 1 <= steps <= MOST_STEPS:
        raise InputError(f"{steps} steps: integrated gradients take 1 to {MOST_STEPS}")
    given = _tuple(vectors), _tuple(baseline)
    how = {"n_steps": steps, "internal_batch_size": rows, "return_convergence_delta": True}
    found, gap = IntegratedGradients(_of(score, vectors)).attribute(*given, **how)
    return _tokens(vectors, found), float(gap)


def gradient_times_input(score: Score, vectors: Vectors) -> dict[str, np.ndarray]:
    """By role [n]."""
    leaves = tuple(one.requires_grad_() for one in _tuple(vectors))
    return _tokens(vectors, InputXGradient(_of(score, vectors)).attribute(leaves))


def occlusion(score: Score, vectors: Vectors, baseline: Vectors, rows: int = 32) -> dict[str, np.ndarray]:
    """By role [n], 0 where a token is its own baseline; `rows` variants in a batch."""
    changed = {role: (one != baseline[role]).any(-1) for role, one in vectors.items()}
    masks, last = [], 0  # each token that changes is a feature of its own; all others are feature 0
    for some in changed.values():
        number = some.cumsum(0) + last
        masks.append((number * some)[None, :, None])
        last = int(number[-1]) if len(number) else last
    how = {"baselines": _tuple(baseline), "feature_mask": tuple(masks), "perturbations_per_eval": rows}
    found = FeatureAblation(_of(score, vectors)).attribute(_tuple(vectors), **how)
    lost = (one[0, :, 0] * some for one, some in zip(found, changed.values()))
    return {role: one.double().cpu().numpy() for role, one in zip(vectors, lost)}


def _tuple(vectors: Vectors) -> tuple[Tensor, ...]:
    """As Captum takes them: a batch of one, without a memory."""
    return tuple(one.detach().clone()[None] for one in vectors.values())


def _of(score: Score, vectors: Vectors) -> Callable[..., Tensor]:
    """A role that the score does not read has slope 0."""
    return lambda *given: score(dict(zip(vectors, given))) + 0 * sum(one.sum((1, 2)) for one in given)


def _tokens(vectors: Vectors, found: Iterable[Tensor]) -> dict[str, np.ndarray]:
    """Of each token the sum over its features."""
    return {role: one[0].double().sum(-1).detach().cpu().numpy() for role, one in zip(vectors, found)}


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
