"""The published results of papers, as text files: one folder per paper, one file per table or figure, no code.

`records/papers/<paper>/` holds `paper.json`, `table-*.json` and `figure-*.json`; their keys are the fields of Paper,
Table and Figure.  A value is stored as printed: "87.49 ± 0.47", "70.6", or "-" for none.

`ours` names the record of ours for a column, a row or a line, by the settings of its config.json: by dotted name
(`model.mechanism`) or its last part (`mechanism`); `data` is the folder of its data set, and a list means any of these.
Settings of column and row are combined.  `records` names a file `<name>.jsonl`, or, by a pattern with `*`, several
files and the listed checkpoints; without it, these are searched first, then `trained.jsonl`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

PRINTED = re.compile(r"(-?\d+(?:\.\d+)?)(?:\s*±\s*(\d+(?:\.\d+)?))?")
Ours = dict[str, str | int | float | bool | list]


class StrictModel(BaseModel):
    """A frozen model that rejects unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Note(StrictModel):
    """A note on a comparison.  about: the group of columns concerned, "" for all."""

    head: str
    text: str
    about: str = ""


class Column(StrictModel):
    """A metric.

    digits: after the point, for ours.  printed: False if the paper has no such column.  split "run": a number of the
    run itself, such as its parameters.  over: ours are divided by this.  note: text next to ours in the head of its
    group.  reason: as that of a row.  spread: the number of the run that is the spread of its own number.
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
    note: str = ""
    reason: str = ""
    spread: str = ""
    ours: Ours = {}


class Row(StrictModel):
    """A system by the paper's name (`TAN_{TAdd}`: a subscript); without `ours` it is not one of ours.

    within: additional settings of `ours` by group of columns.  reason: why ours is empty, if no record can fill it.
    ranked: False if our run was trained on other rows than those beside it, so that its place would mean nothing.
    """

    name: str
    group: str = ""
    values: tuple[str, ...] = ()
    ours: Ours | None = None
    within: dict[str, Ours] = {}
    reason: str = ""
    ranked: bool = True

    @field_validator("values")
    @classmethod
    def _readable(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for text in values:
            if text != "-" and not PRINTED.fullmatch(text):
                raise ValueError(f'{text!r} is no printed value such as "87.49 ± 0.47", "70.6" or "-"')
        return values


class Table(StrictModel):
    """A table of a paper.

    runs: the number of runs behind its means and spreads, if it says so.  ranked_alone: our runs were trained otherwise
    than those of the paper's other tables, so that their rows have no common order.  compared: two groups of columns
    whose difference the table is about, the second less the first.
    """

    kind: Literal["table"]
    number: int
    label: str
    short: str
    title: str
    runs: int = Field(1, ge=1)
    columns: tuple[Column, ...] = Field(min_length=1)
    rows: tuple[Row, ...] = Field(min_length=1)
    notes: tuple[Note, ...] = ()
    ranked_alone: bool = False
    compared: tuple[str, str] | None = None

    @model_validator(mode="after")
    def _whole(self) -> Table:
        num_printed = sum(column.printed for column in self.columns)
        for row in self.rows:
            if len(row.values) != num_printed:
                raise ValueError(
                    f"row {row.name!r} has {len(row.values)} values, the printed columns are {num_printed}"
                )
            if unknown := set(row.within) - {column.group for column in self.columns}:
                raise ValueError(f"row {row.name!r}: no column has the group {min(unknown)!r}")
        if unknown := set(self.compared or ()) - {column.group for column in self.columns}:
            raise ValueError(f"compared: no column has the group {min(unknown)!r}")
        return self

    def printed(self, row: Row, column: Column) -> Printed | None:
        """The printed value of a cell, None if the paper has none."""
        if not column.printed:
            return None
        return parse_printed(
            row.values[[printed_column for printed_column in self.columns if printed_column.printed].index(column)]
        )


class Line(StrictModel):
    """A curve; `chosen`: the value of x that the paper selected."""

    name: str
    ours: Ours = {}
    chosen: float | None = None


class Figure(StrictModel):
    """A figure of a paper: a metric against a setting, `x`.  command: makes the records behind it."""

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
    """Results that could not be reproduced, and why."""

    what: str
    why: str


class Live(StrictModel):
    """A figure of the paper that a page draws for any input; `link`: the page with its settings.

    needs: settings of a checkpoint, as `ours`; the link opens a listed checkpoint with these.  waits: shown instead if
    there is none.
    """

    figure: str
    says: str
    link: str
    needs: Ours = {}
    waits: str = ""


class Paper(StrictModel):
    """A paper.  order: its position among the papers.  setup: notes on the systems, for all its tables."""

    order: int
    name: str
    cite: str
    setup: tuple[Note, ...] = ()
    live: tuple[Live, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True)
class Printed:
    """A printed number, its spread over runs if printed, and the text as in the paper."""

    text: str
    value: float
    spread: float | None

    @property
    def number(self) -> str:
        """The number as in the paper, without its spread."""
        return self.text.partition("±")[0].strip()

    @property
    def spread_text(self) -> str:
        """The spread as in the paper."""
        return self.text.partition("±")[2].strip()


def parse_printed(text: str) -> Printed | None:
    """Parse a value as a paper prints it; None for "-"."""
    match = PRINTED.fullmatch(text)
    return Printed(text, float(match[1]), float(match[2]) if match[2] else None) if match else None


def plain_name(name: str) -> str:
    """A name without the marks of its subscript: `TAN_{TAdd}` → `TAN TAdd`."""
    return re.sub(r"_\{(.*?)\}", r" \1", name).strip()
