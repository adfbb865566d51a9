"""Laboratory models over rows whose truth is known: answers, the weights they come from, and measures of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from torch import Tensor

from triattn_core.analysis.truth import mean_measures, measures, quadrants, truth_mask
from triattn_core.attention.tap import Record, keep_weights, recording
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import ConfigError, DataError, choices
from triattn_core.inference.batch import Batch, TextBatch, collate
from triattn_core.tasks.laboratory import LABORATORY, Example

SET = "laboratory:"  # before the name of a set: its task's name follows
SIZE = 256  # rows of a batch
CELLS = ("mass", "even_share", "hit_at_1", "average_precision")  # measures that are shares: written in per cent


def rows_of(name: str, seed: int, rows: int, size: int | None = None) -> Iterator[Example]:
    """Rows of a laboratory task, at its own size or another.  Raises DataError for an unknown one."""
    if name not in LABORATORY:
        raise DataError(f"unknown laboratory task {name!r}; {choices(name, LABORATORY)}")
    return LABORATORY[name].at_size(size).generate(seed, rows)


def weights_of(bundle: Bundle, examples: Sequence[Example]) -> tuple[Tensor, np.ndarray]:
    """Logits [B, outputs] and the weights [B, …] that the answer's token gives in the last layer, mean over heads.

    […] is [I, J] of Tri-Attention, [I] of C-Bi, [1 + I + J] of joint Bi: query, keys, context.
    """
    (roles, *_) = zip(*bundle.task.roles(examples, bundle.tokenizer, bundle.config.limits))
    return weights_of_batch(bundle.logits, collate(roles, bundle.tokenizer))


def weights_of_batch(
    logits: Callable[[Batch | TextBatch], Tensor], batch: Batch | TextBatch
) -> tuple[Tensor, np.ndarray]:
    """As `weights_of`, of a batch."""
    with recording(keep_weights) as record:
        outputs = logits(batch)
    return outputs, answer_weights(record)


def answer_weights(record: Record) -> np.ndarray:
    """The query's weights [B, …] of the last recorded layer, mean over heads."""
    (*_, tapped) = record.sites.values()
    return tapped.tensor.float().mean(1)[:, 0].cpu().numpy()


def evaluate_laboratory(
    bundle: Bundle, examples: Iterable[Example], progress: Callable[[int], object] = lambda n: None
) -> dict:
    """`{"n", "metrics", "quadrants"}`: accuracy in per cent, and the measures of `analysis.truth` over the rows that
    have a true cell.

    mass, even_share, hit_at_1 and average_precision are in per cent.  Two-way weights are measured against the truth's
    marginals: these numbers are not comparable with those of Tri-Attention.  Raises ConfigError for a checkpoint of
    another kind.
    """
    if not bundle.kind.generates_rows:
        raise ConfigError(f"{bundle.name} is no laboratory model: give it a file of its task's rows")
    measured, looked, right, rights = [], [], [], []
    rows = iter(examples)
    while window := list(islice(rows, SIZE)):
        for size in sorted({(len(example.keys), len(example.context)) for example in window}):
            batch = [example for example in window if (len(example.keys), len(example.context)) == size]
            logits, weights = weights_of(bundle, batch)
            for example, answer, map_ in zip(batch, logits.argmax(-1).tolist(), weights):
                rights.append(answer == example.label)
                if example.truth:
                    measured.append(measures(map_, truth_mask(example, map_.shape), bundle.task.cells(map_.shape)))
                    looked.append(measured[-1]["hit_at_1"] == 1)
                    right.append(rights[-1])
        progress(len(window))
    if not rights:
        raise DataError("no rows: nothing to measure")
    means = {name: round(value * (100 if name in CELLS else 1), 2) for name, value in mean_measures(measured).items()}
    metrics = {"accuracy": round(100 * sum(rights) / len(rights), 2), **means}
    shares = {name: round(100 * share, 2) for name, share in quadrants(right, looked).items()} if measured else {}
    return {"n": len(rights), "metrics": metrics, "quadrants": shares}
