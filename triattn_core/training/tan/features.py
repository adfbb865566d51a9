"""Frozen features on disk: the encoder reads a set once, and every head, mechanism and seed trains on the same file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from triattn_core.attention.states import States
from triattn_core.inference.batch import collate
from triattn_core.models.apart import ApartEncoder
from triattn_core.models.encoder import Encoded, Encoder
from triattn_core.text.roles import Role, Roles
from triattn_core.text.tokenizer import Tokenizer

ROLES = ("query", "key", "context")
OWN = ("query.own", "key.own", "pooled")  # what a joint encoding has besides
Window = tuple[Sequence[tuple[Roles, ...]], Sequence[int]]  # rows of each example, and the examples' labels


class Features:
    """Encoded examples, memory-mapped in half precision; an example has one row, or one an option.

    A role's vectors are one array [all tokens or cells of all sequences, h]; `ends` says where each sequence stops, and
    `sequence` which one a row has: encoded apart, rows that are alike share one.
    """

    def __init__(self, folder: Path):
        hidden = json.loads((folder / "about.json").read_text("utf-8"))["hidden"]
        self.labels = np.load(folder / "labels.npy")
        self.counts = np.load(folder / "counts.npy")
        self._rows = row_ends(self.counts)
        self.ends = {role: row_ends(np.load(folder / f"{role}.lengths.npy")) for role in ROLES}
        self.sequence = {role: np.load(folder / f"{role}.sequences.npy") for role in ROLES}
        names = [name for name in (*ROLES, *OWN) if (folder / f"{name}.f16").is_file()]
        self.vectors = {name: np.memmap(folder / f"{name}.f16", np.float16, "r").reshape(-1, hidden) for name in names}

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> np.ndarray:
        """Query and key tokens of each example, of its longest row: [examples, 2]."""
        rows = np.stack([np.diff(self.ends[role])[self.sequence[role]] for role in ROLES[:2]], axis=1)
        return np.maximum.reduceat(rows, self._rows[:-1])

    def batch(
        self, examples: np.ndarray, device: str | torch.device, own: bool = True
    ) -> tuple[Encoded, list[int], Tensor]:
        """The encoded rows of `examples`, padded, in float32; how many each has; and their labels [examples].

        own: whether query and key come with their own context vectors, where there are such.
        """
        joint = "pooled" in self.vectors
        rows = np.concatenate([np.arange(*self._rows[one : one + 2]) for one in examples])
        states = [self._states(role, rows, device, own and joint and role != "context") for role in ROLES]
        pooled = torch.from_numpy(self.vectors["pooled"][rows].astype(np.float32)).to(device) if joint else None
        labels = torch.from_numpy(self.labels[examples]).to(device)
        return Encoded(*states, pooled=pooled), self.counts[examples].tolist(), labels

    def _states(self, role: str, rows: np.ndarray, device: str | torch.device, own: bool) -> States:
        ends, rows = self.ends[role], self.sequence[role][rows]
        lengths = ends[rows + 1] - ends[rows]
        found = [padded(self.vectors[name], ends, rows).to(device).float() for name in (role, f"{role}.own")[: 1 + own]]
        keep = torch.arange(found[0].shape[1]) < torch.from_numpy(lengths)[:, None]
        return States(found[0], keep.to(device), *found[1:])


def padded(vectors: np.ndarray, ends: np.ndarray, rows: np.ndarray) -> Tensor:
    """[rows, longest, h] of vectors [all tokens, h], zeros after each row's last; `ends` as in Features.

    In half precision, as they are: half as much to be sent to a device.
    """
    lengths = ends[rows + 1] - ends[rows]
    found = np.zeros((len(rows), lengths.max(), vectors.shape[1]), vectors.dtype)
    for i, row in enumerate(rows):
        found[i, : lengths[i]] = vectors[ends[row] : ends[row + 1]]
    return torch.from_numpy(found)


def row_ends(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)])


def encode(
    folder: Path,
    encoder: Encoder | ApartEncoder,
    tokenizer: Tokenizer,
    windows: Iterable[Window],
    total: int,
    half: bool = False,
) -> Features:
    """The features of a set, made where `folder` does not hold them yet; complete or not there.

    windows: the set, a part at a time: no more than one is held.  total: examples of the set, for the progress bar.
    half: run the encoder in bfloat16.
    """
    if (folder / "about.json").is_file():
        return Features(folder)
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    labels, counts = [], []
    lengths, sequences = {role: [] for role in ROLES}, {role: [] for role in ROLES}
    with tqdm(total=total, desc=f"encode {folder.name}", unit="example") as bar:
        for examples, golds in windows:
            rows = list(chain.from_iterable(examples))
            distinct = {role: _distinct([getattr(row, role) for row in rows], encoder) for role in ROLES}
            for name, vectors in _vectors(encoder, tokenizer, rows, distinct, half).items():
                with open(part / f"{name}.f16", "ab") as file:
                    np.concatenate(vectors).tofile(file)
                if name in ROLES:
                    sequences[name] += [len(lengths[name]) + number for number in distinct[name]]
                    lengths[name] += map(len, vectors)
            counts += map(len, examples)
            labels += golds
            bar.update(len(examples))
    arrays = {"labels": labels, "counts": counts}
    arrays |= {f"{role}.lengths": lengths[role] for role in ROLES}
    arrays |= {f"{role}.sequences": sequences[role] for role in ROLES}
    for name, found in arrays.items():
        np.save(part / f"{name}.npy", np.array(found, np.int64))
    about = {"hidden": encoder.hidden, "encoder": encoder.digest, "examples": len(labels)}
    (part / "about.json").write_text(json.dumps(about), "utf-8")
    os.rename(part, folder)
    return Features(folder)


def _distinct(roles: Sequence[Role], encoder: Encoder | ApartEncoder) -> list[int]:
    """For each row the number of its sequence: its own, but where encoded apart the first that is alike."""
    if not isinstance(encoder, ApartEncoder):
        return list(range(len(roles)))
    known: dict[tuple, int] = {}
    return [known.setdefault((role.ids, role.cells), len(known)) for role in roles]


@torch.inference_mode()
def _vectors(
    encoder: Encoder | ApartEncoder,
    tokenizer: Tokenizer,
    rows: Sequence[Roles],
    distinct: dict[str, list[int]],
    half: bool,
) -> dict[str, list[np.ndarray]]:
    """By the names of ROLES and OWN, [tokens or cells, h] of each distinct sequence, in their order; only what is real.

    The pooled vector is one of each row.
    """
    device, found = encoder.joint.device, {}
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].context))
    for start in range(0, len(order), 64):
        chosen = order[start : start + 64]
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            encoded = encoder(collate([rows[i] for i in chosen], tokenizer).to(device))
        for role in ROLES:
            states = getattr(encoded, role)
            _keep(found, role, states.vectors, states.keep, [distinct[role][i] for i in chosen])
            if states.own is not None:
                _keep(found, f"{role}.own", states.own, states.keep, [distinct[role][i] for i in chosen])
        if encoded.pooled is not None:
            one = torch.ones(len(chosen), 1, dtype=torch.bool, device=device)
            _keep(found, "pooled", encoded.pooled[:, None], one, chosen)
    return {name: [one for _, one in sorted(vectors.items())] for name, vectors in found.items()}


def _keep(found: dict[str, dict], name: str, vectors: Tensor, keep: Tensor, numbers: Sequence[int]) -> None:
    halves, real = vectors.half().cpu().numpy(), keep.cpu().numpy()
    for i, number in enumerate(numbers):
        found.setdefault(name, {}).setdefault(number, halves[i][real[i]])
