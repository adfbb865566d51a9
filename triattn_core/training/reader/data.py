"""Training data of a reader: the questions of its sets, those of dev, and their features."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from triattn_core.configs.reader import ReaderCheckpoint
from triattn_core.errors import DataError, InputError
from triattn_core.models.word_vectors import WordVectors
from triattn_core.tasks import questions as task
from triattn_core.text.rows import rows_file
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training.reader.features import NOTHING_FITS, QuestionFeatures, encode_questions
from triattn_core.training.sentence.splits import Splits


def reader_splits(config: ReaderCheckpoint, folder: Path) -> Splits:
    """The examples for training, dev and test; passages of dev or test are not in training.

    Without a `dev` set, the questions of `dev_share` of the passages of the first training set are held out.  Raises
    DataError if no question is left.
    """
    data = config.data
    names = filter(None, dict.fromkeys((*data.train, data.dev, data.test)))
    sets, notes = {}, {}
    for name in names:
        sets[name], num_unanswered = _read(name, config, folder)
        if num_unanswered:
            count = num_unanswered + len(sets[name])
            notes[name] = f"{num_unanswered:,} of {count:,} questions have no answer: they are left out"
    held_out = {example.passage for name in (data.dev, data.test) if name for example in sets[name]}
    train = {
        name: [i for i, example in enumerate(sets[name]) if example.passage not in held_out] for name in data.train
    }
    test = (data.test, np.arange(len(sets[data.test]))) if data.test else None
    if data.dev:
        dev = (data.dev, np.arange(len(sets[data.dev])))
    else:
        first = data.train[0]
        passages = list(dict.fromkeys(sets[first][i].passage for i in train[first]))
        draw = np.random.default_rng(data.split_seed).permutation(len(passages))
        dev_passages = {passages[i] for i in draw[: max(1, round(data.dev_share * len(passages)))]}
        dev = (first, np.array([i for i in train[first] if sets[first][i].passage in dev_passages]))
        train = {name: [i for i in rows if sets[name][i].passage not in dev_passages] for name, rows in train.items()}
    train_rows = {name: np.array(rows[:: data.every], np.int64) for name, rows in train.items()}
    if not all(map(len, train_rows.values())):
        raise DataError(f"{folder}: no question of {', '.join(data.train)} is left to train on")
    return Splits(sets, train_rows, dev, test, notes)


def _read(name: str, config: ReaderCheckpoint, folder: Path) -> tuple[list, int]:
    """The questions of a set that have an answer, and the number of those without."""
    file, training = rows_file(folder, name), name in config.data.train
    examples = list(task.read(file, training, config.data.where if training else {}))
    with_answers = [example for example in examples if example.answers]
    if not with_answers:
        raise DataError(f"{file}: none of the selected questions has an answer: nothing to train on")
    for example in with_answers:
        try:
            example.check()
        except InputError as error:
            raise task.locate_error(file, example, error) from None
    return with_answers, len(examples) - len(with_answers)


def select_rows(
    name: str, sets: Mapping[str, QuestionFeatures], rows: np.ndarray, config: ReaderCheckpoint
) -> QuestionFeatures:
    """The examples of a set for training or dev.  Raises DataError if none of their answers fits a window."""
    selected = sets[name].of(rows)
    if not len(selected):
        raise DataError(f"{name}: {NOTHING_FITS.format(config.max_tokens)}")
    return selected


def unfit_notes(
    parts: Splits, train: Mapping[str, QuestionFeatures], dev: QuestionFeatures
) -> Iterator[tuple[str, str]]:
    """Yield each training or dev set with a note on examples whose answer does not fit in a window."""
    for (name, rows), features in zip((*parts.train.items(), parts.dev), (*train.values(), dev)):
        if num_unfit := len(rows) - len(features):
            sentence = f"{num_unfit:,} of {len(rows):,} questions have no answer that fits in a window"
            yield name, f"{sentence}: they are left out"


def question_features(
    name: str,
    examples: Sequence,
    config: ReaderCheckpoint,
    words: WordVectors,
    tokenizer: Tokenizer,
    data: Path,
    runs: Path,
) -> QuestionFeatures:
    file, training = rows_file(data, name), name in config.data.train
    rows = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
    half = config.training.precision == "bf16"
    where = map("-".join, config.data.where.items()) if training else ()
    parts = [name.replace("/", "-"), rows, words.source.replace(":", ""), config.max_tokens, *where, *["bf16"] * half]
    parts.append("training" if training else "whole")  # in training, rows marked `dup` are left out
    folder = runs / "features" / words.digest[:12] / "-".join(map(str, parts))
    return encode_questions(folder, words, tokenizer, examples, config.limits, half, file)
