"""The history of a run, and its best epoch on dev (the first on ties), which is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from torch import Tensor

from triattn_core.models.tensors import write_tensors
from triattn_core.training.loop import events

BEST = "best.safetensors"
SCORES = ("dev_accuracy", "dev_f1", "dev_bleu")  # the first that a model has on dev decides which epoch is best


def keep_best(run: Path, step: int, values: Mapping[str, float], tensors: Mapping[str, Tensor]) -> None:
    """Write the tensors to `run/BEST` if `values` of this step are better on dev than those of all previous epochs."""
    score = next(name for name in SCORES if name in values)
    if values[score] > best([row for row in history(run) if row["step"] < step]).get(score, -1.0):
        write_tensors(run / BEST, tensors)


def history(run: Path) -> list[dict]:
    """Rows for a curve: the training loss of each 100 steps, averaged over the logged steps (every twentieth), and loss
    and accuracy on dev after each epoch."""
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
    """The best row of a history on dev, the first on ties; empty if dev was never measured."""
    score = next((name for name in SCORES if any(name in row for row in rows)), SCORES[0])
    return max((row for row in rows if score in row), key=lambda row: row[score], default={})
