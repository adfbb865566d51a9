"""The figures that papers print, as text files: a folder a paper, a file a table or a figure, no code.

`checkpoints/results/papers/<paper>/` holds `paper.json`, `table-*.json` and `figure-*.json`; their keys are the fields
of Paper, Table and Figure.  A printed value is kept as it is printed: "87.49 ± 0.47", "70.6", or "-" for none.

`ours` says which record of ours belongs to a column, a row or a line, by the settings of its config.json: by dotted
name (`model.mechanism`) or by the last part of it (`mechanism`); `data` is the folder of its data set, and a list
means any of these.  Those of column and row hold together.  `records` names a file `checkpoints/results/<name>.jsonl`,
or several and the shelf by a pattern, `*`; without it, the shelf is asked first, then `trained.jsonl`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from triattn_core.checkpoint.registry import root
from triattn_core.errors import DataError, TriattnError
from triattn_core.text.rows import read_json

HERE = Path(__file__).parents[2] / "checkpoints"  # the papers' tables do not depend on whose shelf it is
PRINTED = re.compile(r"(-?\d+(?:\.\d+)?)(?:\s*±\s*(\d+(?:\.\d+)?))?")
Ours = dict[str, str | int | float | bool | list]


class StrictModel(BaseModel):
    """Frozen, and nothing unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Note(StrictModel):
    """What to know before comparing; `about`: the group of columns that it is about, all without; `command`: what makes
    the records it speaks of, shown behind the text where its checkpoints are there."""

    head: str
    text: str
    about: str = ""
    command: str = ""


class Column(StrictModel):
    """A metric; `digits` after the point for ours; not `printed`: ours alone, the paper has no such column.

    `split` "run": a number of the run itself, such as its parameters; ours are divided by `over`.  `said`: what stands
    beside ours in the head of its group.  `reason`: as that of a row.  `spread`: of a run's own number, which other
    number of the run is its spread.
    """

    group: str = ""
    name: str
    metric: str
    unit: str = "%"
    digits: int = Field(1, ge=0, le=6)
    better: Literal["higher", "lower"] = "higher"
    split: Literal["test", "dev", "train", "run"] = "test"
    over: float = Field(1.0, gt=0)
    printed: bool = True
    said: str = ""
    reason: str = ""
    spread: str = ""
    ours: Ours = {}


class Row(StrictModel):
    """A system by the paper's own name (`TAN_{TAdd}`: a subscript); without `ours` it is none of ours.

    `within`: more of `ours` by the group of columns, what differs from row to row there.  `reason`: why ours is empty,
    where no record could ever fill it.
    """

    name: str
    group: str = ""
    values: tuple[str, ...] = ()
    ours: Ours | None = None
    within: dict[str, Ours] = {}
    reason: str = ""

    @field_validator("values")
    @classmethod
    def _readable(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for text in values:
            if text != "-" and not PRINTED.fullmatch(text):
                raise ValueError(f'{text!r} is no printed value such as "87.49 ± 0.47", "70.6" or "-"')
        return values


class Table(StrictModel):
    """A table of a paper; `runs`: over how many its means and spreads are, where it says so."""

    kind: Literal["table"]
    number: int
    label: str
    short: str
    title: str
    runs: int = Field(1, ge=1)
    columns: tuple[Column, ...] = Field(min_length=1)
    rows: tuple[Row, ...] = Field(min_length=1)
    notes: tuple[Note, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Table:
        wanted = sum(column.printed for column in self.columns)
        for row in self.rows:
            if len(row.values) != wanted:
                raise ValueError(f"row {row.name!r} has {len(row.values)} values, the printed columns are {wanted}")
            if unknown := set(row.within) - {column.group for column in self.columns}:
                raise ValueError(f"row {row.name!r}: no column has the group {min(unknown)!r}")
        return self

    def printed(self, row: Row, column: Column) -> Printed | None:
        """The printed value of a cell, None where the paper has none."""
        if not column.printed:
            return None
        return parse_printed(row.values[[one for one in self.columns if one.printed].index(column)])


class Line(StrictModel):
    """A curve; `chosen`: the value of x that the paper went on with."""

    name: str
    ours: Ours = {}
    chosen: float | None = None


class Figure(StrictModel):
    """A figure of a paper: a metric against a setting, `x`.  `command` makes the records that it is drawn from."""

    kind: Literal["figure"]
    number: int
    label: str
    short: str
    title: str
    x: str
    x_name: str
    metric: str
    metric_name: str
    split: Literal["dev", "test"] = "dev"
    ours: Ours = {}
    lines: tuple[Line, ...] = Field(min_length=1)
    command: str
    note: str = ""


class LeftOut(StrictModel):
    """What could not be reached, and why."""

    what: str
    why: str


class Live(StrictModel):
    """A figure of the paper that a page draws for any input; `link`: the page with its settings.

    needs: settings of a checkpoint, as `ours`: the link opens one of the shelf that has them; where there is none,
    `waits` stands in its place.
    """

    figure: str
    says: str
    link: str
    needs: Ours = {}
    waits: str = ""


class Paper(StrictModel):
    """`order`: its place among the papers; `setup`: what the systems of its tables are, for all tables."""

    order: int
    name: str
    cite: str
    setup: tuple[Note, ...] = ()
    live: tuple[Live, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True)
class Printed:
    """A printed number, its spread over runs where one is printed, and the text as it stands in the paper."""

    text: str
    value: float
    spread: float | None

    @property
    def number(self) -> str:
        """The number as it stands in the paper, without its spread."""
        return self.text.partition("±")[0].strip()

    @property
    def spread_text(self) -> str:
        """The spread as it stands in the paper."""
        return self.text.partition("±")[2].strip()


@dataclass(frozen=True)
class PaperRecord:
    """A paper with its tables and figures in the order of their numbers; `problems`: files that cannot be read."""

    paper: Paper
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    problems: tuple[str, ...]


def parse_printed(text: str) -> Printed | None:
    """A value as a paper prints it; None for "-"."""
    match = PRINTED.fullmatch(text)
    return Printed(text, float(match[1]), float(match[2]) if match[2] else None) if match else None


def missing_checkpoints(command: str) -> list[str]:
    """The checkpoints that a command names by their config.json and that are not there."""
    named = re.findall(r"\bcheckpoints/(\S+)/config\.json", command)
    return [name for name in named if not any(HERE.glob(f"{name}/config.json"))]


def plain_name(name: str) -> str:
    """A name without the marks of its subscript: `TAN_{TAdd}` → `TAN TAdd`."""
    return re.sub(r"_\{(.*?)\}", r" \1", name).strip()


def read_model(path: Path, kind: type[StrictModel]) -> StrictModel:
    """Raises DataError in one line that names file and key."""
    try:
        return kind.model_validate(read_json(path))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "file"
        message = first["msg"].removeprefix("Value error, ")
        raise DataError(f"{path}: {key}: {message}") from None


def load_papers() -> tuple[PaperRecord, ...]:
    """The papers of the package, and those of the shelf in use where it is another one."""
    files = [path for top in (HERE, root()) for path in top.glob("results/papers/*/paper.json")]
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


def _read_all(folder: Path, kind: str, of: type[StrictModel], problems: list[str]) -> tuple:
    parts = []
    for path in sorted(folder.glob(f"{kind}-*.json")):
        try:
            parts.append(read_model(path, of))
        except TriattnError as error:
            problems.append(str(error))
    return tuple(sorted(parts, key=lambda part: part.number))
