"""Attribution estimators: gradients, occlusion and attention, for query, key and context on one scale.

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
from torch import Tensor

from triattn_core.analysis.maps.compare import layer_count, two_way_map
from triattn_core.errors import InputError, TraceError
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site
from triattn_core.trace.text_units import exchange_key_context

Score = Callable[[Mapping[str, Tensor]], Tensor]  # by role [V, n, h] → [V]
Vectors = Mapping[str, Tensor]  # by role [n, h]
MAX_STEPS = 512


def integrated_gradients(
    score: Score, vectors: Vectors, baseline: Vectors, steps: int = 32, rows: int = 32
) -> tuple[dict[str, np.ndarray], float]:
    """Integrated gradients by role, [n] each, and the completeness gap: the sum of all - (F(x) - F(x')).

    steps: points of the quadrature, `rows` of them in a batch.  Raises InputError for steps outside 1…MOST_STEPS.
    """
    if not 1 <= steps <= MAX_STEPS:
        raise InputError(f"{steps} steps: integrated gradients take 1 to {MAX_STEPS}")
    from captum.attr import IntegratedGradients  # 40 MB and a second, so only where it is used

    inputs = _captum_inputs(vectors), _captum_inputs(baseline)
    options = {"n_steps": steps, "internal_batch_size": rows, "return_convergence_delta": True}
    attributions, gap = IntegratedGradients(_captum_score(score, vectors)).attribute(*inputs, **options)
    return _sum_features(vectors, attributions), float(gap)


def gradient_times_input(score: Score, vectors: Vectors) -> dict[str, np.ndarray]:
    """Gradient × input by role, [n] each."""
    from captum.attr import InputXGradient

    leaves = tuple(vector.requires_grad_() for vector in _captum_inputs(vectors))
    return _sum_features(vectors, InputXGradient(_captum_score(score, vectors)).attribute(leaves))


def occlusion(score: Score, vectors: Vectors, baseline: Vectors, rows: int = 32) -> dict[str, np.ndarray]:
    """Occlusion by role, [n] each, 0 where a token is its own baseline; `rows` variants in a batch."""
    from captum.attr import FeatureAblation

    differs = {role: (vector != baseline[role]).any(-1) for role, vector in vectors.items()}
    masks, last = [], 0  # each token that changes is a feature of its own; all others are feature 0
    for mask in differs.values():
        number = mask.cumsum(0) + last
        masks.append((number * mask)[None, :, None])
        last = int(number[-1]) if len(number) else last
    options = {"baselines": _captum_inputs(baseline), "feature_mask": tuple(masks), "perturbations_per_eval": rows}
    attributions = FeatureAblation(_captum_score(score, vectors)).attribute(_captum_inputs(vectors), **options)
    lost = (drop[0, :, 0] * mask for drop, mask in zip(attributions, differs.values()))
    return {role: drop.double().cpu().numpy() for role, drop in zip(vectors, lost)}


def _captum_inputs(vectors: Vectors) -> tuple[Tensor, ...]:
    """The vectors as detached batches of one, as Captum takes them."""
    return tuple(vector.detach().clone()[None] for vector in vectors.values())


def _captum_score(score: Score, vectors: Vectors) -> Callable[..., Tensor]:
    """The score as a function of positional inputs; a role that it does not read gets gradient 0."""
    return lambda *inputs: score(dict(zip(vectors, inputs))) + 0 * sum(vector.sum((1, 2)) for vector in inputs)


def _sum_features(vectors: Vectors, attributions: Iterable[Tensor]) -> dict[str, np.ndarray]:
    """The sum over features for each token."""
    return {
        role: attribution[0].double().sum(-1).detach().cpu().numpy() for role, attribution in zip(vectors, attributions)
    }


def attention_mass(trace: AttentionTrace) -> dict[str, np.ndarray]:
    """Attention mass received by role, [cells] each: the mean over layers, heads and queries; key and query sum to 1
    each, and so does the context of a cube."""
    layers = range(layer_count(trace))
    if not layers:
        raise TraceError("no attention layer in this trace")
    by_role = {
        role: [_mean_over_queries(trace, layer, direction) for layer in layers]
        for role, direction in DIRECTIONS.items()
    }
    means = {role: np.mean([key for key, _ in layer_means], 0) for role, layer_means in by_role.items()}
    contexts = [context for layer_means in by_role.values() for _, context in layer_means if context is not None]
    return means | ({"context": np.mean(contexts, 0)} if contexts else {})


DIRECTIONS = {"query": "b_over_a", "key": "a_over_b"}  # in which direction a role is attended to


def _mean_over_queries(trace: AttentionTrace, layer: int, direction: str) -> tuple[np.ndarray, np.ndarray | None]:
    key, context = direction_maps(trace, layer, direction)
    return key.mean(0), None if context is None else context.mean(0)


def direction_maps(trace: AttentionTrace, layer: int, direction: str) -> tuple[np.ndarray, np.ndarray | None]:
    """The weights [query, key] and, of a cube, [query, context] of one direction, the mean over heads.

    Of Bi-joint, whose keys are both, the two parts of a row sum to one together.
    """
    site = trace.site(Site(layer=layer, role=direction, quantity="weight"))
    if "key_role" in site.coords:
        values, of_key = two_way_map(site).values, site["key_role"].values == "key"
        return values[:, of_key], values[:, ~of_key]
    context = two_way_map(exchange_key_context(site)).values if "context" in site.dims else None
    return two_way_map(site).values, context


def rollout(trace: AttentionTrace, residual: bool = True) -> dict[str, np.ndarray]:
    """Attention rollout by role, [cells] each, 1 in total (less queries without a key); residual: whether to model the
    residual connection."""
    layers = range(layer_count(trace))
    if not layers:
        raise TraceError("no attention layer in this trace")
    key, context = direction_maps(trace, 0, "a_over_b")
    (n, i), c = key.shape, 0 if context is None else context.shape[1]
    mass = np.concatenate([np.full(n, 0.5 / n), np.full(i, 0.5 / i), np.zeros(c)])  # over A, B and the context
    for layer in reversed(layers):
        mass = mass @ _rollout_matrix(trace, layer, residual, n, i, c)
    by_role = {"query": mass[:n], "key": mass[n : n + i]}
    return by_role | ({"context": mass[n + i :]} if c else {})


def _rollout_matrix(trace: AttentionTrace, layer: int, residual: bool, n: int, i: int, c: int) -> np.ndarray:
    """The transition matrix of one layer: row → where it comes from; the context comes from itself."""
    a, b = slice(0, n), slice(n, n + i)
    step = np.zeros((n + i + c, n + i + c))
    for rows, columns, direction in ((a, b, "a_over_b"), (b, a, "b_over_a")):
        key, context = direction_maps(trace, layer, direction)
        # Both marginals of a cube sum to one; of Bi-joint they do so together.
        total = key[0].sum() + (0 if context is None else context[0].sum())
        step[rows, columns] = key / max(1, round(float(total)))
        if context is not None:
            step[rows, n + i :] = context / max(1, round(float(total)))
    if residual:
        step = (step + np.eye(len(step))) / 2
    step[n + i :] = np.eye(len(step))[n + i :]
    return step
