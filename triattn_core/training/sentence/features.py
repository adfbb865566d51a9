"""Frozen word vectors of a set on disk, memory-mapped: of sentences, or of premises and hypotheses."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from triattn_core.attention.states import States
from triattn_core.inference.batch import TextBatch, collate
from triattn_core.models.word_vectors import WordVectors
from triattn_core.text.texts import Texts
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training.tan.features import pad_rows, row_ends

ABOUT = "about.json"


class TextFeatures:
    """Rows of a set, in half precision: for each text, the vectors of all tokens or cells [n, h], and the row ends.

    rows: indices of the rows in this view of the file, by default all.
    """

    def __init__(self, folder: Path, rows: np.ndarray | None = None):
        about = json.loads((folder / ABOUT).read_text("utf-8"))
        self.folder, labels = folder, np.load(folder / "labels.npy")
        self.rows = np.arange(len(labels)) if rows is None else rows
        self.labels, self.texts = labels[self.rows], about["texts"]
        self.ends = {name: row_ends(np.load(folder / f"{name}.lengths.npy")) for name in self.texts}
        self.vectors = {
            name: np.memmap(folder / f"{name}.f16", np.float16, "r").reshape(-1, about["hidden"]) for name in self.texts
        }

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def lengths(self) -> np.ndarray:
        """Numbers of tokens of each text: [rows, texts]."""
        return np.stack([np.diff(self.ends[name])[self.rows] for name in self.texts], axis=1)

    def part(self, rows: np.ndarray) -> TextFeatures:
        """A view of the same file with only these rows."""
        return TextFeatures(self.folder, self.rows[rows])

    def batch(
        self, rows: np.ndarray, device: str | torch.device, with_own: bool = True
    ) -> tuple[tuple[States, ...], list[int], Tensor]:
        """The states of each text, padded, in float32; a list of 1s, because each row is an example; and the labels."""
        states = []
        for name in self.texts:
            ends, indices = self.ends[name], self.rows[rows]
            vectors = pad_rows(self.vectors[name], ends, indices)
            keep = torch.arange(vectors.shape[1]) < torch.from_numpy(ends[indices + 1] - ends[indices])[:, None]
            states.append(States(vectors.to(device).float(), keep.to(device)))
        return tuple(states), [1] * len(rows), torch.from_numpy(self.labels[rows]).to(device)


@torch.inference_mode()
def encode_texts(
    folder: Path,
    words: WordVectors,
    tokenizer: Tokenizer,
    rows: Sequence[Texts],
    labels: Sequence[int],
    half: bool = False,
) -> TextFeatures:
    """The word vectors of all rows, made atomically if `folder` does not have them.

    half: run the encoder in bfloat16.
    """
    if (folder / ABOUT).is_file():
        return TextFeatures(folder)
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    names = list(rows[0].roles)
    ends = {name: row_ends(np.array([len(row.roles[name].runs) for row in rows])) for name in names}
    files = {
        name: np.memmap(part / f"{name}.f16", np.float16, "w+", shape=(int(ends[name][-1]), words.hidden))
        for name in names
    }
    order = sorted(range(len(rows)), key=lambda i: rows[i].length)
    for start in tqdm(range(0, len(order), 64), desc=f"encode {folder.name}", unit="batch"):
        indices = order[start : start + 64]
        batch = cast(TextBatch, collate([rows[i] for i in indices], tokenizer)).to(words.encoder.joint.device)
        with torch.autocast(batch.texts[0].ids.device.type, torch.bfloat16, enabled=half):
            encoded = words(batch)
        for name, states in zip(names, encoded):
            half_vectors = states.vectors.half().cpu().numpy()
            for position, row in enumerate(indices):
                first, last = ends[name][row : row + 2]
                files[name][first:last] = half_vectors[position, : last - first]
    for name in names:
        files[name].flush()
        np.save(part / f"{name}.lengths.npy", np.diff(ends[name]))
    np.save(part / "labels.npy", np.array(labels, np.int64))
    about = {"hidden": words.hidden, "encoder": words.digest, "source": words.source, "texts": names}
    (part / ABOUT).write_text(json.dumps(about), "utf-8")
    os.rename(part, folder)
    return TextFeatures(folder)
