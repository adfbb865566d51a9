"""Frozen features on disk: the encoder reads a set once, and every head, mechanism and seed trains on the same file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from triattn_core.attention.states import States
from triattn_core.batch import collate
from triattn_core.models.encoder import Encoded, Encoder
from triattn_core.text.roles import Roles
from triattn_core.text.tokenizer import Tokenizer

ROLES = ("query", "key", "context")


class Features:
    """Encoded examples, memory-mapped in half precision.

    A role's vectors are one array [all tokens of all examples, h]; `ends` says where each example stops.
    """

    def __init__(self, folder: Path):
        about = json.loads((folder / "about.json").read_text("utf-8"))
        hidden = about["hidden"]
        self.labels = np.load(folder / "labels.npy")
        self.pooled = np.load(folder / "pooled.npy", mmap_mode="r")
        self.ends, self.vectors, self.positions = {}, {}, {}
        for role in ROLES:
            self.ends[role] = np.concatenate([[0], np.cumsum(np.load(folder / f"{role}.lengths.npy"))])
            self.vectors[role] = np.memmap(folder / f"{role}.f16", np.float16, "r").reshape(-1, hidden)
            self.positions[role] = np.load(folder / f"{role}.positions.npy")

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> np.ndarray:
        """Query and key tokens of each example: [examples, 2]."""
        return np.stack([np.diff(self.ends["query"]), np.diff(self.ends["key"])], axis=1)

    def batch(self, rows: np.ndarray, device: str | torch.device) -> tuple[Encoded, Tensor]:
        """The encoded examples of `rows`, padded, in float32, and their labels [B]."""
        states = {role: self._states(role, rows, device) for role in ROLES}
        pooled = torch.from_numpy(self.pooled[rows].astype(np.float32)).to(device)
        return Encoded(**states, pooled=pooled), torch.from_numpy(self.labels[rows]).to(device)

    def _states(self, role: str, rows: np.ndarray, device: str | torch.device) -> States:
        ends, vectors = self.ends[role], self.vectors[role]
        lengths = [int(ends[row + 1] - ends[row]) for row in rows]
        found = np.zeros((len(rows), max(lengths), vectors.shape[1]), np.float32)
        positions = np.zeros(found.shape[:2], np.int64)
        for i, row in enumerate(rows):
            found[i, : lengths[i]] = vectors[ends[row] : ends[row + 1]]
            positions[i, : lengths[i]] = self.positions[role][ends[row] : ends[row + 1]]
        keep = torch.arange(found.shape[1]) < torch.tensor(lengths)[:, None]
        return States(
            torch.from_numpy(found).to(device), keep.to(device), torch.from_numpy(positions).to(device)
        )


def encode(
    folder: Path, encoder: Encoder, tokenizer: Tokenizer, roles: Sequence[Roles], labels: Sequence[int]
) -> Features:
    """The features of a set, made where `folder` does not hold them yet; complete or not there."""
    if (folder / "about.json").is_file():
        return Features(folder)
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for role in ROLES:
        rows = [getattr(one, role) for one in roles]
        np.save(part / f"{role}.lengths.npy", np.array([len(row) for row in rows], np.int64))
        np.save(part / f"{role}.positions.npy", np.array([p for row in rows for p in row.positions], np.int16))
    np.save(part / "labels.npy", np.array(labels, np.int64))
    np.save(part / "pooled.npy", _write_vectors(part, encoder, tokenizer, roles))
    about = {"hidden": encoder.hidden, "encoder": encoder.digest, "examples": len(roles)}
    (part / "about.json").write_text(json.dumps(about), "utf-8")
    os.rename(part, folder)
    return Features(folder)


@torch.inference_mode()
def _write_vectors(part: Path, encoder: Encoder, tokenizer: Tokenizer, roles: Sequence[Roles]) -> np.ndarray:
    """Writes each role's vectors, in the order of the examples; returns the pooled vectors [examples, h]."""
    device = encoder.joint.device
    pooled = np.zeros((len(roles), encoder.hidden), np.float16)
    ends = {role: np.cumsum([0, *(len(getattr(one, role)) for one in roles)]) for role in ROLES}
    arrays = {
        role: np.memmap(part / f"{role}.f16", np.float16, "w+", shape=(ends[role][-1], encoder.hidden))
        for role in ROLES
    }
    order = sorted(range(len(roles)), key=lambda i: len(roles[i].context))
    for start in tqdm(range(0, len(order), 64), desc="encode", unit="batch"):
        rows = order[start : start + 64]
        encoded = encoder(collate([roles[i] for i in rows], tokenizer).to(device))
        pooled[rows] = encoded.pooled.half().cpu().numpy()
        for role in ROLES:
            states: States = getattr(encoded, role)
            for i, row in enumerate(rows):
                first, last = ends[role][row], ends[role][row + 1]
                arrays[role][first:last] = states.vectors[i, : last - first].half().cpu().numpy()
    for array in arrays.values():
        array.flush()
    return pooled
