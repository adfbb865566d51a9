"""The words of sets of pairs: learnt from the training rows, and put on disk as numbers, once for all seeds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from triattn_core.checkpoint.config import CoinCheckpoint
from triattn_core.errors import DataError
from triattn_core.models.coin import TOKENIZER, PairWords, own_words
from triattn_core.models.encoders import load_encoder
from triattn_core.models.kinds import reader
from triattn_core.tasks import pairs
from triattn_core.text.characters import TOKENIZERS
from triattn_core.text.roles import Limits
from triattn_core.text.rows import matches, rows_file
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training.coin.pair_rows import SIDES, PairRows
from triattn_core.training.tan.trainer import chosen
from triattn_core.training.tokenize_rows import tokenize_rows


def pair_rows(
    config: CoinCheckpoint, data: Path, runs: Path, device: str
) -> tuple[dict[str, PairRows], PairWords, Path | None]:
    """All training rows as one, under the first set's name, and dev; the words; the folder of their tokenizer or None.

    Each file is made where it is not there yet, complete or not at all.  Raises DataError where a set has no labels.
    """
    folder = None
    if config.encoder is None:
        folder = runs / "features" / f"words-{_key(config, data, config.data.train)}"
        _learn(config, folder, data)
        words, tokenizer = own_words(folder)
    else:
        encoder, tokenizer = load_encoder(config.encoder, device)
        words = reader(config, encoder)
    files = {}
    for name in dict.fromkeys((*config.data.train, config.data.dev)):
        file = files[name] = runs / "features" / f"pairs-{words.digest[:12]}-{_key(config, data, [name])}.npz"
        if not file.is_file():
            _write(file, rows_file(data, name), _examples(name, config, data, tokenizer), tokenizer, config.limits)
    rows = {config.data.dev: PairRows([files.pop(config.data.dev)], words)}
    return rows | {config.data.train[0]: PairRows(list(files.values()), words)}, words, folder


def _key(config: CoinCheckpoint, data: Path, names: Sequence[str]) -> str:
    """What decides which words and rows there are: the settings, and what the files hold."""
    told = [config.vocabulary, config.max_tokens, config.data.where, [config.data.dev in names]]
    told += [config.data.even, config.data.every] if set(names) <= set(config.data.train) else []
    files = [sha256(rows_file(data, name).read_bytes()).hexdigest() for name in names]
    return sha256(repr((told, files)).encode()).hexdigest()[:12]


def _examples(name: str, config: CoinCheckpoint, data: Path, tokenizer: Tokenizer | None) -> list:
    """The rows of a set that have a label and that `data.where` leaves; of a training set those asked for."""
    file, training = rows_file(data, name), name in config.data.train
    asked = (one for one in pairs.read(file, training) if matches(vars(one), config.data.where))
    found = [one for one in asked if one.label is not None]
    if not found:
        which = "".join(f" with {field} {value!r}" for field, value in config.data.where.items())
        raise DataError(f"{file}: no row{which} has a label: nothing to train on")
    return chosen(found, config.data, tokenizer, config.max_tokens) if training and tokenizer else found


def _learn(config: CoinCheckpoint, folder: Path, data: Path) -> None:
    """The vocabulary of the training rows; of those that are chosen, where not all are."""
    if (folder / TOKENIZER).is_file():
        return
    folder.mkdir(parents=True, exist_ok=True)
    words, tokenizer = config.vocabulary, None
    for _ in range(2 if config.data.even or config.data.every > 1 else 1):
        rows = [one for name in config.data.train for one in _examples(name, config, data, tokenizer)]
        texts = [text for one in rows for text in (one.text_a, one.text_b)]
        part = folder / f"{TOKENIZER}.part"
        TOKENIZERS[words.tokens](texts, words.least).save(str(part))
        tokenizer = Tokenizer(part)
    os.replace(part, folder / TOKENIZER)


def _write(file: Path, source: Path, examples: Sequence, tokenizer: Tokenizer, limits: Limits) -> None:
    """Raises DataError that names the row of `source` in which a sentence has nothing to read."""
    found = {"labels": np.array([one.label for one in examples], np.int64)}
    for side in SIDES:
        tokens = tokenizer.encode([getattr(one, f"text_{side}") for one in examples], limits.tokens)
        for one in (one for one, its in zip(examples, tokens) if not its):
            tokenize_rows(pairs, [one], tokenizer, limits, source)
        found[side] = np.array([number for one in tokens for number in one.ids], np.int64)
        found[f"{side}.lengths"] = np.array([len(one) for one in tokens], np.int64)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part.npz")
    np.savez(part, **found)
    os.replace(part, file)
