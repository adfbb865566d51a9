"""Metrics of checkpoints over a file of rows, in batches; memory does not grow with the file."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import islice

from triattn_core.checkpoint import Bundle, probabilities
from triattn_core.errors import DataError, InputError
from triattn_core.spans import answers as read

WINDOW = 2048  # rows sorted by length together


def predictions(
    bundles: Sequence[Bundle], examples: Iterable, size: int = 64
) -> Iterator[tuple[object, list[list[float]]]]:
    """(example, probabilities, or spans, of each bundle) in the order of the rows; the encoder reads each row once.

    Raises DataError for an example that cannot be read, ConfigError for bundles that do not share an encoder.
    """
    rows, before = iter(examples), 0
    several = 8 if bundles[0].task.OUTPUTS == 1 else 1  # rows of an example, about
    ask = read if bundles[0].config.kind == "reader" else probabilities
    while window := list(islice(rows, max(1, WINDOW // several))):
        try:
            for example in window:
                example.check()
            found = ask(bundles, window, size)
        except InputError:
            raise _unreadable(bundles[0], window, before) from None
        before += len(window)
        yield from zip(window, map(list, zip(*found)))


def _unreadable(bundle: Bundle, window: Sequence, before: int) -> DataError:
    """The first example of a window that the model cannot read, by its id, or its number from 1."""
    for number, example in enumerate(window, before + 1):
        try:
            example.check()
            bundle.task.roles([example], bundle.tokenizer, bundle.config.limits)
        except InputError as error:
            return DataError(f"row {example.id or number}: {error}")
    raise AssertionError("a window that cannot be read has a row that cannot be read")


def verdicts(
    bundles: Sequence[Bundle], examples: Iterable, said: Callable[[int], None] = lambda n: None
) -> list[list[tuple]]:
    """What the task says of each answer, [bundles][rows], first whether it is right; of examples that have a label.

    `said(1)` is called for each row. Raises DataError where no row has a label.
    """
    verdict = bundles[0].task.verdict
    found: list[list[tuple]] = [[] for _ in bundles]
    for example, answers in predictions(bundles, (e for e in examples if e.label is not None)):
        for one, answer in zip(found, answers):
            one.append(verdict(example, answer))
        said(1)
    if not found[0]:
        raise DataError("no row has a label, or an answer: nothing to measure")
    return found


def evaluate(
    bundles: Sequence[Bundle], examples: Iterable, said: Callable[[int], None] = lambda n: None
) -> list[dict]:
    """`{"task", "n", "metrics"}` of each bundle over the examples that have a label; see `verdicts`."""
    return [measured(bundles[0].task, one) for one in verdicts(bundles, examples, said)]


def measured(task, found: Sequence[tuple]) -> dict:
    """`{"task", "n", "metrics"}` of the verdicts on one bundle's answers."""
    return {"task": task.NAME, "n": len(found), "metrics": task.metrics(found)}


def apart(examples: Iterable, others: Iterable) -> Iterator:
    """The examples whose texts are not together in one of `others` too, in whatever order, case and punctuation."""
    known = {texts_of(one) for one in others}
    return (one for one in examples if texts_of(one) not in known)


def texts_of(example) -> frozenset[str]:
    """Letters and digits of each text of an example: of its fields those that are text, or several."""
    found = (getattr(example, field.name) for field in fields(example) if field.name != "id")
    texts = (text for one in found for text in (one if isinstance(one, tuple) else (one,)) if isinstance(text, str))
    return frozenset("".join(filter(str.isalnum, unicodedata.normalize("NFKC", one).casefold())) for one in texts)
