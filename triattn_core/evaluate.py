"""Metrics of a checkpoint over a file of rows, in batches; memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from triattn_core.checkpoint import Bundle, probabilities
from triattn_core.errors import DataError, InputError

WINDOW = 2048  # examples sorted by length together


def predictions(bundle: Bundle, examples: Iterable, size: int = 64) -> Iterator[tuple[object, list[float]]]:
    """(example, probabilities) in the order of the rows. Raises InputError for an example that cannot be read."""
    rows = iter(examples)
    while window := list(islice(rows, WINDOW)):
        for example in window:
            try:
                example.check()
            except InputError as error:
                raise DataError(f"row {example.id or example}: {error}") from None
        found = dict(probabilities(bundle, window, size))
        yield from ((example, found[i]) for i, example in enumerate(window))


def evaluate(bundle: Bundle, examples: Iterable, said: Callable[[int], None] = lambda n: None) -> dict:
    """`{"task", "n", "metrics"}` over the examples that have a label; `said(1)` is called for each row.

    Raises DataError where no row has a label.
    """
    gold, predicted = [], []
    for example, probability in predictions(bundle, (e for e in examples if e.label is not None)):
        gold.append(example.label)
        predicted.append(max(range(len(probability)), key=probability.__getitem__))
        said(1)
    if not gold:
        raise DataError("no row has a label: nothing to measure")
    return {"task": bundle.config.task, "n": len(gold), "metrics": bundle.task.metrics(gold, predicted)}
