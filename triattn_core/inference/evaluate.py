"""Metrics of checkpoints over a file of rows, in batches; memory does not grow with the file."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path

from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import DataError, InputError
from triattn_core.inference.predict import probabilities
from triattn_core.inference.span_decoding import decode_answers as read
from triattn_core.tasks import CHOICES

WINDOW = 2048  # rows sorted by length together
OPTIONS = {task.WORDS.lists[-1] for task in CHOICES.values()}  # fields that hold the texts one of which is right


def predictions(
    bundles: Sequence[Bundle], examples: Iterable, size: int = 64
) -> Iterator[tuple[object, list[list[float]]]]:
    """(example, probabilities, or spans, of each bundle) in the order of the rows; the encoder reads each row once.

    Raises DataError for an example that cannot be read, ConfigError for bundles that do not share an encoder.
    """
    rows, before = iter(examples), 0
    several = 8 if bundles[0].task.OUTPUTS == 1 else 1  # rows of an example, about
    ask = read if bundles[0].config.kind == "reader" else probabilities
    trouble = None
    while trouble is None:
        window, trouble = _window(rows, max(1, WINDOW // several), before)
        try:
            found = ask(bundles, window, size) if window else ()
        except InputError:
            good, trouble = _unreadable(bundles[0], window, before)
            window = window[:good]
            found = ask(bundles, window, size) if window else ()
        before += len(window)
        yield from zip(window, map(list, zip(*found)))
        if not window and trouble is None:
            return
    raise trouble


def _window(rows: Iterator, most: int, before: int) -> tuple[list, DataError | None]:
    """The next examples, at most so many, and why there are no more, where one cannot be read."""
    window: list = []
    try:
        for example in islice(rows, most):
            example.check()
            window.append(example)
    except InputError as error:
        return window, _named(example, before + len(window) + 1, error)
    except DataError as error:
        return window, error
    return window, None


def _unreadable(bundle: Bundle, window: Sequence, before: int) -> tuple[int, DataError]:
    """The first example of a window that the model cannot read: how many are before it, and why."""
    for i, example in enumerate(window):
        try:
            bundle.task.roles([example], bundle.tokenizer, bundle.config.limits)
        except InputError as error:
            return i, _named(example, before + i + 1, error)
    raise AssertionError("a window that cannot be read has a row that cannot be read")


def _named(example, number: int, error: InputError) -> DataError:
    """By the example's id, or its number from 1."""
    return DataError(f"{f'row {example.id}' if example.id else f'labelled row {number}'}: {error}")


def vote(answers: Sequence[Sequence[float]]) -> list[float]:
    """One answer of several models' probabilities, each of which has a vote; the mean probability settles a tie.

    The shares sum to one, and rank all options of a task that chooses among texts.
    """
    votes = [0.0] * len(answers[0])
    for one in answers:
        votes[max(range(len(one)), key=one.__getitem__)] += 1
    means = [sum(column) / len(answers) for column in zip(*answers)]
    return [(count + mean) / (len(answers) + 1) for count, mean in zip(votes, means)]


def voted(answers: list) -> list:
    """The answers, and after them their majority vote."""
    return [*answers, vote(answers)]


def judge(
    bundles: Sequence[Bundle],
    examples: Iterable,
    said: Callable[[int], None] = lambda n: None,
    joined: Callable[[list], list] = list,
    kept: Path | None = None,
) -> Iterator[list[tuple]]:
    """Row by row what the task says of each answer, [bundles], first whether it is right; of examples with a label.

    joined: what is judged, of the bundles' answers to a row: by default each.  kept: JSON Lines of what was said of the
    first rows, which are not asked again; the others are added.  `said(1)` is called for each row.
    """
    verdict = bundles[0].task.verdict
    before = [[tuple(one) for one in row] for row in _rows(kept)] if kept else []
    if before:
        said(len(before))
    yield from before
    rest = islice((one for one in examples if one.label is not None), len(before), None)
    with open(kept or os.devnull, "a", encoding="utf-8") as file:
        for example, answers in predictions(bundles, rest):
            found = [verdict(example, answer) for answer in joined(answers)]
            file.write(json.dumps(found) + "\n")
            said(1)
            yield found


def verdicts(
    bundles: Sequence[Bundle],
    examples: Iterable,
    said: Callable[[int], None] = lambda n: None,
    kept: Path | None = None,
) -> list[list[tuple]]:
    """As `judge`, all rows at once, [bundles][rows].  Raises DataError where no row has a label."""
    return by_bundle(judge(bundles, examples, said, kept=kept))


def by_bundle(rows: Iterable[list[tuple]]) -> list[list[tuple]]:
    """[rows][bundles] turned round.  Raises DataError where there is no row."""
    if not (rows := list(rows)):
        raise DataError("no row has a label, or an answer: nothing to measure")
    return list(map(list, zip(*rows)))


def _rows(file: Path) -> list:
    """The whole lines of JSON Lines; a last one that a stop has cut is taken off the file."""
    lines = file.read_bytes().splitlines(keepends=True) if file.is_file() else []
    if lines and not lines[-1].endswith(b"\n"):
        file.write_bytes(b"".join(lines[:-1]))
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def evaluate(
    bundles: Sequence[Bundle],
    examples: Iterable,
    said: Callable[[int], None] = lambda n: None,
    kept: Path | None = None,
) -> list[dict]:
    """`{"task", "n", "metrics"}` of each bundle over the examples that have a label; see `verdicts`."""
    return [measured(bundles[0].task, one) for one in verdicts(bundles, examples, said, kept=kept)]


def measured(task, found: Sequence[tuple]) -> dict:
    """`{"task", "n", "metrics"}` of the verdicts on one bundle's answers."""
    return {"task": task.NAME, "n": len(found), "metrics": task.metrics(found)}


def exclude_overlap(examples: Iterable, others: Iterable) -> Iterator:
    """The examples whose texts are not together in one of `others` too, in whatever order, case and punctuation."""
    known = {texts_of(one) for one in others}
    return (one for one in examples if texts_of(one) not in known)


def texts_of(example) -> frozenset[str]:
    """Letters and digits of each text of an example; of texts that are chosen among, the right one alone, for another
    file may offer others beside it."""
    texts: list[str] = []
    for field in fields(example):
        value = getattr(example, field.name)
        if field.name in OPTIONS and len(value) > 1 and example.label is not None:
            value = value[example.label]
        if field.name != "id":
            texts += value if isinstance(value, tuple) else [value] if isinstance(value, str) else []
    return frozenset("".join(filter(str.isalnum, unicodedata.normalize("NFKC", one).casefold())) for one in texts)
