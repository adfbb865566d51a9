"""What a figure says of its chosen cell: a table, sentences and a tip, as templates over the arrays of its panels.

A template is text with names in braces: `{query}` is the word of the chosen cell on an axis, `{title}` the title of the
panel, `{help}` what its numbers are, `{weights}` a number of the panel's arrays at the cell, `{weights:percent}` the
same in a format of FORMATS, `{=0.25}` a number of its own, `{about}` says that the number beside slices is not exact.
Of the formats, `plain` is a word without its colour, `rank` a whole number that may be missing (0), `there` and
`change` a number, and one with its sign, that may be not there (NaN), `probability` three digits, never a 1 or a 0 that
is not one, `level` what a level of the panel's scale stands for, `half` two digits, `size` a number without its sign,
which `side` says as `below` or `above`, `at` and `nth` the place on a coordinate from 0 and from 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from triattn_core.views.lib.marks import plain_fields

FORMATS = (
    "number",
    "signed",
    "percent",
    "times",
    "rank",
    "count",
    "there",
    "change",
    "plain",
    "probability",
    "level",
    "half",
    "size",
    "side",
    "at",
    "nth",
)
CHOSEN = -1  # in place of a panel: the one that is chosen


@dataclass(frozen=True)
class Case:
    """Said where the array `when` of the panel has the value `equals` at the cell (None: is no number); without `when`
    always.  bold: what stands out before it."""

    text: str
    when: str = ""
    equals: int | None = 1
    bold: str = ""


@dataclass(frozen=True)
class Sentence:
    """The first case that fits.  panel: whose arrays it reads."""

    cases: Sequence[Case]
    panel: int = CHOSEN


@dataclass(frozen=True)
class Number:
    """A number of a row.  array: of its panel.  over: an array that it is divided by.  of: what it is out of.

    masked: where the panel's `masked` is 1, these words in its place; None: the number still.
    best: an array of columns; then it says the word there and the number there, or one of `otherwise` below zero.
    ranked: its rank in its row, from the largest.  text: a template in place of it."""

    array: str
    format: str = "number"
    over: str = ""
    of: str = ""
    masked: str | None = None
    best: str = ""
    otherwise: Sequence[str] = ()
    ranked: bool = False
    text: str = ""


@dataclass(frozen=True)
class Row:
    """A row of the table: its name, a template; a number for each column, None where it has none.  instead: said where
    its panel has no arrays."""

    name: str
    panel: int
    numbers: Sequence[Number | None]
    instead: str = ""


@dataclass(frozen=True)
class Readout:
    """columns: (name, what it means), both templates.  corner: a template above the names of rows.

    command: what prints the numbers again: a text, and a template behind it."""

    corner: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Row]
    sentences: Sequence[Sentence]
    tip: Sequence[Sentence]
    command: tuple[str, str] | None = None

    def payload(self) -> dict[str, Any]:
        """JSON; lists of numbers that several rows share stand once in `numbers`, where rows name their place."""
        lists = [[number and _short(number) for number in row.numbers] for row in self.rows]
        unique: list[list] = []
        for one in lists:
            if one not in unique:
                unique.append(one)
        rows = [
            {"name": row.name, "panel": row.panel, "numbers": unique.index(one)}
            | ({"instead": row.instead} if row.instead else {})
            for row, one in zip(self.rows, lists)
        ]
        return {
            "corner": self.corner,
            "columns": [list(column) for column in self.columns],
            "numbers": unique,
            "rows": rows,
            "sentences": said(self.sentences),
            "tip": said(self.tip),
            **({"command": list(self.command)} if self.command else {}),
        }


def said(parts: Sequence[Sentence]) -> list[dict[str, Any]]:
    """Sentences as JSON."""
    return [{"panel": one.panel, "cases": [_short(case) for case in one.cases]} for one in parts]


def _short(part: Number | Case) -> dict[str, Any]:
    """Its fields without those that say nothing; of a case that asks for no array also without the value."""
    said = {
        k: value for k, value in asdict(part).items() if value is not False and value not in ("", ()) or k == "masked"
    }
    fields = plain_fields(said)
    if isinstance(part, Number):
        return {name: value for name, value in fields.items() if value is not None}
    return fields if part.when else {name: value for name, value in fields.items() if name != "equals"}
