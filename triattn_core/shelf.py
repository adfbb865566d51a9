"""The shelf: which checkpoints there are, from folder names and JSON alone.  Imports nothing heavy."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from triattn_core.errors import CheckpointError, choices

VARIABLE = "TRIATTN_CHECKPOINTS"
WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class Card:
    """What a folder says of itself; `size` in bytes of its weights; `problem` is one line where it cannot be read."""

    name: str
    path: Path
    config: dict
    metrics: dict
    digest: str
    size: int
    problem: str | None = None


def root() -> Path:
    """The folder of checkpoints: TRIATTN_CHECKPOINTS, or `checkpoints` beside the package."""
    return Path(os.environ.get(VARIABLE) or Path(__file__).parent.parent / "checkpoints")


def encoders() -> Path:
    """The folder of the shared encoders."""
    return root() / "encoders"


def find(name: str | Path) -> Path:
    """The folder of a checkpoint by name, or a folder as it is. Raises CheckpointError with the nearest name."""
    for path in (root() / name, Path(name)):
        if (path / "config.json").is_file():
            return path
    raise CheckpointError(f"no checkpoint {str(name)!r}; {choices(str(name), (card.name for card in shelf()))}")


def shelf(folder: Path | None = None) -> tuple[Card, ...]:
    """All checkpoints under the folder, by name."""
    folder = folder or root()
    if not folder.is_dir():
        return ()
    found = sorted(path.parent for path in folder.glob("*/config.json"))
    return tuple(_card(path) for path in found if path.name != "encoders")


def _card(path: Path) -> Card:
    weights = path / WEIGHTS
    size = weights.stat().st_size if weights.is_file() else 0
    told, problem = {}, None if size else f"{weights}: no such file; train it, or copy the checkpoint anew"
    for name in ("config.json", "metrics.json"):
        file = path / name
        try:
            told[name] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
            if not isinstance(told[name], dict):
                raise ValueError("an object was expected")
        except (OSError, ValueError) as error:
            told[name], problem = {}, f"{file}: not JSON ({error}); copy the checkpoint anew"
    config = told["config.json"]
    return Card(path.name, path, config, told["metrics.json"], str(config.get("digest") or ""), size, problem)
