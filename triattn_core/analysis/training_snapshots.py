"""Snapshots of a laboratory model in training: its attention weights on a few rows, step by step."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from triattn_core.tasks.laboratory import Example

SNAPSHOTS = "film.json"
SCALE = 1000  # weights are written in thousandths


@dataclass(frozen=True)
class TrainingSnapshots:
    """The recorded rows; the step of each frame, and by [frame][row] the weights and the predicted labels."""

    rows: tuple[Example, ...]
    steps: tuple[int, ...]
    maps: tuple[tuple[np.ndarray, ...], ...]
    answers: tuple[tuple[int, ...], ...]

    def frame(self, step: int) -> int:
        """The frame nearest to a step."""
        return min(range(len(self.steps)), key=lambda i: abs(self.steps[i] - step))


def load_snapshots(folder: Path) -> TrainingSnapshots | None:
    """The snapshots stored in a checkpoint folder; None if it has none."""
    file = folder / SNAPSHOTS
    if not file.is_file():
        return None
    written = json.loads(file.read_text("utf-8"))
    frames = written["frames"]
    return TrainingSnapshots(
        tuple(map(Example.from_row, written["rows"])),
        tuple(frame["step"] for frame in frames),
        tuple(tuple(np.array(map_) / SCALE for map_ in frame["maps"]) for frame in frames),
        tuple(tuple(frame["answers"]) for frame in frames),
    )
