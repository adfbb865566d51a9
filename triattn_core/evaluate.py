"""Metrics of checkpoints over a file of rows, in batches; memory does not grow with the file."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path

from triattn_core.checkpoint import Bundle, probabilities
from triattn_core.errors import DataError, InputError
from triattn_core.spans import answers as read
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
            return DataError(f"{f'row {example.id}' if example.id else f'labelled row {number}'}: {error}")
    raise AssertionError("a window that cannot be read has a row that cannot be read")


def vote(answers: Sequence[Sequence[float]]) -> list[float]:
    """One answer of several models' probabilities, each of which has a vote; the mean probability settles a tie.

    The shares sum to one, and rank all options of a task that chooses among texts.
    """
    votes = [0.0] * len(answers[0])
    for one in answers:
        votes[max(range(len(one)), key=one.__getitem__)] += 1
    means = [sum(column) / len(answers) for column in zip(*answers)]
    return [(count + mean) / (len(answers) + 1) for count, mean in zip(votes, means)]


def with_vote(
    bundles: Sequence[Bundle], examples: Iterable, said: Callable[[int], None] = lambda n: None
) -> list[list[tuple]]:
    """As `verdicts`, and after the bundles their majority vote."""
    return verdicts(bundles, examples, said, lambda answers: [*answers, vote(answers)])


def verdicts(
    bundles: Sequence[Bundle],
    examples: Iterable,
    said: Callable[[int], None] = lambda n: None,
    joined: Callable[[list], list] = list,
    kept: Path | None = None,
) -> list[list[tuple]]:
    """What the task says of each answer, [bundles][rows], first whether it is right; of examples that have a label.

    joined: what is judged, of the bundles' answers to a row: by default each.  kept: JSON Lines of what was said of the
    first rows, which are not asked again; the others are added.

    `said(1)` is called for each row. Raises DataError where no row has a label.
    """
    verdict = bundles[0].task.verdict
    found = [[tuple(one) for one in row] for row in _rows(kept)] if kept else []
    if found:
        said(len(found))
    rest = islice((one for one in examples if one.label is not None), len(found), None)
    with open(kept or os.devnull, "a", encoding="utf-8") as file:
        for example, answers in predictions(bundles, rest):
            found.append([verdict(example, answer) for answer in joined(answers)])
            file.write(json.dumps(found[-1]) + "\n")
            said(1)
    if not found:
        raise DataError("no row has a label, or an answer: nothing to measure")
    return list(map(list, zip(*found)))


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


def apart(examples: Iterable, others: Iterable) -> Iterator:
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
