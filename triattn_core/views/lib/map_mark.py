"""MapMark: one map of a figure as numbers, from which print draws it.  Colours and theme are the printer's."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from triattn_core.views.lib.labels import Labels
from triattn_core.views.lib.palette import Scale


@dataclass(frozen=True)
class MapMark:
    """One map of two axes.

    axes: the names (of `palette.NAMES`) of the axes down and across.  rows, columns: their labels.
    levels: uint8 [rows, columns] on `scale`, whose title stands at its colour bar.
    cell: (row, column) that is chosen, None where none is.  place: (row, column) among the maps of the figure.
    masked: bool [rows, columns], True where a mask leaves a cell out or a token is not there; None: nowhere.
    within: bool [rows, columns], True where a difference is no larger than between seeds; None: nothing is known of it.
    answer: what the model predicts, or the number below a thumbnail.  score: of the model, on a data set.
    mechanism: of the model, for its badge.  thumb: one of many, without labels.  tree: lines at the right, as
    `lib.marks.Lines` has them.  bars: between map and tree, their title and the number of each row.  before,
    after: words on a line of their own above and below its row of maps.
    """

    title: str
    axes: tuple[str, str]
    rows: Labels = field(repr=False)
    columns: Labels = field(repr=False)
    levels: np.ndarray = field(repr=False)
    scale: Scale
    cell: tuple[int, int] | None
    place: tuple[int, int]
    masked: np.ndarray | None = field(default=None, repr=False)
    within: np.ndarray | None = field(default=None, repr=False)
    answer: str = ""
    score: str = ""
    mechanism: str = ""
    thumb: bool = False
    tree: np.ndarray | None = field(default=None, repr=False)
    bars: tuple[str, np.ndarray] | None = field(default=None, repr=False)
    before: str = ""
    after: str = ""
