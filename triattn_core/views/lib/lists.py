"""The description of a figure of texts: sections beside each other, with lists of rows and with passages.

The script of all described figures draws it (`renderer/lists.js`); `lists.schema.json` is the contract of its JSON.
A list has columns, each a mark with a value for every row; a click on a row sends its value to the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triattn_core.views.lib.canvas import Canvas, style
from triattn_core.views.lib.figure import figure_script
from triattn_core.views.lib.marks import Mark, plain

STYLE = ("lib/lists.css", "lib/list_cells.css")


@dataclass(frozen=True)
class Words(Mark):
    """Texts.  look: `mark`, `who`, `name`, `text`, `bubble`, or `number`.  help: of each, at the pointer.  heard:
    behind each, for screen readers alone."""

    values: Sequence[str]
    look: str
    title: str = ""
    help: Sequence[str] = ()
    heard: str = ""


@dataclass(frozen=True)
class Chips(Mark):
    """A word in a frame, where it is said of the row."""

    values: Sequence[bool]
    word: str


@dataclass(frozen=True)
class Meters(Mark):
    """A bar with its number; nothing where the value is None.  most: what the longest bar of `size` pixels stands for.
    said: the numbers in words.  track: whether the whole length is seen, too."""

    values: Sequence[float | None]
    said: Sequence[str]
    most: float = 1.0
    ink: str = ""
    title: str = ""
    size: int = 110
    track: bool = True


@dataclass(frozen=True)
class Dots(Mark):
    """A dot for each of a few things, filled where it is in the row; a line joins those.

    inks: colours of the theme."""

    values: Sequence[Sequence[bool]]
    titles: Sequence[str]
    inks: Sequence[str]


@dataclass(frozen=True)
class Halves(Mark):
    """One bar, or two from the middle, with their numbers.  full: what a full bar stands for in each row; broken: the
    rows where that is more than in others.  ticks: further numbers, as notches, which are `ticked`.  notes: at the end
    of each row."""

    values: Sequence[Sequence[int]]
    full: Sequence[int]
    titles: Sequence[str] = ()
    broken: Sequence[bool] = ()
    ticks: Sequence[Sequence[int]] = ()
    ticked: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Splits(Mark):
    """A bar in two parts, whose names stand above its ends and whose numbers below.  said: between the names, and what
    stands above its end."""

    values: Sequence[Sequence[int]]
    names: Sequence[Sequence[str]]
    inks: Sequence[Sequence[str]]
    said: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Pins(Mark):
    """A button beside each row.  values: their words.  sends: the name of what a click sends, the value of its row.
    pressed: those that are chosen already; a click on one does nothing."""

    values: Sequence[str]
    pressed: Sequence[bool]
    sends: str


@dataclass(frozen=True)
class Rows:
    """A list.  sends: the name of what a click on a row sends, without which nothing happens; values: that, of each.

    chosen: a row, -1 for none; cleared: what a click on it sends, where it chooses none.  ink: its colour.
    looks: of each row words of `mute`, `even`, `asks`, `pinned` and `ruled`, which has a line below it.
    tall: pixels of a list that scrolls; ends: it opens on its end.
    """

    columns: Sequence[Mark]
    sends: str = ""
    values: Sequence[Any] = ()
    chosen: int = -1
    cleared: Any = None
    ink: str = ""
    looks: Sequence[str] = ()
    tall: int = 0
    ends: bool = False

    def payload(self) -> dict[str, Any]:
        """JSON, without what is empty."""
        fields = {name: plain(value) for name, value in vars(self).items() if value or name == "chosen"}
        return {"kind": "rows", **fields, "columns": [column.payload() for column in self.columns]}


@dataclass(frozen=True)
class Passage:
    """A text of which parts are shaded.  shades: (start, end, share, what it is), the largest share the darkest.
    begins, read: the characters between which it is read; the rest is pale.  tall: pixels of one that scrolls."""

    text: str
    shades: Sequence[tuple[int, int, float, str]]
    begins: int
    read: int
    tall: int

    def payload(self) -> dict[str, Any]:
        """JSON."""
        return {"kind": "passage", **vars(self), "shades": [list(shade) for shade in self.shades]}


@dataclass(frozen=True)
class Section:
    """Lists and passages below each other.  note: beside the title.  lead, foot: sentences above and below them.
    most: pixels of its width, 0 for as many as there are; room: its part of these."""

    title: str
    parts: Sequence[Rows | Passage]
    note: str = ""
    lead: str = ""
    foot: str = ""
    room: int = 1
    most: int = 0

    def payload(self) -> dict[str, Any]:
        """JSON, without what is empty."""
        fields = {name: value for name, value in vars(self).items() if value and name != "parts"}
        return {**fields, "parts": [part.payload() for part in self.parts]}


@dataclass(frozen=True)
class Lists:
    """title, alt: plain text, as of a `Canvas`."""

    title: str
    alt: str
    sections: Sequence[Section]
    height: int = 320

    def payload(self) -> Mapping[str, Any]:
        """JSON for the script; see `lists.schema.json`."""
        return {"version": 1, "alt": self.alt, "sections": [section.payload() for section in self.sections]}

    def canvas(self) -> Canvas:
        """The figure with the script that draws it."""
        return Canvas(self.payload(), figure_script(), style(*STYLE), self.title, self.alt, height=self.height)
