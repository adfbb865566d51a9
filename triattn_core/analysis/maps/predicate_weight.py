"""Whether a tagger's heads look at the predicate: its weight from words inside and from words outside its arguments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from triattn_core.analysis.maps.even_reliance import measure_even_reliance
from triattn_core.attention.tap import Record, recording
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import DataError, InputError
from triattn_core.inference.predict import batch_by_length
from triattn_core.tasks.roles import arguments
from triattn_core.trace.aggregation import MASK
from triattn_core.trace.site import Site

ROLES = ("token2token", "")  # of the weights of MTSA and of multi-head attention
SIDES = ("outside", "inside")


def measure_predicate_weight(
    bundle: Bundle, examples: Sequence, progress: Callable[[int], object] = lambda count: None
) -> dict[str, Any]:
    """{"n", "metric", "score", "reliance", "predicate": [{"layer", "head", "inside", "outside", "even"}]}.

    inside, outside: the mean weight on the predicate from the words inside its arguments, and from the other words; of
    the words that the head's mask lets attend to it.  even: what even weights would give, from inside.
    Raises InputError for a model without two-way weights, DataError if no row has tags.
    """
    labelled = [example for example in examples if example.label is not None]
    if not labelled:
        raise DataError("no row has tags: nothing to measure")
    heads = predicate_weights(bundle, labelled, progress)
    try:
        report = measure_even_reliance(bundle, labelled)
    except InputError:  # multi-head weights cannot be made even
        score = {"n": len(labelled), "metric": "f1", "score": bundle.metrics.get("dev", {}).get("f1")}
        report = {**score, "reliance": {}}
    return {**report, "predicate": heads}


def predicate_weights(
    bundle: Bundle, examples: Sequence, progress: Callable[[int], object] = lambda count: None
) -> list[dict[str, Any]]:
    """The means of `measure_predicate_weight` for each layer and head, both from 0.  Raises InputError."""
    sums: dict[tuple[int, int, str], np.ndarray] = defaultdict(lambda: np.zeros(3))  # weight, even weight, words
    texts = [rows[0] for rows in bundle.task.roles(examples, bundle.tokenizer, bundle.config.limits)]
    for indices in batch_by_length([text.length for text in texts], 64):
        with recording(lambda site: site.role in (*ROLES, MASK)) as record, torch.inference_mode():
            bundle.logits(bundle.batch([texts[i] for i in indices]))
        for layer, weights, visible in _layers(record):
            for row, i in enumerate(indices):
                _add(sums, layer, weights[row], visible[row], examples[i])
        progress(len(indices))
    if not sums:
        raise InputError(f"{bundle.name}: {bundle.config.model.mechanism} has no weights of word to word")
    found = []
    for layer, head in sorted({(layer, head) for layer, head, _ in sums}):
        outside, inside = (sums[layer, head, side] for side in SIDES)
        means = {"inside": inside[0] / max(1, inside[2]), "outside": outside[0] / max(1, outside[2])}
        means["even"] = inside[1] / max(1, inside[2])
        found.append({"layer": layer, "head": head, **{name: round(float(mean), 4) for name, mean in means.items()}})
    return found


def _layers(record: Record) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """(layer, weights, visible) of each layer with two-way weights: [B, head, query, key], and whether the mask lets
    the query attend to the key."""
    for site, tapped in record.sites.items():
        if site.role not in ROLES or site.quantity != "weight" or site.layer is None:
            continue
        weights = tapped.tensor.float().cpu().numpy()
        mask = record.sites.get(Site(layer=site.layer, role=MASK, quantity="contribution"))
        visible = np.ones(weights.shape, bool) if mask is None else np.isfinite(mask.tensor.cpu().numpy())
        yield site.layer, weights, visible


def _add(
    sums: Mapping[tuple[int, int, str], np.ndarray], layer: int, weights: np.ndarray, visible: np.ndarray, example: Any
) -> None:
    count, predicate = len(example.words), example.predicate
    inside = np.zeros(count, bool)
    for _, spans in arguments(example.label):
        for start, end in spans:
            inside[start:end] = True
    visible = visible[:, :count, :count]
    others = np.arange(count) != predicate
    for head, head_weights in enumerate(weights):
        seen = visible[head, :, predicate] & others
        for side in (0, 1):
            words = seen & (inside == bool(side))
            even = 1 / np.maximum(1, visible[head].sum(-1)[words])
            values = head_weights[:count, predicate][words]
            sums[layer, head, SIDES[side]] += (values.sum(), even.sum(), words.sum())
