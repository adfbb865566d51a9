"""Pairs as numbers of words, held in memory: what a COIN trains on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from triattn_core.models.coin import PairWords, Sentences
from triattn_core.training.tan.features import row_ends

SIDES = ("a", "b")


class PairRows:
    """Rows of one set, or of several as one; a file has labels, and of each side all words and its rows' lengths."""

    def __init__(self, files: Sequence[Path], words: PairWords):
        parts = [dict(np.load(file)) for file in files]
        found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        self.labels, self.words = found["labels"], words
        self.ids = {side: found[side] for side in SIDES}
        self.ends = {side: row_ends(found[f"{side}.lengths"]) for side in SIDES}

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of both sentences: [rows, 2]."""
        return np.stack([np.diff(self.ends[side]) for side in SIDES], axis=1)

    def batch(
        self, rows: np.ndarray, device: str | torch.device, own: bool = True
    ) -> tuple[tuple[Sentences, Sentences], list[int], Tensor]:
        """What the model takes of `rows`, padded; 1 for each row, which is an example; and the labels."""
        a, b = (self._sentences(side, rows, device) for side in SIDES)
        return (a, b), [1] * len(rows), torch.from_numpy(self.labels[rows]).to(device)

    def _sentences(self, side: str, rows: np.ndarray, device: str | torch.device) -> Sentences:
        starts, ends = self.ends[side][rows], self.ends[side][rows + 1]
        columns = np.arange((ends - starts).max())
        keep = columns < (ends - starts)[:, None]
        ids = np.where(keep, self.ids[side][np.minimum(starts[:, None] + columns, len(self.ids[side]) - 1)], 0)
        return Sentences(self.words.look(torch.from_numpy(ids).to(device)), torch.from_numpy(keep).to(device))
