"""The papers' results, read from their files: see `paper_schema`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from triattn_core.checkpoint import registry
from triattn_core.errors import DataError, TriattnError
from triattn_core.results.paper_schema import Figure, Paper, StrictModel, Table
from triattn_core.results.run_records import SHIPPED, records_folder
from triattn_core.text.rows import read_json

Model = TypeVar("Model", bound=StrictModel)


@dataclass(frozen=True)
class PaperRecord:
    """A paper with its tables and figures in the order of their numbers; `problems`: files that cannot be read."""

    paper: Paper
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    problems: tuple[str, ...]


def missing_checkpoints(command: str) -> list[str]:
    """The checkpoints that a command names by their config.json and that are missing."""
    named = re.findall(r"\bcheckpoints/(\S+)/config\.json", command)  # may have wildcards
    return [Path(path).name for path in named if not any(registry.SHIPPED.glob(f"{path}/config.json"))]


def read_model(path: Path, kind: type[Model]) -> Model:
    """Read a model from JSON.  Raises DataError, in one line that names file and key."""
    try:
        return kind.model_validate(read_json(path))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "file"
        message = first["msg"].removeprefix("Value error, ")
        raise DataError(f"{path}: {key}: {message}") from None


def load_papers() -> tuple[PaperRecord, ...]:
    """The papers of the package, and those of the first root; they do not depend on the checkpoints in use."""
    files = [path for top in (SHIPPED, records_folder()) for path in top.glob("papers/*/paper.json")]
    folders = {path.parent.name: path.parent for path in files}
    papers, broken = [], []
    for folder in folders.values():
        problems: list[str] = []
        tables = _read_all(folder, "table", Table, problems)
        figures = _read_all(folder, "figure", Figure, problems)
        try:
            papers.append(PaperRecord(read_model(folder / "paper.json", Paper), tables, figures, tuple(problems)))
        except TriattnError as error:
            broken.append(PaperRecord(Paper(order=999, name=folder.name, cite=""), (), (), (str(error), *problems)))
    return tuple(sorted(papers + broken, key=lambda record: record.paper.order))


def _read_all(folder: Path, kind: str, model: type[StrictModel], problems: list[str]) -> tuple:
    parts = []
    for path in sorted(folder.glob(f"{kind}-*.json")):
        try:
            parts.append(read_model(path, model))
        except TriattnError as error:
            problems.append(str(error))
    return tuple(sorted(parts, key=lambda part: part.number))
