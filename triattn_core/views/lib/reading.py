"""What stands above and below the maps of a figure besides its readout: a whole text with the chosen panel's spans, and
for each panel a block of numbers, which a page sends for the cell that is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from triattn_core.views.lib.marks import plain_fields


@dataclass(frozen=True)
class Span:
    """A part of a text, marked while its panel is chosen; an empty one is only said.

    look: `answer` or `next`.  says: what it is, before it in a sentence.  share: a number beside it; help: of what.
    """

    start: int
    end: int
    look: str
    says: str
    share: str = ""
    help: str = ""

    def payload(self) -> dict[str, Any]:
        """JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Above:
    """A text above the maps, with the spans of the chosen panel and the chosen words marked.

    text: its name.  aside: at the end of the sentence that names the spans."""

    text: str
    aside: str = ""

    def payload(self) -> dict[str, Any]:
        """JSON."""
        return plain_fields(asdict(self))


@dataclass(frozen=True)
class Line:
    """A line of a block.  format: of `readout.FORMATS`.  after: behind its number.  bar: whether a bar from the middle
    stands between, all of a block on one scale.  total: whether those above add up to it."""

    name: str
    value: float
    format: str = "number"
    after: str = ""
    help: str = ""
    bar: bool = False
    total: bool = False


@dataclass(frozen=True)
class Block:
    """Numbers of one panel at the chosen cell.

    note: behind its name; pair: words below it that the numbers are of.  said: a sentence.  items: signed numbers in a
    row under `title`: (name, number, what it is).  legends: below them.
    """

    name: str
    lines: Sequence[Line]
    note: str = ""
    pair: str = ""
    said: str = ""
    title: str = ""
    items: Sequence[tuple[str, float, str]] = ()
    legends: Sequence[str] = ()

    def payload(self) -> dict[str, Any]:
        """JSON, without what is empty."""
        fields = asdict(self) | {"lines": [{k: v for k, v in asdict(line).items() if v != ""} for line in self.lines]}
        return {k: v for k, v in plain_fields(fields).items() if v or k == "lines"} | {
            "items": [list(item) for item in self.items]
        }


@dataclass(frozen=True)
class Blocks:
    """A block for each panel below the maps, in place of the readout's table.

    corner: a template, what they are of.  first: those of the cell on which the figure opens; a page sends those of
    others, which a file that stands alone does not have."""

    corner: str
    first: Sequence[Block] = ()

    def payload(self) -> dict[str, Any]:
        """JSON."""
        return {"corner": self.corner, "first": [block.payload() for block in self.first]}
