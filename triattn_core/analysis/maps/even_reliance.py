"""Reliance of a model on attention: its metric minus that with even weights, on the same rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any

import numpy as np

from triattn_core.analysis.score_test import paired_test
from triattn_core.analysis.significance import mcnemar
from triattn_core.attention.weight_override import even_scores
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import InputError
from triattn_core.inference.evaluate import verdicts
from triattn_core.tasks.task import FileScoreTask

NOTHING: Mapping[str, AbstractContextManager] = MappingProxyType({})


def measure_even_reliance(
    bundle: Bundle,
    examples: Sequence,
    progress: Callable[[int], object] = lambda n: None,
    others: Mapping[str, AbstractContextManager] = NOTHING,
) -> dict[str, Any]:
    """{"n", "metric", "score", "reliance": {"even": `points_lost`}}; others: further replacements, by name.

    All relevances of MTSA, multi-head blocks, COIN and readers are replaced by zero, so that each token attends evenly
    to its unmasked keys.  Pooling, answer pointers and decoders are unchanged.
    Raises InputError for a model whose weights cannot be replaced; DataError if no row has a label.
    """
    examples = [example for example in examples if example.label is not None]
    (trained,) = verdicts([bundle], examples, progress)
    with even_scores() as num_replaced:
        (even,) = verdicts([bundle], examples)
    if not num_replaced[0]:
        raise InputError(f"{bundle.name}: the weights of {bundle.config.model.mechanism} cannot be replaced")
    metric, score = next(iter(bundle.task.metrics(trained).items()))
    reliance = {"even": points_lost(bundle.task, trained, even)}
    for name, replaced in others.items():
        with replaced:
            (changed,) = verdicts([bundle], examples)
        reliance[name] = points_lost(bundle.task, trained, changed)
    return {"n": len(trained), "metric": metric, "score": score, "reliance": reliance}


def points_lost(task: Any, own: Sequence[tuple], replaced: Sequence[tuple]) -> dict[str, float]:
    """{"points", "p"} of two lists of verdicts on the same rows: the metric of the first less that of the second.

    p is that of McNemar's test; of a score of the whole file that of approximate randomisation (`score_test`), with
    "low" and "high", the ends of its 95 % interval.
    """
    if isinstance(task, FileScoreTask):
        first, second = (np.array([task.counts(row) for row in rows], float)[None] for rows in (replaced, own))
        points, low, high, p = paired_test(first, second, task.score)
        return {"points": round(points, 2), "p": p, "low": round(low, 2), "high": round(high, 2)}
    scores = [next(iter(task.metrics(rows).values())) for rows in (own, replaced)]
    (difference,) = mcnemar(["even", "own"], [[row[0] for row in replaced], [row[0] for row in own]])
    return {"points": round(scores[0] - scores[1], 2), "p": difference.p}
