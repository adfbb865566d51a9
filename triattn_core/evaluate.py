"""Metrics of checkpoints over a file of rows, in batches; memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from triattn_core.checkpoint import Bundle, probabilities
from triattn_core.errors import DataError, InputError

WINDOW = 2048  # examples sorted by length together


def predictions(
    bundles: Sequence[Bundle], examples: Iterable, size: int = 64
) -> Iterator[tuple[object, list[list[float]]]]:
    """(example, probabilities of each bundle) in the order of the rows; the shared encoder reads each row once.

    Raises DataError for an example that cannot be read, ConfigError for bundles that do not share an encoder.
    """
    rows, before = iter(examples), 0
    while window := list(islice(rows, WINDOW)):
        try:
            for example in window:
                example.check()
            found = dict(probabilities(bundles, window, size))
        except InputError:
            raise _unreadable(bundles[0], window, before) from None
        before += len(window)
        yield from ((example, found[i]) for i, example in enumerate(window))


def _unreadable(bundle: Bundle, window: Sequence, before: int) -> DataError:
    """The first example of a window that the model cannot read, by its id, or its number from 1."""
    for number, example in enumerate(window, before + 1):
        try:
            example.check()
            bundle.task.roles([example], bundle.tokenizer, bundle.config.max_tokens)
        except InputError as error:
            return DataError(f"row {example.id or number}: {error}")
    raise AssertionError("a window that cannot be read has a row that cannot be read")


def answers(
    bundles: Sequence[Bundle], examples: Iterable, said: Callable[[int], None] = lambda n: None
) -> tuple[list[int], list[list[int]]]:
    """The labels [rows] of the examples that have one, and what each bundle answers [bundles][rows].

    `said(1)` is called for each row. Raises DataError where no row has a label.
    """
    gold: list[int] = []
    answered: list[list[int]] = [[] for _ in bundles]
    for example, found in predictions(bundles, (e for e in examples if e.label is not None)):
        gold.append(example.label)
        for answer, probability in zip(answered, found):
            answer.append(max(range(len(probability)), key=probability.__getitem__))
        said(1)
    if not gold:
        raise DataError("no row has a label, in a field 'label': nothing to measure")
    return gold, answered


def evaluate(
    bundles: Sequence[Bundle], examples: Iterable, said: Callable[[int], None] = lambda n: None
) -> list[dict]:
    """`{"task", "n", "metrics"}` of each bundle over the examples that have a label; see `answers`."""
    gold, answered = answers(bundles, examples, said)
    task = bundles[0].task
    return [{"task": task.NAME, "n": len(gold), "metrics": task.metrics(gold, answer)} for answer in answered]
