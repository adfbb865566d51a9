"""Marks of a panel: its cells, and what stands beside or below them.  They name arrays of the panel, never values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


def plain(value: Any) -> Any:
    """A field as JSON has it: a list in place of a tuple."""
    return list(value) if isinstance(value, tuple) else value


def plain_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as JSON has them."""
    return {name: plain(value) for name, value in fields.items()}


@dataclass(frozen=True)
class Mark:
    """What a panel has besides its title; `payload` is its JSON."""

    def payload(self) -> dict[str, Any]:
        """The kind of the mark and its fields, without empty ones."""
        fields = {name: value for name, value in asdict(self).items() if value != "" and value != ()}
        return {"mark": type(self).__name__.lower(), **plain_fields(fields)}


@dataclass(frozen=True)
class Cells(Mark):
    """Cells in colours.  levels: [rows, columns], uint8 on a scale of the figure, or float32, exact values of which the
    browser takes the levels.  order: an array [columns], which of them stands at each place.  masked: 1 where there is
    no cell: it is hatched.  within: 1 where a difference is no larger than between seeds, which is grey."""

    levels: str
    scale: str
    masked: str = ""
    within: str = ""
    order: str = ""


@dataclass(frozen=True)
class Thumbs(Mark):
    """Cells that are small maps themselves: a row of them for each row of the panel, which may have fewer than others.

    levels: of each row an array uint8 [its maps, down, across] on a scale of the figure; scales: of each row its own,
    where rows differ.  down, across: cells of its maps.  below: arrays [rows, columns], whose numbers stand below each
    map; names: of these numbers, at the left.  largest: pixels of the widest and of the highest map.  gaps: said above
    each row and, last, below all.
    """

    levels: Sequence[str]
    scale: str
    down: Sequence[int]
    across: Sequence[int]
    below: Sequence[str] = ()
    names: Sequence[str] = ()
    largest: tuple[int, int] = (150, 150)
    gaps: Sequence[str] = ()
    scales: Sequence[str] = ()


@dataclass(frozen=True)
class Profile(Mark):
    """Below the cells the chosen row as bars, on one scale for all panels whose cells share theirs.

    values: [rows, columns].  name: said below it, of the row's word."""

    values: str
    name: str = ""
    signed: bool = False


@dataclass(frozen=True)
class Bars(Mark):
    """A bar a row, beside the cells.

    values: [rows].  side: `right`, where numbers stand beside the bars, or `left`, between labels and cells.
    lines: below its title.  counts: [rows] of whole numbers, which stand at the far end under `counted`.
    low, high: [rows], between which a line runs on each bar; then bars are shares of one, each on a track.
    ink: a colour of the theme, of these.  printed: its title on paper, where it stands at the right; empty: it is not
    printed.
    """

    values: str
    side: str
    title: str
    lines: Sequence[str] = ()
    counts: str = ""
    counted: str = ""
    size: int = 160
    low: str = ""
    high: str = ""
    ink: str = ""
    printed: str = ""

    def payload(self) -> dict[str, Any]:
        return {name: value for name, value in super().payload().items() if name != "printed"}


@dataclass(frozen=True)
class Margin(Mark):
    """A bar a row at the right, or a bar a column below, of a number along that axis at the chosen cell.

    values: an array over the axis and others; where it was not sent, what the levels of the cells stand for.
    side: `right` or `below`, where the names of the axis's texts stand under it.  note: what its bars are."""

    values: str
    side: str
    note: str


@dataclass(frozen=True)
class Strip(Mark):
    """One more row of cells below the others.  levels: [columns]."""

    levels: str
    label: str


@dataclass(frozen=True)
class Lines(Mark):
    """Lines beside the cells, at the right, as of a dendrogram.

    points: [lines, 4], from (across, row) to (across, row): across from 0 to 1, rows from 0 in their middles."""

    points: str
    title: str = ""
    size: int = 110


@dataclass(frozen=True)
class Shares(Mark):
    """A bar a row at the right: of the panel that is chosen in its ink, of the others pale behind it.

    All marks of this kind are on one scale; the longest bar has its number, and its word where its row is too thin for
    a label.

    values: [rows], of every panel.  lines: below its title."""

    values: str
    title: str
    lines: Sequence[str] = ()
    side: str = "right"
    size: int = 106


@dataclass(frozen=True)
class Ground(Mark):
    """A ground behind the labels of some rows of the panel that is chosen; what it answers stands there where these
    are too thin for labels.

    flags: [rows], of every panel, 1 where it is."""

    flags: str


@dataclass(frozen=True)
class Course(Mark):
    """Below all panels: a row of cells through those that a coordinate chooses, a line for each of a few columns.

    These are the chosen column and those that are largest in some panel.  values: [rows, columns] of each panel;
    dashed: the same, of the chosen column alone; empty for none.  panels: their places in the figure, named `names` at
    the lower axis.  note: a template beside the title; lines: below it.
    """

    title: str
    values: str
    panels: Sequence[int]
    names: Sequence[str]
    dashed: str = ""
    note: str = ""
    lines: Sequence[str] = ()


@dataclass(frozen=True)
class Tally(Mark):
    """Below all panels: shares of one as bars, each with its name and what is said of it at the far end.

    chosen: which one stands out; said: empty where there is nothing to say; bold: which of these stand out, too.
    halfway: what the line at one half is.  lines: below all.
    """

    title: str
    names: Sequence[str]
    shares: Sequence[float]
    said: Sequence[str]
    bold: Sequence[int] = ()
    chosen: int = 0
    ink: str = ""
    note: str = ""
    halfway: str = ""
    lines: Sequence[str] = ()
