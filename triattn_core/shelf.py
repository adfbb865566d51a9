"""The shelf: which checkpoints there are, from folder names and JSON alone.  Imports nothing heavy."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
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


def roots() -> tuple[Path, ...]:
    """The folders of checkpoints: those that TRIATTN_CHECKPOINTS names, set apart as in PATH, or `checkpoints`
    beside the package."""
    told = [part for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    return tuple(map(Path, told)) or (Path(__file__).parent.parent / "checkpoints",)


def root() -> Path:
    """The first of them: its records are the project's."""
    return roots()[0]


def add(folders: Sequence[Path]) -> None:
    """Folders beside those that are there already, for this process and those it starts; each holds checkpoints, or is
    one.  Raises CheckpointError where it is neither."""
    for folder in folders:
        if not folder.is_dir():
            raise CheckpointError(f"{folder}: no such folder; name one that holds checkpoints, or is one")
        if not _folders(folder):
            raise CheckpointError(f"{folder}: no checkpoint in it; a checkpoint is a folder with a config.json")
    new = [folder.resolve() for folder in folders]
    os.environ[VARIABLE] = os.pathsep.join(dict.fromkeys(str(one) for one in (*roots(), *new)))


def encoders() -> Path:
    """The folder of the shared encoders."""
    return root() / "encoders"


def encoder(name: str) -> Path | None:
    """The folder of an encoder by name, of the first that has it; None where none has."""
    return next((path for one in roots() if (path := one / "encoders" / name).is_dir()), None)


def find(name: str | Path) -> Path:
    """The folder of a checkpoint by name, or a folder as it is. Raises CheckpointError with the nearest name."""
    known = _named()
    path = known.get(str(name), Path(name))
    if not (path / "config.json").is_file():
        raise CheckpointError(f"no checkpoint {str(name)!r}; one of yours: its folder; {choices(str(name), known)}")
    return path


def called(path: Path) -> str:
    """The name of a checkpoint's folder: on the shelf it may have that of the folder around it before its own."""
    return next((name for name, one in _named().items() if one.resolve() == path.resolve()), path.name)


def shelf(folder: Path | None = None) -> tuple[Card, ...]:
    """All checkpoints under the folder, by name; without one those of all `roots`.

    A root that is not there is a card with a problem, where several are named.
    """
    if folder is not None:
        return tuple(_card(path.name, path) for path in _folders(folder))
    several = roots() if len(roots()) > 1 else ()
    gone = [one for one in several if not one.is_dir()]
    absent = [Card(one.name, one, {}, {}, "", 0, f"{one}: no such folder; {VARIABLE} names it") for one in gone]
    return tuple(sorted([*(_card(*one) for one in _named().items()), *absent], key=lambda card: card.name))


def _folders(folder: Path) -> list[Path]:
    """The checkpoints in a folder, or that one itself."""
    if (folder / "config.json").is_file():
        return [folder]
    return sorted(path.parent for path in folder.glob("*/config.json") if path.parent.name != "encoders")


def _named() -> dict[str, Path]:
    """The checkpoints of all roots; of two with one name the later has the name of the folder around it before its own,
    and a number where that is taken too."""
    found: dict[str, Path] = {}
    for path in dict.fromkeys(path for one in roots() for path in _folders(one)):
        name = path.name if path.name not in found else f"{path.parent.name}/{path.name}"
        number = sum(one == name or one.startswith(f"{name} (") for one in found)
        found[f"{name} ({number + 1})" if number else name] = path
    return found


def _card(name: str, path: Path) -> Card:
    weights = path / WEIGHTS
    size = weights.stat().st_size if weights.is_file() else 0
    told, problem = {}, None if size else f"{weights}: no such file; train it, or copy the checkpoint anew"
    for part in ("config.json", "metrics.json"):
        file = path / part
        try:
            told[part] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
            if not isinstance(told[part], dict):
                raise ValueError("an object was expected")
        except (OSError, ValueError) as error:
            told[part], problem = {}, f"{file}: not JSON ({error}); copy the checkpoint anew"
    config = told["config.json"]
    model = config.get("model", {})
    if not isinstance(model, dict) or not all(isinstance(model.get(what, 1), int) for what in ("layers", "heads")):
        problem = problem or f"{path / 'config.json'}: model must be an object, its layers and heads whole numbers"
    return Card(name, path, config, told["metrics.json"], str(config.get("digest") or ""), size, problem)
