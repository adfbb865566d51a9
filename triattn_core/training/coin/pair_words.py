"""The vocabulary of training pairs, and the pairs as word ids on disk, made once for all seeds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numpy as np

from triattn_core.configs.coin import CoinCheckpoint
from triattn_core.configs.parts import Vocabulary
from triattn_core.errors import DataError
from triattn_core.kinds import kind_of
from triattn_core.models.coin import TOKENIZER, PairWords, load_words
from triattn_core.models.encoders import load_encoder
from triattn_core.tasks import pairs
from triattn_core.text.characters import TOKENIZERS
from triattn_core.text.roles import Limits
from triattn_core.text.rows import matches, rows_file
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training.coin.pair_rows import SIDES, PairRows
from triattn_core.training.tan.trainer import select_examples
from triattn_core.training.tokenize_rows import tokenize_rows


def pair_rows(
    config: CoinCheckpoint, data: Path, runs: Path, device: str
) -> tuple[dict[str, PairRows], PairWords, Path | None]:
    """All training rows, under the first set's name, and dev; the words; the folder of their tokenizer or None.

    Missing files are made, atomically.  Raises DataError if a set has no labels.
    """
    folder = None
    if config.encoder is None:
        folder = runs / "features" / f"words-{_key(config, data, config.data.train)}"
        _learn(config, folder, data)
        words, tokenizer = load_words(folder)
    else:
        encoder, tokenizer = load_encoder(config.encoder, device)
        words = cast(PairWords, kind_of(config).frozen(config, encoder))
    files = {}
    for name in dict.fromkeys((*config.data.train, config.data.dev)):
        file = files[name] = runs / "features" / f"pairs-{words.digest[:12]}-{_key(config, data, [name])}.npz"
        if not file.is_file():
            _write(file, rows_file(data, name), _examples(name, config, data, tokenizer), tokenizer, config.limits)
    rows = {config.data.dev: PairRows([files.pop(config.data.dev)], words)}
    return rows | {config.data.train[0]: PairRows(list(files.values()), words)}, words, folder


def _key(config: CoinCheckpoint, data: Path, names: Sequence[str]) -> str:
    """A key of the settings and file contents that determine words and rows."""
    settings: list[Any] = [config.vocabulary, config.max_tokens, config.data.where, [config.data.dev in names]]
    settings += [config.data.even, config.data.every] if set(names) <= set(config.data.train) else []
    files = [sha256(rows_file(data, name).read_bytes()).hexdigest() for name in names]
    return sha256(repr((settings, files)).encode()).hexdigest()[:12]


def _examples(name: str, config: CoinCheckpoint, data: Path, tokenizer: Tokenizer | None) -> list:
    """The labelled rows of a set that match `data.where`; for training sets, the selected ones."""
    file, training = rows_file(data, name), name in config.data.train
    matching = (example for example in pairs.read(file, training) if matches(vars(example), config.data.where))
    labelled = [example for example in matching if example.label is not None]
    if not labelled:
        condition = "".join(f" with {field} {value!r}" for field, value in config.data.where.items())
        raise DataError(f"{file}: no row{condition} has a label: nothing to train on")
    return select_examples(labelled, config.data, tokenizer, config.max_tokens) if training and tokenizer else labelled


def _learn(config: CoinCheckpoint, folder: Path, data: Path) -> None:
    """Make the vocabulary of the training rows, or of the selected ones."""
    if (folder / TOKENIZER).is_file():
        return
    folder.mkdir(parents=True, exist_ok=True)
    words, tokenizer = cast(Vocabulary, config.vocabulary), None  # without an encoder there is one
    for _ in range(2 if config.data.even or config.data.every > 1 else 1):
        rows = [example for name in config.data.train for example in _examples(name, config, data, tokenizer)]
        texts = [text for example in rows for text in (example.text_a, example.text_b)]
        part = folder / f"{TOKENIZER}.part"
        TOKENIZERS[words.tokens](texts, words.least).save(str(part))
        tokenizer = Tokenizer(part)
    os.replace(part, folder / TOKENIZER)


def _write(file: Path, source: Path, examples: Sequence, tokenizer: Tokenizer, limits: Limits) -> None:
    """Write the arrays of a set.  Raises DataError that names the row of `source` in which a sentence has no token."""
    arrays: dict[str, Any] = {"labels": np.array([example.label for example in examples], np.int64)}
    for side in SIDES:
        tokens = tokenizer.encode([getattr(example, f"text_{side}") for example in examples], limits.tokens)
        for example, sentence in zip(examples, tokens):
            if not sentence:
                tokenize_rows(pairs, [example], tokenizer, limits, source)
        arrays[side] = np.array([id_ for sentence in tokens for id_ in sentence.ids], np.int64)
        arrays[f"{side}.lengths"] = np.array([len(sentence) for sentence in tokens], np.int64)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part.npz")
    np.savez(part, **arrays)
    os.replace(part, file)
