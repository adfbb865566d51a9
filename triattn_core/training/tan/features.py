"""Frozen features on disk: the encoder reads a set once; all heads, mechanisms and seeds train on the same file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from triattn_core.attention.states import States
from triattn_core.inference.batch import Batch, collate
from triattn_core.models.encoder import Encoded, Encoder
from triattn_core.models.separate_encoder import ApartEncoder
from triattn_core.text.roles import ROLES, Role, Roles
from triattn_core.text.tokenizer import Tokenizer

OWN = ("query.own", "key.own", "pooled")  # additional arrays of a joint encoding
Window = tuple[Sequence[tuple[Roles, ...]], Sequence[int]]  # rows of each example, and the examples' labels


class Features:
    """Encoded examples, memory-mapped in half precision; an example has one row, or one per option.

    A role's vectors are one array [all tokens or cells of all sequences, h]; `ends` has the end of each sequence, and
    `sequence` the sequence of each row: if sequences are encoded separately, equal rows share one.
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
        """Numbers of query and key tokens of each example, in its longest row: [examples, 2]."""
        rows = np.stack([np.diff(self.ends[role])[self.sequence[role]] for role in ROLES[:2]], axis=1)
        return np.maximum.reduceat(rows, self._rows[:-1])

    def batch(
        self, examples: np.ndarray, device: str | torch.device, with_own: bool = True
    ) -> tuple[Encoded, list[int], Tensor]:
        """The encoded rows of `examples`, padded, in float32; the number of rows of each; and their labels [examples].

        with_own: whether to include the own context vectors of query and key, if any.
        """
        joint = "pooled" in self.vectors
        rows = np.concatenate([np.arange(*self._rows[example : example + 2]) for example in examples])
        query, key, context = (
            self._states(role, rows, device, with_own and joint and role != "context") for role in ROLES
        )
        pooled = torch.from_numpy(self.vectors["pooled"][rows].astype(np.float32)).to(device) if joint else None
        labels = torch.from_numpy(self.labels[examples]).to(device)
        return Encoded(query, key, context, pooled), self.counts[examples].tolist(), labels

    def _states(self, role: str, rows: np.ndarray, device: str | torch.device, with_own: bool) -> States:
        ends, rows = self.ends[role], self.sequence[role][rows]
        lengths = ends[rows + 1] - ends[rows]
        arrays = [
            pad_rows(self.vectors[name], ends, rows).to(device).float()
            for name in (role, f"{role}.own")[: 1 + with_own]
        ]
        keep = torch.arange(arrays[0].shape[1]) < torch.from_numpy(lengths)[:, None]
        return States(arrays[0], keep.to(device), *arrays[1:])


def pad_rows(vectors: np.ndarray, ends: np.ndarray, rows: np.ndarray) -> Tensor:
    """[rows, longest, h] of vectors [all tokens, h], zeros after each row's last; `ends` as in Features.

    Still in half precision, which halves the transfer to a device.
    """
    lengths = ends[rows + 1] - ends[rows]
    array = np.zeros((len(rows), lengths.max(), vectors.shape[1]), vectors.dtype)
    for i, row in enumerate(rows):
        array[i, : lengths[i]] = vectors[ends[row] : ends[row + 1]]
    return torch.from_numpy(array)


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
    """The features of a set, made atomically if `folder` does not have them.

    windows: the parts of the set, one in memory at a time.  total: number of examples, for the progress bar.  half: run
    the encoder in bfloat16.
    """
    if (folder / "about.json").is_file():
        return Features(folder)
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    labels: list[int] = []
    counts: list[int] = []
    lengths: dict[str, list[int]] = {role: [] for role in ROLES}
    sequences: dict[str, list[int]] = {role: [] for role in ROLES}
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
    for name, values in arrays.items():
        np.save(part / f"{name}.npy", np.array(values, np.int64))
    about = {"hidden": encoder.hidden, "encoder": encoder.digest, "examples": len(labels)}
    (part / "about.json").write_text(json.dumps(about), "utf-8")
    os.rename(part, folder)
    return Features(folder)


def _distinct(roles: Sequence[Role], encoder: Encoder | ApartEncoder) -> list[int]:
    """The sequence number of each row: its own, or, if encoded separately, that of the first equal one."""
    if not isinstance(encoder, ApartEncoder):
        return list(range(len(roles)))
    number_of: dict[tuple, int] = {}
    return [number_of.setdefault((role.ids, role.cells), len(number_of)) for role in roles]


@torch.inference_mode()
def _vectors(
    encoder: Encoder | ApartEncoder,
    tokenizer: Tokenizer,
    rows: Sequence[Roles],
    distinct: dict[str, list[int]],
    half: bool,
) -> dict[str, list[np.ndarray]]:
    """By the names of ROLES and OWN, vectors [tokens or cells, h] of each distinct sequence, in order, without padding.

    There is one pooled vector per row.
    """
    device: torch.device = cast(Any, encoder.joint).device
    by_name: dict[str, dict[int, np.ndarray]] = {}
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].context))
    for start in range(0, len(order), 64):
        indices = order[start : start + 64]
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            encoded = encoder(cast(Batch, collate([rows[i] for i in indices], tokenizer)).to(device))
        for role in ROLES:
            states = getattr(encoded, role)
            _store_vectors(by_name, role, states.vectors, states.keep, [distinct[role][i] for i in indices])
            if states.own is not None:
                _store_vectors(by_name, f"{role}.own", states.own, states.keep, [distinct[role][i] for i in indices])
        if encoded.pooled is not None:
            is_real = torch.ones(len(indices), 1, dtype=torch.bool, device=device)
            _store_vectors(by_name, "pooled", encoded.pooled[:, None], is_real, indices)
    return {name: [is_real for _, is_real in sorted(vectors.items())] for name, vectors in by_name.items()}


def _store_vectors(by_name: dict[str, dict], name: str, vectors: Tensor, keep: Tensor, numbers: Sequence[int]) -> None:
    half_vectors, real = vectors.half().cpu().numpy(), keep.cpu().numpy()
    for i, number in enumerate(numbers):
        by_name.setdefault(name, {}).setdefault(number, half_vectors[i][real[i]])
