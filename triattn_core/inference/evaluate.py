"""Metrics of checkpoints over a file of rows, in batches; memory does not grow with the file."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any

from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import DataError, InputError
from triattn_core.inference.predict import predict
from triattn_core.tasks import CHOICES

WINDOW = 2048  # rows sorted by length together
OPTIONS = {task.WORDS.lists[-1] for task in CHOICES.values()}  # fields that hold the texts one of which is right


def predictions(bundles: Sequence[Bundle], examples: Iterable, size: int = 64) -> Iterator[tuple[object, list]]:
    """Yield (example, [the answer of each bundle]) in row order, as from `predict`; the encoder reads each row once.

    Raises DataError for an example that cannot be read, ConfigError for bundles that do not share an encoder.
    """
    rows, num_done = iter(examples), 0
    rows_per_example = 8 if bundles[0].task.OUTPUTS == 1 else 1  # approximate
    error = None
    while error is None:
        window, error = _window(rows, max(1, WINDOW // rows_per_example), num_done)
        try:
            outputs = predict(bundles, window, size) if window else ()
        except InputError:
            num_readable, error = _find_unreadable(bundles[0], window, num_done)
            window = window[:num_readable]
            outputs = predict(bundles, window, size) if window else ()
        num_done += len(window)
        yield from zip(window, map(list, zip(*outputs)))
        if not window and error is None:
            return
    raise error


def _window(rows: Iterator, limit: int, num_done: int) -> tuple[list, DataError | None]:
    """The next examples, at most `limit`, and the error if one cannot be read."""
    window: list = []
    try:
        for example in islice(rows, limit):
            example.check()
            window.append(example)
    except InputError as error:
        return window, _name_error(example, num_done + len(window) + 1, error)
    except DataError as error:
        return window, error
    return window, None


def _find_unreadable(bundle: Bundle, window: Sequence, num_done: int) -> tuple[int, DataError]:
    """The index of the first example in a window that the model cannot read, and the error."""
    for i, example in enumerate(window):
        try:
            bundle.task.roles([example], bundle.tokenizer, bundle.config.limits)
        except InputError as error:
            return i, _name_error(example, num_done + i + 1, error)
    raise AssertionError("a window that cannot be read has a row that cannot be read")


def _name_error(example, number: int, error: InputError) -> DataError:
    """The error, prefixed with the example's id, or its number from 1."""
    return DataError(f"{f'row {example.id}' if example.id else f'labelled row {number}'}: {error}")


def vote(answers: Sequence[Sequence[float]]) -> list[float]:
    """The majority vote of several models' probabilities; ties are broken by mean probability.

    The returned shares sum to one and rank all options of a task that chooses among texts.
    """
    votes = [0.0] * len(answers[0])
    for scores in answers:
        votes[max(range(len(scores)), key=scores.__getitem__)] += 1
    means = [sum(column) / len(answers) for column in zip(*answers)]
    return [(count + mean) / (len(answers) + 1) for count, mean in zip(votes, means)]


def append_vote(answers: list) -> list:
    """The answers, followed by their majority vote."""
    return [*answers, vote(answers)]


def judge(
    bundles: Sequence[Bundle],
    examples: Iterable,
    report: Callable[[int], object] = lambda n: None,
    combine: Callable[[list], list] = list,
    cache: Path | None = None,
) -> Iterator[list[tuple]]:
    """Yield the task's verdicts on each labelled example, one per bundle; a verdict begins with whether it is right.

    report: called with 1 for each row.
    combine: turns the bundles' answers to a row into the answers to judge; by default all of them.
    cache: JSON Lines file with the verdicts of the first rows, which are not predicted again; new ones are appended.
    """
    verdict = bundles[0].task.verdict
    cached = [list(map(tuple, row)) for row in _rows(cache)] if cache else []
    if cached:
        report(len(cached))
    yield from cached
    remaining = islice((example for example in examples if example.label is not None), len(cached), None)
    with open(cache or os.devnull, "a", encoding="utf-8") as file:
        for example, answers in predictions(bundles, remaining):
            row = [verdict(example, answer) for answer in combine(answers)]
            file.write(json.dumps(row) + "\n")
            report(1)
            yield row


def verdicts(
    bundles: Sequence[Bundle],
    examples: Iterable,
    report: Callable[[int], object] = lambda n: None,
    cache: Path | None = None,
) -> list[list[tuple]]:
    """As `judge`, for all rows: [bundles][rows].  Raises DataError if no row has a label."""
    return by_bundle(judge(bundles, examples, report, cache=cache))


def by_bundle(rows: Iterable[list[tuple]]) -> list[list[tuple]]:
    """Transpose [rows][bundles] to [bundles][rows].  Raises DataError if there are no rows."""
    if not (rows := list(rows)):
        raise DataError("no row has a label, or an answer: nothing to measure")
    return list(map(list, zip(*rows)))


def _rows(file: Path) -> list:
    """The complete lines of a JSON Lines file; an incomplete last line is removed from the file."""
    lines = file.read_bytes().splitlines(keepends=True) if file.is_file() else []
    if lines and not lines[-1].endswith(b"\n"):
        file.write_bytes(b"".join(lines[:-1]))
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def evaluate(
    bundles: Sequence[Bundle],
    examples: Iterable,
    report: Callable[[int], object] = lambda n: None,
    cache: Path | None = None,
) -> list[dict]:
    """`{"task", "n", "metrics"}` of each bundle over the labelled examples; see `verdicts`."""
    return [score_verdicts(bundles[0].task, rows) for rows in verdicts(bundles, examples, report, cache=cache)]


def score_verdicts(task, verdicts: Sequence[tuple]) -> dict:
    """`{"task", "n", "metrics"}` of the verdicts on one bundle."""
    return {"task": task.NAME, "n": len(verdicts), "metrics": task.metrics(verdicts)}


def exclude_overlap(rows: Iterable[tuple[int, Any]], other_examples: Iterable) -> Iterator[tuple[int, Any]]:
    """The (line, example or DataError) whose texts do not occur together in any of `other_examples`, up to order, case
    and punctuation."""
    excluded = set(map(texts_of, other_examples))
    return (row for row in rows if isinstance(row[1], DataError) or texts_of(row[1]) not in excluded)


def texts_of(example) -> frozenset[str]:
    """Letters and digits of each text of an example.  Of several options only the right one counts: another file may
    list other wrong ones."""
    texts: list[str] = []
    for field in fields(example):
        value = getattr(example, field.name)
        if field.name in OPTIONS and len(value) > 1 and example.label is not None:
            value = value[example.label]
        if field.name not in ("id", "label"):
            texts += value if isinstance(value, tuple) else [value] if isinstance(value, str) else []
    return frozenset("".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold())) for text in texts)
