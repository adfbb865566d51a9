"""Is this map signal?  A model's answer with its attention replaced along one axis, over many draws.

Weights A[n,i,j] are replaced along key or context, the mass M of all else staying where it was:

    uniform     A'[n,i,j] = M[n,j] / I                         along key; M[n,j] = sum_i A[n,i,j]
    shuffled    A'[n,i,j] = A[n,s(i),j]                        a permutation s for each draw, site, head and query
                                                               (Jain and Wallace 2019, section 4.2.1)
    untrained   A'[n,i,j] = M[n,j] B[n,i,j] / sum_i B[n,i,j]   B: the weights of the same network, newly drawn

in all layers and both directions at once.  Where shuffled or untrained maps answer like the trained one, the map is no
explanation of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock

import numpy as np
import torch
from torch import Tensor

from triattn_core.analysis.asked import ask, parts, rows
from triattn_core.analysis.interventions import Edit, Outcome, outcome
from triattn_core.analysis.offered import REPLACEMENTS
from triattn_core.attention.instead import replacing
from triattn_core.attention.similarity.exponential import at_once
from triattn_core.attention.tap import recording
from triattn_core.batch import collate
from triattn_core.checkpoint import Bundle
from triattn_core.errors import InputError, choices
from triattn_core.models import kinds

DIMS = {"key": 3, "context": 4}
_drawing = Lock()  # torch draws a new module's weights from a generator that all threads share


@dataclass(frozen=True)
class Null:
    """The original, the first draw beside it, and of each draw the log-odds of the original's answer, and whether
    another answer is given.  What is not drawn is there once."""

    how: str
    axis: str
    before: Outcome
    after: Outcome
    log_odds: np.ndarray
    flipped: np.ndarray

    @property
    def changes(self) -> np.ndarray:
        """[draws] of the log-odds."""
        return self.log_odds - self.before.log_odds


def null(
    bundle: Bundle, example, how: str, axis: str = "key", draws: int = 30, seed: int = 0, option: int | None = None
) -> Null:
    """Replaces attention `draws` times, the same ones for the same seed.

    Of several options the traced one is asked anew, the others keep their scores.  Raises InputError for another way,
    or an axis that the weights do not have.
    """
    if how not in REPLACEMENTS:
        raise InputError(f"attention cannot be replaced by {how!r}; {choices(how, REPLACEMENTS)}")
    axes = ("key", "context") if bundle.config.model.mechanism == "tri" else ("key",)
    if axis not in axes:
        raise InputError(f"the weights of {bundle.name} are not shared out over {axis!r}; {choices(axis, axes)}")
    asked = ask(bundle, example, option)
    draws = max(1, draws) if REPLACEMENTS[how].drawn else 1
    found, first = [], None
    with torch.inference_mode(), at_once():
        encoded = bundle.encoder(collate([asked.roles], bundle.tokenizer).to(bundle.device))
        with recording() as before:
            bundle.model(encoded)
        draw = torch.Generator(bundle.device).manual_seed(seed)
        for at in parts(draws, bundle, asked.roles):
            numbers = range(draws)[at]
            change = _change(how, DIMS[axis], draw, lambda some=numbers: _untrained(bundle, encoded, some, seed))
            with recording(lambda site, new=first is None: new) as record, replacing(change):
                found.append(bundle.model(rows(encoded, len(numbers))).float().cpu())
            first = first or record
    outputs = torch.cat(found)
    scores, same = asked.among(outputs), Edit(asked.roles)
    start = outcome(asked, asked.scores, before, same)
    flipped = (scores.argmax(-1) != start.prediction.best).numpy()
    return Null(how, axis, start, outcome(asked, scores[0], first, same), asked.log_odds(outputs).numpy(), flipped)


def _change(how: str, dim: int, draw: torch.Generator, others: Callable[[], Mapping[str, Tensor]]):
    """The change of weights for `instead.replacing`."""
    untrained = others() if how == "untrained" else {}
    name = {number: axis for axis, number in DIMS.items()}[dim]

    def change(site: str, weights: Tensor, keeps: Mapping[str, Tensor]) -> Tensor:
        keep = keeps[name].view(len(weights), *(-1 if d == dim else 1 for d in range(1, weights.ndim)))
        if how == "uniform":
            return along(weights, keep.to(weights.dtype).expand_as(weights), dim)
        if how == "untrained":
            return along(weights, untrained[site].to(weights.dtype), dim)
        if how == "shuffled":
            return shuffled(weights, keep, dim, draw)
        raise InputError(f"attention cannot become {how!r}: `nulls._change` does not say how")

    return change


def along(weights: Tensor, others: Tensor, dim: int) -> Tensor:
    """`M others / sum others` along one dim, M the sum of the weights; where others hold nothing the weights stay."""
    total = others.sum(dim, keepdim=True)
    shares = others / torch.where(total > 0, total, 1.0)
    return torch.where(total > 0, weights.sum(dim, keepdim=True) * shares, weights)


def shuffled(weights: Tensor, keep: Tensor, dim: int, draw: torch.Generator) -> Tensor:
    """Along one dim a permutation of what is kept for each row, head and query; what is masked stays in its place."""
    shape = [size if d in (0, 1, 2, dim) else 1 for d, size in enumerate(weights.shape)]
    lots = torch.rand(shape, generator=draw, device=weights.device)
    order = torch.where(keep, lots, 2.0).argsort(dim)  # kept ones first, in a drawn order
    slots = torch.where(keep, 0.0, 2.0).expand(shape).argsort(dim=dim, stable=True)  # kept ones first, in their own
    source = torch.empty_like(order).scatter_(dim, slots, order)
    return weights.gather(dim, source.expand_as(weights))


def _untrained(bundle: Bundle, encoded, numbers: range, seed: int) -> dict[str, Tensor]:
    """Weights [draws, …] by site of newly drawn networks on the same states."""
    found: dict[str, list[Tensor]] = {}
    for number in numbers:
        with _drawing, torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed + number)
            model = kinds.build(bundle.config, bundle.encoder.hidden)
        with recording(lambda site: site.endswith("/weight")) as record:
            model.to(bundle.device).eval()(encoded)
        for site, tapped in record.sites.items():
            found.setdefault(site, []).append(tapped.tensor)
    return {site: torch.cat(some) for site, some in found.items()}
