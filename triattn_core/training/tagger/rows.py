"""Rows of a tagging set: the vectors of each sentence once, in half precision, and a predicate and tags per row."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from triattn_core.configs.tagger import TaggerCheckpoint
from triattn_core.errors import ConfigError, DataError
from triattn_core.inference.batch import TextBatch, collate
from triattn_core.models.tagger import MarkedStates, MarkedWords
from triattn_core.tasks import roles
from triattn_core.text.bio_tags import bio_tags
from triattn_core.text.rows import rows_file
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training.tan.features import pad_rows, row_ends
from triattn_core.training.tokenize_rows import tokenize_rows

IGNORED = -100  # the tag of padding, as torch's cross_entropy has it


class TaggedRows:
    """Rows in memory; several sets may be put together.

    examples: of `tasks.roles`, all with tags.  vectors: [words of all sentences, h] in half precision.
    ends: where each sentence ends there.  sentence: the sentence of each row.
    """

    def __init__(self, examples: Sequence[roles.Example], vectors: np.ndarray, ends: np.ndarray, labels: Sequence[str]):
        self.examples, self.vectors, self.ends = examples, vectors, ends
        numbers = {words: i for i, words in enumerate(dict.fromkeys(example.words for example in examples))}
        self.sentence = np.array([numbers[example.words] for example in examples])
        number = {tag: i for i, tag in enumerate(bio_tags(labels))}
        self.tags = [np.array([number[tag] for tag in cast(Any, example.label)]) for example in examples]

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def lengths(self) -> np.ndarray:
        """Numbers of words: [rows]."""
        return np.diff(self.ends)[self.sentence]

    def batch(self, rows: np.ndarray, device: str | torch.device) -> tuple[MarkedStates, Tensor]:
        """The input of a tagger, in float32, and tags [B, n], IGNORED at padding."""
        vectors = pad_rows(self.vectors, self.ends, self.sentence[rows])
        lengths = torch.from_numpy(self.lengths[rows])
        places = torch.arange(vectors.shape[1])
        predicates = torch.tensor([self.examples[row].predicate for row in rows])
        tags = np.full(vectors.shape[:2], IGNORED)
        for i, row in enumerate(rows):
            tags[i, : len(self.tags[row])] = self.tags[row]
        keep, marked = places < lengths[:, None], places == predicates[:, None]
        states = MarkedStates(vectors.to(device).float(), keep.to(device), marked.to(device))
        return states, torch.from_numpy(tags).to(device)


def tagged_rows(
    names: Sequence[str], config: TaggerCheckpoint, words: MarkedWords, tokenizer: Tokenizer, data: Path, runs: Path
) -> TaggedRows:
    """The rows of sets; their vectors are made if `runs` does not have them.

    Raises DataError for a set without tags or a row that cannot be read, ConfigError for a label the config lacks.
    """
    examples = [example for name in names for example in _examples(name, config, data)]
    known = set(bio_tags(config.labels))
    if unknown := sorted({tag for example in examples for tag in cast(Any, example.label)} - known):
        raise ConfigError(f"labels: the rows of {', '.join(names)} have the tag {unknown[0]}, which they do not name")
    sentences = list(dict.fromkeys(example.words for example in examples))
    settings = repr((words.words.source, words.words.standardised, config.max_tokens, sentences))
    key = hashlib.sha256(settings.encode()).hexdigest()[:12]
    file = runs / "features" / words.digest[:12] / f"words-{key}.npz"
    if not file.is_file():
        by_words = {example.words: example for example in examples}
        _encode(
            file, [by_words[sentence] for sentence in sentences], config, words, tokenizer, rows_file(data, names[0])
        )
    arrays = np.load(file)
    return TaggedRows(examples, arrays["vectors"], arrays["ends"], config.labels)


def _examples(name: str, config: TaggerCheckpoint, data: Path) -> Iterator[roles.Example]:
    file, training = rows_file(data, name), name in config.data.train
    examples = [
        example
        for example in roles.read(file, training, config.data.where if training else {})
        if example.label is not None
    ]
    if not examples:
        raise DataError(f"{file}: no row has tags: nothing to train on")
    yield from examples


@torch.inference_mode()
def _encode(
    file: Path,
    examples: Sequence[roles.Example],
    config: TaggerCheckpoint,
    words: MarkedWords,
    tokenizer: Tokenizer,
    source: Path,
) -> None:
    texts = [row[0] for row in tokenize_rows(roles, examples, tokenizer, config.limits, source)]
    ends = row_ends(np.array([len(text.roles["text"].runs) for text in texts]))
    vectors = np.zeros((ends[-1], words.hidden), np.float16)
    order = sorted(range(len(texts)), key=lambda i: texts[i].length)
    for start in tqdm(range(0, len(order), 64), desc=f"encode {source.name}", unit="batch"):
        indices = order[start : start + 64]
        batch = cast(TextBatch, collate([texts[i] for i in indices], tokenizer)).to(words.words.encoder.joint.device)
        states = words(batch).vectors.half().cpu().numpy()
        for position, i in enumerate(indices):
            vectors[ends[i] : ends[i + 1]] = states[position, : ends[i + 1] - ends[i]]
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part.npz")
    np.savez(part, vectors=vectors, ends=ends)
    os.replace(part, file)
