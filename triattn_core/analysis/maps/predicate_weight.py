"""Whether a tagger's heads look at the predicate: its weight from words inside and from words outside its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from triattn_core.analysis.maps.even_reliance import measure_even_reliance
from triattn_core.analysis.maps.predicate_shares import ROLES, PredicateShares
from triattn_core.attention.tap import Record, recording
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import DataError, InputError
from triattn_core.inference.predict import batch_by_length
from triattn_core.trace.aggregation import MASK
from triattn_core.trace.site import Site


def measure_predicate_weight(
    bundle: Bundle, examples: Sequence, progress: Callable[[int], object] = lambda count: None
) -> dict[str, Any]:
    """{"n", "metric", "score", "reliance", "predicate": rows of `PredicateShares`}.

    inside, outside: the mean weight on the predicate from the words inside its arguments, and from the other words; of
    the words that the head's mask lets attend to it.  even, even_outside: what even weights would give.
    Raises InputError for a model without two-way weights, DataError if no row has tags.
    """
    labelled = [example for example in examples if example.label is not None]
    if not labelled:
        raise DataError("no row has tags: nothing to measure")
    heads = predicate_weights(bundle, labelled, progress)
    return {**measure_even_reliance(bundle, labelled), "predicate": heads}


def predicate_weights(
    bundle: Bundle, examples: Sequence, progress: Callable[[int], object] = lambda count: None
) -> list[dict[str, Any]]:
    """The means of `measure_predicate_weight` for each layer and head, both from 0.  Raises InputError."""
    shares = PredicateShares()
    texts = [rows[0] for rows in bundle.task.roles(examples, bundle.tokenizer, bundle.config.limits)]
    for indices in batch_by_length([text.length for text in texts], 64):
        with recording(lambda site: site.role in (*ROLES, MASK)) as record, torch.inference_mode():
            bundle.logits(bundle.batch([texts[i] for i in indices]))
        for layer, weights, visible in _layers(record):
            for row, i in enumerate(indices):
                shares.add(layer, weights[row], visible[row], examples[i].predicate, examples[i].label)
        progress(len(indices))
    if not shares.sums:
        raise InputError(f"{bundle.name}: {bundle.config.model.mechanism} has no weights of word to word")
    return shares.rows()


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
