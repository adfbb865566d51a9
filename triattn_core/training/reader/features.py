"""Frozen word vectors of questions and their passages on disk: a passage once, however many questions are asked of it.

Of a passage longer than a window, a row has the first window in which an answer of it stands whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from triattn_core.attention.states import States
from triattn_core.errors import DataError, InputError
from triattn_core.models.words import WordVectors
from triattn_core.tasks import questions as task
from triattn_core.text.roles import Limits, Role
from triattn_core.text.texts import Texts
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training.sentence.features import TextFeatures, encode_texts

PARTS = ("passage", "question")
NOTHING_FITS = "no answer stands whole in a window of {} tokens: raise max_tokens"
WINDOW = 1024  # examples that are held as tokens of all their windows at once


class QuestionFeatures:
    """Examples of a set whose answer is inside a window.

    rows: [examples, 4], of each its window, its question, and the first and the last word of the answer.  examples:
    their numbers in the set.
    """

    def __init__(self, folder: Path, rows: np.ndarray | None = None):
        self.folder = folder
        self.texts = {name: TextFeatures(folder / name) for name in PARTS}
        self.ends, self.spans = self.texts["passage"].ends["passage"], np.load(folder / "spans.npy")
        self.rows, self.examples = np.load(folder / "rows.npy"), np.load(folder / "examples.npy")
        if rows is not None:
            self.rows, self.examples = self.rows[rows], self.examples[rows]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def lengths(self) -> np.ndarray:
        """Words of window and question: [rows, 2]."""
        return np.stack([self.texts[name].lengths[self.rows[:, i], 0] for i, name in enumerate(PARTS)], axis=1)

    def of(self, examples: np.ndarray) -> QuestionFeatures:
        """The same files, of which only these examples of the set are seen."""
        return QuestionFeatures(self.folder, np.flatnonzero(np.isin(self.examples, examples)))

    def batch(self, rows: np.ndarray, device: str | torch.device) -> tuple[tuple[States, ...], Tensor]:
        """The states of passage and question, padded, in float32; first and last word of the answer [rows, 2]."""
        of = self.rows[rows]
        states = (self.texts[name].batch(of[:, i], device)[0][0] for i, name in enumerate(PARTS))
        return tuple(states), torch.from_numpy(of[:, 2:]).to(device)

    def span(self, row: int, first: int, last: int) -> tuple[int, int]:
        """Characters of the passage that words of a row's window are."""
        start = self.ends[self.rows[row, 0]]
        return int(self.spans[start + first, 0]), int(self.spans[start + last, 1])


def encode_questions(
    folder: Path,
    words: WordVectors,
    tokenizer: Tokenizer,
    examples: Sequence,
    limits: Limits,
    half: bool = False,
    file: Path = Path(),
) -> QuestionFeatures:
    """The features of a set, made where `folder` does not hold them yet; half: run the encoder in bfloat16.

    file: where the examples were read.  Raises DataError that names the row that cannot be read, or says that no answer
    fits a window.
    """
    if (folder / "rows.npy").is_file():
        return QuestionFeatures(folder)
    known: dict[str, dict[object, int]] = {name: {} for name in PARTS}
    roles: dict[str, list[Role]] = {name: [] for name in PARTS}
    rows, kept = [], []
    for start in range(0, len(examples), WINDOW):
        part = examples[start : start + WINDOW]
        for number, (example, found) in enumerate(zip(part, _windows(part, tokenizer, limits, file)), start):
            window, cells = _answered(found, example)
            if cells is None:
                continue
            keys = {"passage": (example.passage, window), "question": example.question}
            for name, key in keys.items():
                if known[name].setdefault(key, len(roles[name])) == len(roles[name]):
                    roles[name].append(found[window].roles[name])
            rows.append([*(known[name][key] for name, key in keys.items()), *cells])
            kept.append(number)
    if not rows:
        raise DataError(f"{file}: {NOTHING_FITS.format(limits.tokens)}")
    for name in PARTS:
        texts = [Texts({name: one}) for one in roles[name]]
        encode_texts(folder / name, words, tokenizer, texts, [0] * len(texts), half)
    spans = [(one.spans[a][0], one.spans[b - 1][1]) for one in roles["passage"] for a, b in one.runs]
    np.save(folder / "spans.npy", np.array(spans, np.int64))
    np.save(folder / "examples.npy", np.array(kept, np.int64))
    np.save(folder / "part.npy", np.array(rows, np.int64).reshape(-1, 4))
    (folder / "part.npy").rename(folder / "rows.npy")
    return QuestionFeatures(folder)


def _windows(part: Sequence, tokenizer: Tokenizer, limits: Limits, file: Path) -> list[tuple[Texts, ...]]:
    try:
        return task.roles(part, tokenizer, limits)
    except InputError:
        for one in part:
            try:
                task.roles([one], tokenizer, limits)
            except InputError as error:
                raise task.locate_error(file, one, error) from None
        raise


def _answered(windows: Sequence[Texts], example) -> tuple[int, tuple[int, int] | None]:
    """The first window with an answer, and the answer's words there: of the first answer that a window has whole."""
    for span in example.spans:
        for number, one in enumerate(windows):
            if found := task.cells(one.roles["passage"], span):
                return number, found
    return 0, None
