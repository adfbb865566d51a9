"""Training, dev and test rows of a sentence task.

Each text is trained on once, ignoring case and punctuation, and not if it is in dev or test; with `data.repeats`, for
folds as published, every row counts as a separate text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from triattn_core.configs.sentence import SentenceCheckpoint
from triattn_core.errors import ConfigError, DataError, InputError
from triattn_core.inference.evaluate import texts_of
from triattn_core.tasks import TASKS
from triattn_core.text.rows import read_json, rows_file
from triattn_core.training.tokenize_rows import row_error


@dataclass(frozen=True)
class Splits:
    """The examples of each set, the indices of those in each split, and notes on sets."""

    sets: Mapping[str, Sequence]
    train: Mapping[str, np.ndarray]
    dev: tuple[str, np.ndarray]
    test: tuple[str, np.ndarray] | None = None
    notes: Mapping[str, str] = field(default_factory=dict)

    def examples(self, split: str) -> list:
        """The examples of dev or test."""
        name, rows = getattr(self, split)
        return [self.sets[name][i] for i in rows]


def splits(config: SentenceCheckpoint, folder: Path) -> Splits:
    """The parts of the data sets under `folder`.

    Raises DataError if a file has no labelled row, or one without a text or with a label that the config does not name,
    and ConfigError if the config's labels are not those of the data set.
    """
    data = config.data
    sets = {name: _read(name, config, folder) for name in dict.fromkeys((*data.train, data.dev, data.test)) if name}
    keys = {name: [texts_of(example) for example in examples] for name, examples in sets.items()}
    if data.repeats:
        keys = {name: [frozenset([str(i)]) for i in range(len(rows))] for name, rows in sets.items()}
    draw = np.random.default_rng(data.split_seed)
    train, test = {name: np.arange(len(sets[name])) for name in data.train}, None
    held_out: set[frozenset[str]] = set()
    if data.folds:
        (name,) = data.train
        if (texts := len(set(keys[name]))) < data.folds:
            unit = "row" if data.repeats else "different text"
            raise DataError(f"{rows_file(folder, name)}: {texts} {unit}{'s' * (texts > 1)} for {data.folds} folds")
        parts = _assign_folds(keys[name], data.folds, draw)
        test = (name, np.flatnonzero(parts == data.fold - 1))
        train[name] = np.flatnonzero(parts != data.fold - 1)
    else:
        test = (data.test, np.arange(len(sets[data.test]))) if data.test else None
        held_out = set(keys[data.test]) if data.test else set()
    held_out |= set(keys[data.dev]) if data.dev else set()
    train = {name: _drop_duplicates(rows, keys[name], held_out) for name, rows in train.items()}
    if data.dev:
        dev = (data.dev, np.arange(len(sets[data.dev])))
    else:
        name = data.train[0]
        shuffled = draw.permutation(train[name])
        share = max(1, round(data.dev_share * len(shuffled)))
        dev, train[name] = (name, np.sort(shuffled[:share])), np.sort(shuffled[share:])
    train = {name: rows[:: data.every] for name, rows in train.items()}
    if not all(map(len, train.values())):
        raise DataError(f"{folder}: no row of {', '.join(data.train)} is left to train on")
    return Splits(sets, train, dev, test)


def _read(name: str, config: SentenceCheckpoint, folder: Path) -> list:
    file, task = rows_file(folder, name), TASKS[config.task]
    where = config.data.where if name in config.data.train else {}
    examples = [example for example in cast(Any, task).read(file, where=where) if example.label is not None]
    if not examples:
        raise DataError(f"{file}: none of the selected rows has a label: nothing to train on")
    names = file.with_name("labels.json")
    if config.labels and names.is_file() and (names_in_file := _labels(names)) != config.labels:
        raise ConfigError(f"labels: {names} has {', '.join(names_in_file)}, got {', '.join(config.labels)}")
    for labelled in examples:
        try:
            labelled.check()
        except InputError as error:
            raise row_error(task, file, labelled, error, where) from None
        if config.labels and labelled.label >= len(config.labels):
            problem = f"has label {labelled.label}, but the config names {len(config.labels)} labels"
            raise row_error(task, file, labelled, problem, where)
    return examples


def _labels(path: Path) -> tuple[str, ...]:
    """The label names of a data set, from `{"0": "no", "1": "yes"}`.  Raises DataError for another form."""
    by_number = read_json(path)
    labels = tuple(label for index in range(len(by_number)) if isinstance(label := by_number.get(str(index)), str))
    if not labels or len(labels) < len(by_number):
        raise DataError(f'{path}: expected the name of each label by its number from "0", got {by_number!r:.60}')
    return labels


def _assign_folds(keys: Sequence[frozenset[str]], folds: int, draw: np.random.Generator) -> np.ndarray:
    """The fold of each row, from 0; equal texts share a fold."""
    numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    order = draw.permutation(len(numbers))
    return np.array([order[numbers[key]] % folds for key in keys])


def _drop_duplicates(rows: np.ndarray, keys: Sequence[frozenset[str]], held_out: set[frozenset[str]]) -> np.ndarray:
    """The first row of each text that is not held out."""
    seen = set(held_out)
    rows_kept = []
    for row in rows:
        if keys[row] not in seen:
            seen.add(keys[row])
            rows_kept.append(row)
    return np.array(rows_kept, np.int64)
