"""Frozen word vectors of questions and passages on disk; each passage is stored once for all its questions.

For passages longer than a window, a row has the first window that contains a whole answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from triattn_core.attention.states import States
from triattn_core.errors import DataError, InputError
from triattn_core.models.word_vectors import WordVectors
from triattn_core.tasks import questions as task
from triattn_core.text.roles import Limits, Role
from triattn_core.text.texts import Texts
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training.sentence.features import TextFeatures, encode_texts

PARTS = ("passage", "question")
NOTHING_FITS = "no answer fits in a window of {} tokens: raise max_tokens"
WINDOW = 1024  # examples that are tokenized at once


class QuestionFeatures:
    """The examples of a set whose answer fits in a window.

    rows: [examples, 4]: window, question, and first and last word of the answer.  examples: their indices in the set.
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
        """Word counts of window and question: [rows, 2]."""
        return np.stack([self.texts[name].lengths[self.rows[:, i], 0] for i, name in enumerate(PARTS)], axis=1)

    def of(self, examples: np.ndarray) -> QuestionFeatures:
        """A view of the same files with only these examples of the set."""
        return QuestionFeatures(self.folder, np.flatnonzero(np.isin(self.examples, examples)))

    def batch(self, rows: np.ndarray, device: str | torch.device) -> tuple[tuple[States, ...], Tensor]:
        """The states of passage and question, padded, in float32; first and last word of the answer [rows, 2]."""
        indices = self.rows[rows]
        states = (self.texts[name].batch(indices[:, i], device)[0][0] for i, name in enumerate(PARTS))
        return tuple(states), torch.from_numpy(indices[:, 2:]).to(device)

    def span(self, row: int, first: int, last: int) -> tuple[int, int]:
        """The characters of the passage covered by words of a row's window."""
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
    """The features of a set, made if `folder` does not have them; half: run the encoder in bfloat16.

    file: the source of the examples.  Raises DataError that names an invalid row, or says that no answer fits a window.
    """
    if (folder / "rows.npy").is_file():
        return QuestionFeatures(folder)
    row_of: dict[str, dict[object, int]] = {name: {} for name in PARTS}
    roles: dict[str, list[Role]] = {name: [] for name in PARTS}
    rows, numbers = [], []
    for start in range(0, len(examples), WINDOW):
        part = examples[start : start + WINDOW]
        for number, (example, windows) in enumerate(zip(part, _windows(part, tokenizer, limits, file)), start):
            window, cells = _find_answer(windows, example)
            if cells is None:
                continue
            keys = {"passage": (example.passage, window), "question": example.question}
            for name, key in keys.items():
                if row_of[name].setdefault(key, len(roles[name])) == len(roles[name]):
                    roles[name].append(windows[window].roles[name])
            rows.append([*(row_of[name][key] for name, key in keys.items()), *cells])
            numbers.append(number)
    if not rows:
        raise DataError(f"{file}: {NOTHING_FITS.format(limits.tokens)}")
    for name in PARTS:
        texts = [Texts({name: role}) for role in roles[name]]
        encode_texts(folder / name, words, tokenizer, texts, [0] * len(texts), half)
    spans = [(role.spans[a][0], role.spans[b - 1][1]) for role in roles["passage"] for a, b in role.runs]
    np.save(folder / "spans.npy", np.array(spans, np.int64))
    np.save(folder / "examples.npy", np.array(numbers, np.int64))
    np.save(folder / "part.npy", np.array(rows, np.int64).reshape(-1, 4))
    (folder / "part.npy").rename(folder / "rows.npy")
    return QuestionFeatures(folder)


def _windows(part: Sequence, tokenizer: Tokenizer, limits: Limits, file: Path) -> list[tuple[Texts, ...]]:
    try:
        return task.roles(part, tokenizer, limits)
    except InputError:
        for example in part:
            try:
                task.roles([example], tokenizer, limits)
            except InputError as error:
                raise task.locate_error(file, example, error) from None
        raise


def _find_answer(windows: Sequence[Texts], example) -> tuple[int, tuple[int, int] | None]:
    """The first window that contains a whole answer, and (first word, last word) of that answer; (0, None) if none."""
    for span in example.spans:
        for number, window in enumerate(windows):
            if cells := task.cells(window.roles["passage"], span):
                return number, cells
    return 0, None
