"""What a printed figure is made of: maps, colour bars, and the sheet that they stand on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from triattn_core.views.lib.labels import Labels


@dataclass(frozen=True)
class Plate:
    """One map.

    axes: what stands down and across.  colours: uint8 [rows, columns, 3].  out: True where a mask leaves a cell out or
    a token is not there.  cell: (row, column) that is chosen, or None.  place: (row, column) among the plates.
    below: True where the value is below zero: a dash says it without hue.
    answer: what the model says; score: of the model, on a data set; badge: the colour of its mechanism.  thumb: one of
    many, without labels.  ticks: of its scale, as its `Bar` has them.
    letter: of the panel, where there are several.  tree: lines at the right, [lines, 4].
    bars: between map and tree, their title and the number of each row.
    before, after: words on a line of their own above and below its row of maps.
    """

    title: str
    axes: tuple[str, str]
    rows: Labels = field(repr=False)
    columns: Labels = field(repr=False)
    colours: np.ndarray = field(repr=False)
    out: np.ndarray = field(repr=False)
    cell: tuple[int, int] | None
    place: tuple[int, int]
    below: np.ndarray = field(repr=False)
    answer: str = ""
    score: str = ""
    badge: str = ""
    thumb: bool = False
    ticks: Sequence[tuple[float, str]] = field(default=(), repr=False)
    letter: str = ""
    tree: np.ndarray | None = field(default=None, repr=False)
    bars: tuple[str, np.ndarray] | None = field(default=None, repr=False)
    before: str = ""
    after: str = ""

    @property
    def heading(self) -> str:
        """Its title, with what the model says."""
        return f"{self.title}: {self.answer}" if self.answer else self.title


@dataclass(frozen=True)
class Bar:
    """A colour bar.  table: uint8 [steps, 3].  ticks: (place on it, 0 to 1, and what stands there)."""

    title: str
    table: np.ndarray = field(repr=False)
    ticks: Sequence[tuple[float, str]]


@dataclass(frozen=True)
class Sheet:
    """Plates on one page, with their colour bars.  texts: the input, under the title.  sentence: alt text."""

    title: str
    caption: str
    texts: str
    sentence: str
    plates: Sequence[Plate]
    bars: Sequence[Bar]
