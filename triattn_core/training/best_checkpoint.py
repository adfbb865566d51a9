"""What a run has measured so far, and the epoch of it that is kept: the first of those that are best on dev."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from torch import Tensor

from triattn_core.models.tensors import write_tensors
from triattn_core.training.loop import events

BEST = "best.safetensors"


def keep_best(run: Path, step: int, values: Mapping[str, float], tensors: Mapping[str, Tensor]) -> None:
    """Writes the tensors to `run/BEST` where `found` of this step is better on dev than each epoch before it."""
    before = best([row for row in history(run) if row["step"] < step]).get("dev_accuracy", -1.0)
    if values["dev_accuracy"] > before:
        write_tensors(run / BEST, tensors)


def history(run: Path) -> list[dict]:
    """Rows for a curve: the training loss of each 100 steps, a mean over the steps that were logged (every twentieth),
    and loss and accuracy on dev after each epoch."""
    rows: dict[int, dict] = {}
    losses: list[float] = []
    for event in events(run):
        step = event["step"]
        if event["kind"] == "step":
            losses.append(event["values"]["loss"])
            if step % 100 == 0:
                rows[step] = {"step": step, "train_loss": round(float(np.mean(losses)), 5)}
                losses = []
        elif event["kind"] == "metric":
            rows[step] = {"step": step, **rows.get(step, {}), **event["values"]}
    return [rows[step] for step in sorted(rows)]


def best(rows: Sequence[dict]) -> dict:
    """The row of a history that is best on dev, the first of equals; empty where dev was never measured."""
    return max((row for row in rows if "dev_accuracy" in row), key=lambda row: row["dev_accuracy"], default={})
