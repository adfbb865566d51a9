"""Training rows of a COIN: pairs as word ids, in memory."""

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
    """Rows of one or several sets; a file has labels, and for each side all words and the lengths of its rows."""

    def __init__(self, files: Sequence[Path], words: PairWords):
        parts = [dict(np.load(file)) for file in files]
        arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        self.labels, self.words = arrays["labels"], words
        self.ids = {side: arrays[side] for side in SIDES}
        self.ends = {side: row_ends(arrays[f"{side}.lengths"]) for side in SIDES}

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> np.ndarray:
        """Numbers of tokens of both sentences: [rows, 2]."""
        return np.stack([np.diff(self.ends[side]) for side in SIDES], axis=1)

    def batch(
        self, rows: np.ndarray, device: str | torch.device, with_own: bool = True
    ) -> tuple[tuple[Sentences, Sentences], list[int], Tensor]:
        """The model's inputs for `rows`, padded; a list of 1s, because each row is an example; and the labels."""
        a, b = (self._sentences(side, rows, device) for side in SIDES)
        return (a, b), [1] * len(rows), torch.from_numpy(self.labels[rows]).to(device)

    def _sentences(self, side: str, rows: np.ndarray, device: str | torch.device) -> Sentences:
        starts, ends = self.ends[side][rows], self.ends[side][rows + 1]
        columns = np.arange((ends - starts).max())
        keep = columns < (ends - starts)[:, None]
        ids = np.where(keep, self.ids[side][np.minimum(starts[:, None] + columns, len(self.ids[side]) - 1)], 0)
        return Sentences(self.words.look(torch.from_numpy(ids).to(device)), torch.from_numpy(keep).to(device))
