"""Reliance of MTSA, COIN and the readers on attention: their metric minus that with even weights, on the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from triattn_core.analysis.significance import mcnemar
from triattn_core.attention.weight_override import even_scores
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import InputError
from triattn_core.inference.evaluate import verdicts


def measure_even_reliance(
    bundle: Bundle, examples: Sequence, progress: Callable[[int], object] = lambda n: None
) -> dict:
    """{"n", "metric", "score", "reliance": {"even": {"points", "p"}}}, where p is that of McNemar's test over the rows.

    All relevances are replaced by zero, so that each token attends evenly to its unmasked keys.  Pooling and answer
    pointers are unchanged.
    Raises InputError for a model whose weights cannot be replaced; DataError if no row has a label.
    """
    examples = [example for example in examples if example.label is not None]
    (trained,) = verdicts([bundle], examples, progress)
    with even_scores() as num_replaced:
        (even,) = verdicts([bundle], examples)
    if not num_replaced[0]:
        raise InputError(f"{bundle.name}: the weights of {bundle.config.model.mechanism} cannot be replaced")
    metric, score = next(iter(bundle.task.metrics(trained).items()))
    points = score - bundle.task.metrics(even)[metric]
    (difference,) = mcnemar(["even", "own"], [[row[0] for row in even], [row[0] for row in trained]])
    reliance = {"even": {"points": round(points, 2), "p": difference.p}}
    return {"n": len(trained), "metric": metric, "score": score, "reliance": reliance}
