"""Generated rows as arrays of token numbers, kept on disk for all models and seeds of a task."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from inspect import getsource
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from triattn_core.inference.batch import Batch, RoleBatch
from triattn_core.tasks.laboratory import LaboratoryTask

SIDES = ("query", "keys", "context")


@dataclass(frozen=True)
class LaboratoryRows:
    """Token numbers [rows, n] of each role, all rows of one length, and labels [rows]."""

    ids: tuple[Tensor, Tensor, Tensor]
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, rows: np.ndarray | slice, device: torch.device | str = "cpu") -> tuple[Batch, Tensor]:
        """Some rows as a batch, and their labels."""
        query, key, context = (_role(ids[rows], kind) for kind, ids in enumerate(self.ids))
        return Batch(query, key, context).to(device), self.labels[rows].to(device)


def _role(ids: Tensor, kind: int) -> RoleBatch:
    places = torch.arange(ids.shape[1]).expand_as(ids)
    return RoleBatch(ids, torch.full_like(ids, kind), places, torch.ones_like(ids, dtype=torch.bool), ids)


def laboratory_rows(task: LaboratoryTask, seed: int, count: int, runs: Path) -> LaboratoryRows:
    """The first rows of a seed; written under `runs` once, complete or not at all, for each version of the task."""
    version = sha256(getsource(type(task)).encode()).hexdigest()[:8]
    file = runs / "features" / f"laboratory-{task.NAME}-{task.size}-{seed}-{count}-{version}.npz"
    if not file.is_file():
        examples, look_up = list(task.generate(seed, count)), task.vocabulary.look_up
        rows = [((example.query,), example.keys, example.context) for example in examples]
        columns: dict[str, Any] = {
            side: np.array([look_up(side, row[i]) for row in rows], np.int16) for i, side in enumerate(SIDES)
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part.npz")
        np.savez(part, labels=np.array([example.label for example in examples], np.int64), **columns)
        os.replace(part, file)
    with np.load(file) as arrays:
        query, key, context = (torch.from_numpy(arrays[side].astype(np.int64)) for side in SIDES)
        return LaboratoryRows((query, key, context), torch.from_numpy(arrays["labels"]))
