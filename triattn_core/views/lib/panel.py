"""A panel of a figure: a map or small maps, the numbers of its cells, and what stands around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from triattn_core.views.lib.marks import Cells, Mark, Thumbs
from triattn_core.views.lib.number_format import probability
from triattn_core.views.lib.palette import pack
from triattn_core.views.lib.reading import Span
from triattn_core.views.lib.readout import Sentence, said

TYPES = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "f4": np.float32}


@dataclass(frozen=True)
class Values:
    """Numbers over some coordinates.  over: their names, one for each axis of `values`: bool, unsigned; all else is
    sent as float32.  Over nothing it is a list that a mark reads as a whole, or one number."""

    over: tuple[str, ...]
    values: np.ndarray = field(repr=False)

    def payload(self) -> dict[str, Any]:
        if self.values.dtype.kind == "b":
            return {"over": list(self.over), "type": "b1", "data": pack(np.packbits(self.values))}
        kind = f"u{self.values.dtype.itemsize}" if self.values.dtype.kind == "u" else "f4"
        return {"over": list(self.over), "type": kind, "data": pack(self.values.astype(TYPES[kind]))}


@dataclass(frozen=True)
class Answer:
    """What the model of a panel says.  right: whether that is the gold label, None where there is none.  score: of the
    model, on a data set."""

    label: str
    probability: float
    right: bool | None = None
    score: str = ""

    @property
    def share(self) -> str:
        """The probability in three digits; empty where nothing is said."""
        return probability(self.probability) if self.label else ""


@dataclass(frozen=True)
class Panel:
    """One map, or one of small maps, with what stands around it.

    rows, columns: coordinates.  cells: how its cells are drawn.  arrays: its numbers, by the names that marks and
    readout use.  marks: what stands beside or below it.  place: (row, column) of the declared grid; on a screen panels
    of all rows fill lines in their order, on paper rows begin lines.
    note: beside its title.  lines: below it.  ink: a colour of the theme, of its badge and bars.
    chooses: (coordinate, place): a click in this panel also sets that.  follows: a coordinate; the panel stands once,
    beside the others, and shows the arrays of the panel that is chosen by that coordinate; on paper it is drawn for
    each.  numbers: an array whose numbers label the columns.  spans: of the text above, while it is chosen.
    printed: on paper below its title, paper_title: in place of that.  on_paper: whether it is printed.

    Panels that choose the same share their arrays: each has those of the first.  Without any there is nothing to
    choose: the nearest of the same coordinate is shown.  empty: said in place of cells that are not there.
    group: panels that have the same stand in one line with this name, below each other where they have no room.
    small: (title, note) above those of this kind, which stand left of their line, or below all, without labels.
    tip: said at the pointer while it is in this panel, or in another small one over the same columns.
    """

    title: str
    rows: str
    columns: str
    cells: Cells | Thumbs
    arrays: Mapping[str, Values] = field(repr=False)
    marks: Sequence[Mark] = ()
    place: tuple[int, int] = (0, 0)
    note: str = ""
    lines: Sequence[str] = ()
    answer: Answer | None = None
    ink: str = ""
    help: str = ""
    chooses: tuple[str, int] | None = None
    follows: str = ""
    numbers: str = ""
    spans: Sequence[Span] = ()
    printed: str = ""
    paper_title: str = ""
    on_paper: bool = True
    empty: str = ""
    group: str = ""
    small: tuple[str, str] | tuple[()] = ()
    tip: Sequence[Sentence] = ()

    def payload(self) -> dict[str, Any]:
        """Without what is empty."""
        content = {
            "title": self.title,
            "rows": self.rows,
            "columns": self.columns,
            "cells": self.cells.payload(),
            "arrays": {name: array.payload() for name, array in self.arrays.items()},
            "marks": [mark.payload() for mark in self.marks],
            "note": self.note,
            "lines": list(self.lines),
            "answer": self.answer and vars(self.answer) | {"share": self.answer.share},
            "ink": self.ink,
            "help": self.help,
            "chooses": self.chooses and list(self.chooses),
            "follows": self.follows,
            "numbers": self.numbers,
            "spans": [span.payload() for span in self.spans],
            "empty": self.empty,
            "group": self.group,
            "small": list(self.small),
            "tip": said(self.tip),
        }
        return {name: value for name, value in content.items() if value or name in ("marks", "title")}
