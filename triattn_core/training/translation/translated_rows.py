"""Sub-words learnt from the training rows, and rows as sub-words, made once for all seeds."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from triattn_core.configs.translation import TranslationCheckpoint
from triattn_core.errors import DataError
from triattn_core.models.coin import TOKENIZER
from triattn_core.models.translation import Sentences, padded
from triattn_core.tasks import translation
from triattn_core.text.rows import rows_file
from triattn_core.text.sub_words import SubWords, learn_sub_words

IGNORED = -100  # the label of padding, as torch's cross_entropy has it


class TranslatedRows:
    """Sources and first targets as sub-words, without special ones."""

    def __init__(self, examples: Sequence[translation.Example], sub_words: SubWords, limit: int):
        self.examples, self.sub_words = examples, sub_words
        self.sources = [tokens.ids for tokens in sub_words.encode([example.source for example in examples], limit)]
        targets = [(example.label or ("",))[0] for example in examples]
        self.targets = [tokens.ids for tokens in sub_words.encode(targets, limit)]

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def lengths(self) -> np.ndarray:
        """Numbers of sub-words of source and target: [rows, 2]."""
        return np.array([(len(source), len(target)) for source, target in zip(self.sources, self.targets)])

    def batch(self, rows: Sequence[int] | np.ndarray) -> tuple[Sentences, Sentences, Tensor]:
        """Sources, targets from the start mark on, and the next sub-word of each [B, m], the end mark last."""
        start, end = self.sub_words.start, self.sub_words.end
        targets = [self.targets[row] for row in rows]
        following = [(*target, end) for target in targets]
        labels = torch.full((len(targets), max(map(len, following))), IGNORED)
        for i, target in enumerate(following):
            labels[i, : len(target)] = torch.tensor(target)
        return self.source(rows), padded([(start, *target) for target in targets], start), labels

    def source(self, rows: Sequence[int] | np.ndarray) -> Sentences:
        """The sources of these rows."""
        return padded([self.sources[row] for row in rows], self.sub_words.special["pad"])


def translated_rows(
    names: Sequence[str], config: TranslationCheckpoint, data: Path, sub_words: SubWords
) -> TranslatedRows:
    """The rows of sets that have a source and a target.  Raises DataError for a set without any."""
    rows = [example for name in names for example in read_set(name, config, data)]
    return TranslatedRows(rows, sub_words, config.max_tokens)


def read_set(name: str, config: TranslationCheckpoint, data: Path) -> list[translation.Example]:
    """The translated examples of a set, in the direction of the config; rows in training no longer than the limit."""
    file, training = rows_file(data, name), name in config.data.train
    rows = translation.read(file, training, config.data.where if training else {})
    rows = translation.turned(rows) if config.data.turned else rows
    examples = [example for example in rows if example.source.strip() and example.label and example.label[0].strip()]
    if not examples:
        raise DataError(f"{file}: no row has a translation: nothing to train on")
    return examples


def learnt_sub_words(config: TranslationCheckpoint, data: Path, runs: Path) -> Path:
    """The folder of the vocabulary of the training rows, made if `runs` does not have it."""
    files = [hashlib.sha256(rows_file(data, name).read_bytes()).hexdigest() for name in config.data.train]
    settings = repr((config.data.sub_words, config.data.where, files))
    folder = runs / "features" / f"sub-words-{hashlib.sha256(settings.encode()).hexdigest()[:12]}"
    if not (folder / TOKENIZER).is_file():
        folder.mkdir(parents=True, exist_ok=True)
        rows = [example for name in config.data.train for example in read_set(name, config, data)]
        texts = sorted({text for example in rows for text in (example.source, *(example.label or ()))})
        part = folder / f"{TOKENIZER}.part"
        learn_sub_words(texts, config.data.sub_words).save(str(part))
        os.replace(part, folder / TOKENIZER)
    return folder
