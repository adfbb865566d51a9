"""Do attribution methods find what is known to be there?  The app's attribution methods and null replacements, tried on
laboratory rows.

A method has found a row's key (or context token, or both at once) where the token it scores highest is one that carries
the answer.  Scores are of embedded tokens, for the log-odds of the right answer; the baseline is a zero vector.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

import numpy as np
import torch
from torch import Tensor

from triattn_core.analysis.attribution.estimators import gradient_times_input, integrated_gradients, occlusion
from triattn_core.analysis.intervention.null_replacement import redistribute, shuffle
from triattn_core.attention.fixed_weights import replacement
from triattn_core.attention.states import States
from triattn_core.attention.tap import keep_weights, recording
from triattn_core.attention.weight_override import replacing
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.inference.batch import collate
from triattn_core.inference.laboratory import weights_of
from triattn_core.models.laboratory import LaboratoryModel
from triattn_core.tasks.laboratory import Example
from triattn_core.text.roles import ROLES
from triattn_core.trace.site import Site

STEPS = 32  # of the path of integrated gradients
Scores = Mapping[str, np.ndarray]  # by role, a number a token


class Row:
    """One row's embedded tokens, and the log-odds of its right answer as a function of them."""

    def __init__(self, bundle: Bundle, example: Example):
        self.bundle, self.example, self.model = bundle, example, cast(LaboratoryModel, bundle.model)
        ((roles,),) = bundle.task.roles([example], bundle.tokenizer, bundle.config.limits)
        self.batch = collate([roles], bundle.tokenizer).to(bundle.device)
        self.states = {name: self.model.embed(getattr(self.batch, name)) for name in ROLES}
        self.vectors = {name: states.vectors[0].detach() for name, states in self.states.items()}
        self.baseline = {name: torch.zeros_like(vectors) for name, vectors in self.vectors.items()}

    def score(self, vectors: Mapping[str, Tensor], keeps: Mapping[str, Tensor] | None = None) -> Tensor:
        """Log-odds [V] of variants: by role vectors [V, n, h], and which tokens are there [V, n], by default all."""
        count = len(vectors["query"])
        usual = {name: states.keep.expand(count, -1) for name, states in self.states.items()}
        keeps = usual | dict(keeps or {})
        logits = self.model.read_out(*(States(vectors[name], keeps[name]) for name in ROLES))
        other_labels = torch.arange(logits.shape[1], device=logits.device) != self.example.label
        return logits[:, self.example.label] - logits[:, other_labels].logsumexp(1)


def leave_one_out(row: Row) -> Scores:
    """The drop of the log-odds without each key and each context token, by role."""
    drops = {}
    with torch.inference_mode():
        original = row.score({name: vectors[None] for name, vectors in row.vectors.items()})
        for role in ROLES[1:]:
            size = len(row.vectors[role])
            variants = {name: vectors.expand(size, -1, -1) for name, vectors in row.vectors.items()}
            keep = ~torch.eye(size, dtype=torch.bool, device=original.device)
            drops[role] = (original - row.score(variants, {role: keep})).cpu().numpy()
    return drops


def attention(row: Row) -> Scores:
    """The weight that the query gives each token in the last layer, mean over heads; C-Bi gives the context none."""
    with torch.inference_mode():
        (weights,) = weights_of(row.bundle, [row.example])[1]
    if weights.ndim == 2:
        return {"key": weights.sum(1), "context": weights.sum(0)}
    size = len(row.example.keys)
    return {"key": weights} if len(weights) == size else _joint(weights, size)


def rollout(row: Row) -> Scores:
    """Attention multiplied through the layers with half of each token kept (Abnar and Zuidema 2020); of one layer it
    ranks tokens as attention does."""
    if len(row.model.layers) == 1:
        return attention(row)
    with torch.inference_mode(), recording(keep_weights) as record:
        row.bundle.logits(row.batch)
    layers = [tapped.tensor[0].double().mean(0).cpu().numpy() for tapped in record.sites.values()]
    mass = np.eye(len(layers[0]))
    for weights in layers:
        mass = (weights + np.eye(len(weights))) / 2 @ mass
    return _joint(mass[0], len(row.example.keys))


def _joint(weights: np.ndarray, keys: int) -> Scores:
    """Of weights [1 + I + J] over query, keys and context."""
    return {"key": weights[1 : 1 + keys], "context": weights[1 + keys :]}


METHODS: Mapping[str, Callable[[Row], Scores]] = {
    "integrated gradients": lambda row: integrated_gradients(row.score, row.vectors, row.baseline, STEPS)[0],
    "gradient × input": lambda row: gradient_times_input(row.score, row.vectors),
    "occlusion": lambda row: occlusion(row.score, row.vectors, row.baseline),
    "leave-one-out": leave_one_out,
    "attention": attention,
    "rollout": rollout,
}


def hits_truth(scores: Scores, example: Example) -> dict[str, bool]:
    """Whether the highest score of the keys, of the context tokens, and both at once, are those of a true cell."""
    best = [int(np.argmax(scores[role])) for role in ROLES[1:] if role in scores]
    hits = {
        role: any(cell[i] == place for cell in example.truth) for i, (role, place) in enumerate(zip(ROLES[1:], best))
    }
    return hits | ({"pair": tuple(best) in example.truth} if len(best) == 2 else {})


def truth_found(
    bundle: Bundle, examples: Sequence[Example], progress: Callable[[int], object] = lambda n: None
) -> dict[str, dict[str, float]]:
    """By method and by "chance", the share of rows, in per cent, of which it finds `key`, `context` and the `pair`.

    Rows without a right answer or a true cell are left out; of C-Bi attention says nothing of the context.
    """
    rows = [example for example in examples if example.truth and example.label is not None]
    shares: dict[str, list[Mapping[str, float]]] = {name: [] for name in (*METHODS, "chance")}
    for example in rows:
        row = Row(bundle, example)
        for name, method in METHODS.items():
            shares[name].append(hits_truth(method(row), example))
        shares["chance"].append(_chance(example))
        progress(1)
    return {
        name: {role: round(100 * float(np.mean([share[role] for share in of_rows])), 2) for role in of_rows[0]}
        for name, of_rows in shares.items()
        if of_rows
    }


def _chance(example: Example) -> dict[str, float]:
    """Of naming a key, a context token and a pair that carry the answer, at random."""
    keys, context = len(example.keys), len(example.context)
    places = [len({cell[i] for cell in example.truth}) for i in (0, 1)]
    return {"key": places[0] / keys, "context": places[1] / context, "pair": len(example.truth) / (keys * context)}


def accuracy_with_replaced(bundle: Bundle, examples: Sequence[Example], seed: int = 1) -> dict[str, float]:
    """Accuracy in per cent as trained, and with all weights replaced: even, shuffled among keys and among context
    tokens, and those of the same model untrained; of a cube also by the product of its marginals, which takes nothing
    away where the weight is on one cell."""
    rows = [example for example in examples if example.label is not None]
    labels = torch.tensor([example.label for example in rows], device=bundle.device)
    draw = torch.Generator(bundle.device).manual_seed(seed)
    (roles, *_) = zip(*bundle.task.roles(rows, bundle.tokenizer, bundle.config.limits))
    with torch.inference_mode(), recording(keep_weights) as record:
        bundle.untrained(seed=1).logits(collate(roles, bundle.tokenizer))
    untrained_weights = {site: tapped.tensor for site, tapped in record.sites.items()}

    def accuracy(change: Callable[..., Tensor]) -> float:
        with torch.inference_mode(), replacing(change):
            answers = weights_of(bundle, rows)[0].argmax(-1)
        return round(100 * float((answers == labels).double().mean()), 2)

    product = replacement("product_of_marginals")
    return {
        "as trained": accuracy(lambda site, weights, keeps: weights),
        "even": accuracy(_even_weights),
        "shuffled": accuracy(partial(_shuffled_weights, draw)),
        "untrained": accuracy(lambda site, weights, keeps: untrained_weights[site].to(weights)),
    } | ({"product of marginals": accuracy(product)} if bundle.config.model.mechanism == "tri" else {})


def _even_weights(site: Site, weights: Tensor, keeps: Mapping[str, Tensor]) -> Tensor:
    for dim in range(3, weights.ndim):
        weights = redistribute(weights, torch.ones_like(weights), dim)
    return weights


def _shuffled_weights(draw: torch.Generator, site: Site, weights: Tensor, keeps: Mapping[str, Tensor]) -> Tensor:
    for dim in range(3, weights.ndim):
        shape = [size if d == dim else 1 for d, size in enumerate(weights.shape)]
        weights = shuffle(weights, torch.ones(shape, dtype=torch.bool, device=weights.device), dim, draw)
    return weights


def try_instruments(
    bundle: Bundle, examples: Sequence[Example], progress: Callable[[int], object] = lambda n: None
) -> dict:
    """`{"n", "trained", "untrained", "accuracy"}`: `truth_found` of the model and of the same model untrained, and
    `accuracy_with_replaced`.  progress: told of each row that a method was tried on."""
    rows = list(examples)
    return {
        "n": len(rows),
        "trained": truth_found(bundle, rows, progress),
        "untrained": truth_found(bundle.untrained(seed=1), rows, progress),
        "accuracy": accuracy_with_replaced(bundle, rows),
    }
