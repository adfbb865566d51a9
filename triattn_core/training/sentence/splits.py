"""Which rows of a sentence task train a model, which choose its epoch, and which test it.

A text is trained on once, whatever its case and punctuation, and never where dev or test has it too; but where
`data.repeats` asks for folds as they are published every row is a text of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from triattn_core.checkpoint.config import SentenceCheckpoint
from triattn_core.errors import ConfigError, DataError, InputError
from triattn_core.inference.evaluate import texts_of
from triattn_core.tasks import TASKS
from triattn_core.text.rows import read_json, rows_file
from triattn_core.training.tokenize_rows import row_error


@dataclass(frozen=True)
class Splits:
    """The examples of each set, the numbers of those that play a part in it, and what there is to say of a set."""

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

    Raises DataError where a file has no labelled row, or one without a text or with a label that the config does not
    name, and ConfigError where the config's labels are not those of the data set.
    """
    data = config.data
    sets = {name: _read(name, config, folder) for name in dict.fromkeys((*data.train, data.dev, data.test)) if name}
    keys = {name: [texts_of(one) for one in examples] for name, examples in sets.items()}
    if data.repeats:
        keys = {name: [frozenset([str(i)]) for i in range(len(rows))] for name, rows in sets.items()}
    draw = np.random.default_rng(data.split_seed)
    train, test = {name: np.arange(len(sets[name])) for name in data.train}, None
    held: set[frozenset[str]] = set()
    if data.folds:
        (name,) = data.train
        if (texts := len(set(keys[name]))) < data.folds:
            what = "row" if data.repeats else "different text"
            raise DataError(f"{rows_file(folder, name)}: {texts} {what}{'s' * (texts > 1)} for {data.folds} folds")
        parts = _folds(keys[name], data.folds, draw)
        test = (name, np.flatnonzero(parts == data.fold - 1))
        train[name] = np.flatnonzero(parts != data.fold - 1)
    else:
        test = (data.test, np.arange(len(sets[data.test]))) if data.test else None
        held = set(keys[data.test]) if data.test else set()
    held |= set(keys[data.dev]) if data.dev else set()
    train = {name: _once(rows, keys[name], held) for name, rows in train.items()}
    if data.dev:
        dev = (data.dev, np.arange(len(sets[data.dev])))
    else:
        name = data.train[0]
        mixed = draw.permutation(train[name])
        share = max(1, round(data.dev_share * len(mixed)))
        dev, train[name] = (name, np.sort(mixed[:share])), np.sort(mixed[share:])
    train = {name: rows[:: data.every] for name, rows in train.items()}
    if not all(map(len, train.values())):
        raise DataError(f"{folder}: no row of {', '.join(data.train)} is left to train on")
    return Splits(sets, train, dev, test)


def _read(name: str, config: SentenceCheckpoint, folder: Path) -> list:
    file, task = rows_file(folder, name), TASKS[config.task]
    where = config.data.where if name in config.data.train else {}
    found = [one for one in task.read(file, where=where) if one.label is not None]
    if not found:
        raise DataError(f"{file}: no row that is asked for has a label: nothing to train on")
    names = file.with_name("labels.json")
    if config.labels and names.is_file() and (told := _labels(names)) != config.labels:
        raise ConfigError(f"labels: {names} has {', '.join(told)}, got {', '.join(config.labels)}")
    for one in found:
        try:
            one.check()
        except InputError as error:
            raise row_error(task, file, one, error, where) from None
        if config.labels and one.label >= len(config.labels):
            error = f"has label {one.label}, but the config names {len(config.labels)} labels"
            raise row_error(task, file, one, error, where)
    return found


def _labels(path: Path) -> tuple[str, ...]:
    """What the labels of a data set are called: `{"0": "no", "1": "yes"}`.  Raises DataError where they are not so."""
    told = read_json(path)
    known = tuple(told.get(str(number)) for number in range(len(told)))
    if not known or not all(isinstance(one, str) for one in known):
        raise DataError(f'{path}: expected the name of each label by its number from "0", got {told!r:.60}')
    return known


def _folds(keys: Sequence[frozenset[str]], folds: int, draw: np.random.Generator) -> np.ndarray:
    """The fold of each row, from 0; equal texts are in one."""
    numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    order = draw.permutation(len(numbers))
    return np.array([order[numbers[key]] % folds for key in keys])


def _once(rows: np.ndarray, keys: Sequence[frozenset[str]], held: set[frozenset[str]]) -> np.ndarray:
    """The rows whose texts are not held out, each the first of its texts."""
    seen = set(held)
    kept = []
    for row in rows:
        if keys[row] not in seen:
            seen.add(keys[row])
            kept.append(row)
    return np.array(kept, np.int64)
