"""Null tests of attention maps: the answer with attention replaced along one axis, over many draws.

Weights A[n,i,j] are replaced along key or context, the mass M of all else staying where it was:

    uniform     A'[n,i,j] = M[n,j] / I                         along key; M[n,j] = sum_i A[n,i,j]
    shuffled    A'[n,i,j] = A[n,s(i),j]                        a permutation s for each draw, site, head and query
                                                               (Jain and Wallace 2019, section 4.2.1)
    untrained   A'[n,i,j] = M[n,j] B[n,i,j] / sum_i B[n,i,j]   B: the weights of the same network, newly drawn

or the whole cube is replaced, by the product of its marginals, K[n,i] C[n,j], or by even weights; in all layers and
both directions at once.  Where shuffled or untrained maps answer like the trained one, the map is no
explanation of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from threading import Lock

import numpy as np
import torch
from torch import Tensor

from triattn_core.analysis.catalogue import REPLACEMENTS
from triattn_core.analysis.intervention.batched_variants import repeat_encoded, row_slices, run_query
from triattn_core.analysis.intervention.interventions import Edit, Outcome, make_outcome
from triattn_core.attention.fixed_weights import replacement
from triattn_core.attention.tap import keep_weights, recording
from triattn_core.attention.tri_similarity.exponential import without_compilation
from triattn_core.attention.weight_override import replacing
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import InputError, choices
from triattn_core.inference.batch import collate
from triattn_core.inference.pause import progress
from triattn_core.trace.site import Site

DIMS = {"key": 3, "context": 4}
_drawing = Lock()  # torch draws a new module's weights from a generator that all threads share


@dataclass(frozen=True)
class NullTest:
    """The original, the first draw, and for each draw the log-odds of the original's answer and whether the answer
    flips.  A replacement that is not random has one draw."""

    replacement: str
    axis: str
    before: Outcome
    after: Outcome
    log_odds: np.ndarray
    flipped: np.ndarray

    @property
    def changes(self) -> np.ndarray:
        """The change of the log-odds, [draws]."""
        return self.log_odds - self.before.log_odds


def run_null_test(
    bundle: Bundle, example, kind: str, axis: str = "key", draws: int = 30, seed: int = 0, option: int | None = None
) -> NullTest:
    """Replaces attention `draws` times, with the same draws for the same seed.

    Of several options only the traced one is run again, the others keep their scores.  Raises InputError for an unknown
    kind, or an axis that the weights do not have.
    """
    if kind not in REPLACEMENTS:
        raise InputError(f"attention cannot be replaced by {kind!r}; {choices(kind, REPLACEMENTS)}")
    axes = ("key", "context") if bundle.config.model.mechanism == "tri" else ("key",)
    if axis not in axes:
        raise InputError(f"the weights of {bundle.name} are not distributed over {axis!r}; {choices(axis, axes)}")
    if REPLACEMENTS[kind].fixed and len(axes) < 2:
        raise InputError(f"the weights of {bundle.name} are not a cube, which alone can become {kind!r}")
    query = run_query(bundle, example, option)
    draws = max(1, draws) if REPLACEMENTS[kind].is_random else 1
    batches, first = [], None
    with torch.inference_mode(), without_compilation():
        encoded = bundle.encoder(collate([query.roles], bundle.tokenizer).to(bundle.device))
        with recording() as before:
            bundle.model(encoded)
        draw = torch.Generator(bundle.device).manual_seed(seed)
        for rows in row_slices(draws, bundle, query.roles):
            numbers = range(draws)[rows]
            progress(rows.start, draws)
            change = weight_change(kind, DIMS[axis], draw, partial(_untrained_weights, bundle, encoded, numbers, seed))
            keep_site = (lambda site: True) if first is None else (lambda site: False)
            with recording(keep_site) as record, replacing(change):
                batches.append(bundle.model(repeat_encoded(encoded, len(numbers))).float().cpu())
            first = first or record
    assert first is not None  # there is at least one draw
    outputs = torch.cat(batches)
    scores, unedited = query.answer_scores(outputs), Edit(query.roles)
    start = make_outcome(query, query.scores, before, unedited)
    flipped = (scores.argmax(-1) != start.prediction.best).numpy()
    return NullTest(
        kind, axis, start, make_outcome(query, scores[0], first, unedited), query.log_odds(outputs).numpy(), flipped
    )


def weight_change(kind: str, dim: int, draw: torch.Generator, untrained_weights: Callable[[], Mapping[Site, Tensor]]):
    """The function that replaces weights, for `weight_override.replacing`."""
    if fixed := REPLACEMENTS[kind].fixed if kind in REPLACEMENTS else "":
        return replacement(fixed)
    untrained = untrained_weights() if kind == "untrained" else {}
    name = {number: axis for axis, number in DIMS.items()}[dim]

    def change(site: Site, weights: Tensor, keeps: Mapping[str, Tensor]) -> Tensor:
        keep = keeps[name].view(len(weights), *(-1 if d == dim else 1 for d in range(1, weights.ndim)))
        if kind == "uniform":
            return redistribute(weights, keep.to(weights.dtype).expand_as(weights), dim)
        if kind == "untrained":
            return redistribute(weights, untrained[site].to(weights.dtype), dim)
        if kind == "shuffled":
            return shuffle(weights, keep, dim, draw)
        raise InputError(f"attention cannot become {kind!r}: `null_replacement.weight_change` does not say how")

    return change


def redistribute(weights: Tensor, targets: Tensor, dim: int) -> Tensor:
    """Weights redistributed along a dim in proportion to `targets`; rows where those sum to 0 keep their weights."""
    total = targets.sum(dim, keepdim=True)
    shares = targets / torch.where(total > 0, total, 1.0)
    return torch.where(total > 0, weights.sum(dim, keepdim=True) * shares, weights)


def shuffle(weights: Tensor, keep: Tensor, dim: int, draw: torch.Generator) -> Tensor:
    """Weights permuted along a dim among kept positions, anew for each row, head and query; masked ones stay."""
    shape = [size if d in (0, 1, 2, dim) else 1 for d, size in enumerate(weights.shape)]
    random = torch.rand(shape, generator=draw, device=weights.device)
    order = torch.where(keep, random, 2.0).argsort(dim)  # kept ones first, in a drawn order
    slots = torch.where(keep, 0.0, 2.0).expand(shape).argsort(dim=dim, stable=True)  # kept ones first, in their own
    source = torch.empty_like(order).scatter_(dim, slots, order)
    return weights.gather(dim, source.expand_as(weights))


def _untrained_weights(bundle: Bundle, encoded, numbers: range, seed: int) -> dict[Site, Tensor]:
    """Weights [draws, …] by site of newly initialised networks on the same states."""
    weights: dict[Site, list[Tensor]] = {}
    for number in numbers:
        with _drawing, torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed + number)
            model = bundle.kind.model(bundle.config, bundle.encoder.hidden)
        with recording(keep_weights) as record:
            model.to(bundle.device).eval()(encoded)
        for site, tapped in record.sites.items():
            weights.setdefault(site, []).append(tapped.tensor)
    return {site: torch.cat(draws) for site, draws in weights.items()}
