"""The description of a figure: what is drawn and said, in numbers, without a drawing.

A view returns one.  The browser draws it by one script (`renderer/figure.js`), paper from its `maps`.
Panels share coordinates: a *cell* has a place on each of them, and is chosen in all panels at once.  `payload` is its
JSON, of which `figure.schema.json` is the contract; arrays are bytes in base64, a constant number of digits a value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from triattn_core.views.lib.canvas import Canvas, script, style
from triattn_core.views.lib.labels import Labels, label_ways, labels_of
from triattn_core.views.lib.map_mark import MapMark
from triattn_core.views.lib.marks import Bars, Cells, Course, Lines, Tally, Thumbs, plain
from triattn_core.views.lib.palette import THEMES, Scale, SignedScale, scale_payload, theme_payload
from triattn_core.views.lib.panel import Panel, Values
from triattn_core.views.lib.reading import Above, Blocks
from triattn_core.views.lib.readout import Readout
from triattn_core.views.lib.tokens import cell_axes, map_labels, text_names

VERSION = 1
SCRIPT = "lib/renderer/figure.js"
FURTHER = ("strip", "sliced", "read", "even", "inspector")  # fields that most figures lack
STYLE = ("lib/map_figure.css", "lib/linked_maps.css", "lib/reading.css")


@dataclass(frozen=True)
class Grid:
    """How much room panels take on a screen, in pixels.

    across: the most in a line, where the figure is narrow and where it is wide.  least: of a map that shares a line.
    finest: of a cell there.  widest: of a map.  cell: (the widest a cell, what all cells of a line may take if they are
    few).  row: (least, most, what all rows aim at).  labels: (least, most) of the words at the left.  repeats: whether
    each line names its columns again.  focus: of more than twice as many rows (how many around the chosen one have that
    height, what all others share); all have it where it is empty.
    """

    across: tuple[int, int] = (4, 4)
    least: int = 150
    finest: int = 0
    widest: int = 1000
    cell: tuple[int, int] = (30, 200)
    row: tuple[float, float, float] = (5, 25, 280)
    labels: tuple[int, int] = (40, 110)
    gutter: int = 26
    repeats: bool = True
    focus: tuple[int, ...] = ()


@dataclass(frozen=True)
class Moves:
    """How a coordinate that is not of the maps' words moves.

    words: the axis whose words its places are; empty for numbers.  keys: (back, on), as an event names them, after
    `Shift+` where that is held.  along: an axis with which it goes to the place that the first array of `to` has there;
    it stays where it was chosen for the same word, that is, where none of these arrays has it.
    """

    words: str = ""
    keys: tuple[str, str] | tuple[()] = ()
    along: str = ""
    to: Sequence[str] = ()

    def payload(self) -> dict[str, Any]:
        """JSON, without what is empty."""
        return {name: plain(value) for name, value in vars(self).items() if value}


@dataclass(frozen=True)
class Figure:
    """axes: coordinates with words, as `lib.tokens` gives them; `title` there stands beside the maps, `ink` is a colour
    of the theme, `marked` 1 where a mark stands before a label.  counts: the other coordinates, each with its size; a
    cell has a place on the axes, then on these.
    scales: by the names that cells use; the first has `mark` at its line of even weight.  walk: the strongest cells,
    in their order.  keys, walks: what the arrow keys, and n and p, do, in words.  scale_lines: what is said of scales.
    strip: it stands above another figure: without scales and readout, and shows what the page says.
    above: a text above the maps.  blocks: what stands below them in place of texts and table.
    moves: of coordinates.  charts: below all panels.  read: of each text how many characters the model reads.
    even: an array of columns, the even weight of each, where `mark` stands then.  keys may name single keys: [key, …]
    among words.  mark and scale_lines are templates; what stands behind a tab there is a number at the right.
    Where each of several panels has a scale of its own, it stands below that panel.
    sliced: its panels are slices through one cell of three axes: of the first two, of the first and the last, and of
    the second and the last; all have the arrays of the first.  Pages know its cells by the positions of its axes.
    inspector: what stands beside slices; see the schema.
    """

    title: str
    alt: str
    texts: Mapping[str, str]
    axes: Mapping[str, Mapping[str, Any]] = field(repr=False)
    counts: Mapping[str, int]
    cell: tuple[int, ...]
    scales: Mapping[str, Scale]
    panels: Sequence[Panel]
    readout: Readout = field(repr=False)
    walk: Sequence[Sequence[int]] = field(repr=False)
    keys: str | Sequence[str | Sequence[str]]
    walks: str
    grid: Grid = Grid()
    caption: str = ""
    notes: str = ""
    mark: str = ""
    scale_lines: Sequence[str] = ()
    strip: bool = False
    above: Above | None = None
    blocks: Blocks | None = None
    moves: Mapping[str, Moves] = field(default_factory=dict)
    charts: Sequence[Course | Tally] = ()
    read: Mapping[str, int] = field(default_factory=dict)
    even: str = ""
    sliced: bool = False
    inspector: Mapping[str, Any] = field(default_factory=dict, repr=False)
    height: int = 720

    @property
    def sizes(self) -> dict[str, int]:
        """The coordinates of a cell, in order, each with its size."""
        return {**{name: len(axis["label"]) for name, axis in self.axes.items()}, **self.counts}

    @property
    def page_cell(self) -> tuple[int, ...]:
        """The cell on which it opens, as pages know it."""
        if not self.sliced:
            return self.cell
        return tuple(axis["position"][place] for axis, place in zip(self.axes.values(), self.cell))

    def payload(self) -> dict[str, Any]:
        """JSON for the script; see `figure.schema.json`."""
        return {
            "version": VERSION,
            "alt": self.alt,
            "caption": self.caption,
            "notes": self.notes,
            "texts": dict(self.texts),
            "names": text_names(self.texts),
            "axes": {name: {**axis, **self.labels[name].payload()} for name, axis in self.axes.items()},
            "coordinates": [
                *([name, len(axis["label"])] for name, axis in self.axes.items()),
                *map(list, self.counts.items()),
            ],
            "cell": list(self.page_cell),
            "scales": {name: scale_payload(scale) for name, scale in self.scales.items()},
            "mark": self.mark,
            "scale_lines": list(self.scale_lines),
            "panels": [panel.payload() for panel in self.panels],
            "grid": {name: plain(size) for name, size in vars(self.grid).items()},
            "readout": self.readout.payload(),
            "walk": [list(map(int, cell)) for cell in self.walk],
            "keys": self.keys if isinstance(self.keys, str) else [plain(part) for part in self.keys],
            "walks": self.walks,
            **{name: value for name in FURTHER if (value := getattr(self, name))},
            **({"moves": {name: one.payload() for name, one in self.moves.items()}} if self.moves else {}),
            **({"charts": [chart.payload() for chart in self.charts]} if self.charts else {}),
            **{name: part.payload() for name in ("above", "blocks") if (part := getattr(self, name))},
        }

    @cached_property
    def labels(self) -> dict[str, Labels]:
        """Of each axis, those named first that have the strongest cells in any panel."""
        return {
            name: labels_of(
                map_labels(axis),
                self._strengths(name),
                axis.get("flat", False),
                axis["special"],
                axis.get("marked", ()),
            )
            for name, axis in self.axes.items()
        }

    def _strengths(self, name: str) -> np.ndarray:
        """Of each place of an axis its level that is farthest from zero."""
        strengths, seen = np.zeros(self.sizes[name]), set()
        for panel in self.panels:
            if not isinstance(panel.cells, Cells) or name not in (panel.rows, panel.columns):
                continue
            for host in self._hosts(panel):
                array, scale = self._arrays(host).get(panel.cells.levels), self.scales[panel.cells.scale]
                if array is None or name not in array.over or id(array) in seen:
                    continue
                seen.add(id(array))
                levels, zero = _levels(array.values, scale), scale.steps // 2 if isinstance(scale, SignedScale) else 0
                others = tuple(i for i, one in enumerate(array.over) if one != name)
                ends = (levels.max(others, initial=zero), levels.min(others, initial=zero))
                strengths = np.max([strengths, *(np.abs(end.astype(float) - zero) for end in ends)], axis=0)
        return strengths

    def _hosts(self, panel: Panel) -> list[Panel]:
        """The panels whose arrays a panel shows."""
        hosts = [one for one in self.panels if one.chooses and one.chooses[0] == panel.follows]
        return hosts if panel.follows else [panel]

    def maps(self) -> tuple[MapMark, ...]:
        """Its maps for paper; a panel that follows a coordinate once for each place there."""
        made = []
        for panel in self.panels:
            if isinstance(panel.cells, Thumbs):
                made += self._thumbs(panel, panel.cells)
                continue
            made += [] if panel.follows or not self._is_printed(panel) else [self._map(panel, panel)]
            chosen = panel.chooses[0] if panel.chooses else None
            followers = [one for one in self.panels if one.on_paper and one.follows and one.follows == chosen]
            made += [self._map(follower, panel) for follower in followers]
        return tuple(made)

    def _thumbs(self, panel: Panel, cells: Thumbs) -> list[MapMark]:
        """A map for each that is drawn, named by its row and column, with the first number below it."""
        made, first = [], panel.arrays[cells.below[0]].values if cells.below else None
        scales = [self.scales[name] for name in cells.scales or [cells.scale] * len(cells.levels)]
        gaps = [*cells.gaps] or [""] * (len(cells.levels) + 1)
        for row, (title, name) in enumerate(zip(self.axes[panel.rows]["label"], cells.levels)):
            words = (gaps[row], gaps[-1] * (row == len(cells.levels) - 1))  # above and below the row
            for column, levels in enumerate(panel.arrays[name].values):
                label = self.axes[panel.columns]["label"][column]
                number = np.nan if first is None else float(first[row, column])
                called, said = f"{title}.{label}" if title else label, f"{number:.2g}" if np.isfinite(number) else ""
                down, across = (labels_of([str(i + 1) for i in range(size)]) for size in levels.shape)
                sides, place = ("query", "key"), (row, column)
                mark = MapMark(called, sides, down, across, levels, scales[row], (0, 0), place, answer=said, thumb=True)
                made.append(mark if column else replace(mark, before=words[0], after=words[1]))
        return made

    def _arrays(self, panel: Panel) -> Mapping[str, Values]:
        """Its arrays and those of the first panel that chooses the same; of slices of the first."""
        shares = panel.chooses or self.sliced
        same = [one.arrays for one in self.panels if shares and one.chooses == panel.chooses]
        return {**same[0], **panel.arrays} if same else panel.arrays

    def _is_printed(self, panel: Panel) -> bool:
        return panel.on_paper and isinstance(panel.cells, Cells) and panel.cells.levels in self._arrays(panel)

    def _levels(self, panel: Panel, host: Panel) -> np.ndarray:
        """Its levels, also where exact values are sent."""
        assert isinstance(panel.cells, Cells)
        return _levels(self._plane(panel, self._arrays(host)[panel.cells.levels]), self.scales[panel.cells.scale])

    def _plane(self, panel: Panel, array: Values) -> np.ndarray:
        """The rows and columns of a panel, on what else an array is over at the chosen place."""
        cell = dict(zip(self.sizes, self.cell))
        return array.values[tuple(slice(None) if n in (panel.rows, panel.columns) else cell[n] for n in array.over)]

    def _map(self, panel: Panel, host: Panel) -> MapMark:
        assert isinstance(panel.cells, Cells)
        cell = dict(zip(self.sizes, self.cell))
        sides = panel.rows, panel.columns
        labels = [self._labels(name, panel, host) for name in sides]
        arrays, names = self._arrays(host), filter(None, (panel.cells.masked, panel.cells.within))
        flags = {name: self._plane(panel, arrays[name]).astype(bool) for name in names}
        name = panel.paper_title or panel.title
        title = f"{host.title.partition(',')[0]}: {name}" if panel.follows else name
        trees = [arrays[mark.points].values.reshape(-1, 4) for mark in panel.marks if isinstance(mark, Lines)]
        bars = [(mark.printed, arrays[mark.values].values) for mark in _printed_bars(panel)]
        answer, place = panel.answer, (panel.place[0], host.place[1]) if panel.follows else panel.place
        said = ", ".join(filter(None, (answer.label, answer.share))) if answer else panel.printed
        return MapMark(
            title,
            (self._ink(panel.rows), self._ink(panel.columns)),
            labels[0],
            labels[1],
            self._levels(panel, host),
            self._scale(panel),
            (cell[sides[0]], cell[sides[1]]),
            place,
            flags.get(panel.cells.masked),
            flags.get(panel.cells.within),
            answer=said,
            score=answer.score if answer else "",
            mechanism=panel.ink,
            tree=trees[0] if trees else None,
            bars=bars[0] if bars else None,
        )

    def _scale(self, panel: Panel) -> Scale:
        """The scale of a panel; where another has the same title, it says which panel it is of."""
        assert isinstance(panel.cells, Cells)
        scale = self.scales[panel.cells.scale]
        alike = [one for one in self.scales.values() if one.title == scale.title]
        return replace(scale, title=f"{panel.title}: {scale.title}") if len(alike) > 1 else scale

    def _ink(self, name: str) -> str:
        """The colour of a coordinate's words."""
        ink = self.axes[name]["ink"] if name in self.axes else name
        return ink if ink in THEMES["light"] else "muted"

    def _labels(self, name: str, panel: Panel, host: Panel) -> Labels:
        if panel.numbers and name == panel.columns:
            return labels_of([f"{number:.0f}" for number in host.arrays[panel.numbers].values])
        return self.labels[name]

    def canvas(self) -> Canvas:
        """The figure with the script that draws it."""
        return Canvas(
            self.payload(),
            figure_script(),
            style(*STYLE),
            self.title,
            self.alt,
            height=self.height,
            caption=self.caption,
            texts=dict(self.texts),
            cell=self.page_cell,
            axes=cell_axes(self.axes, self.counts),
            maps=self.maps(),
        )


@cache
def figure_script() -> str:
    """The script of every described figure, before it the colours of both themes and the rule of labels."""
    constants = {"THEMES": theme_payload("log", "signed"), "LABELS": label_ways()}
    lines = [f"const {name} = {json.dumps(value)};" for name, value in constants.items()]
    return "\n".join([*lines, script(SCRIPT)])


def _printed_bars(panel: Panel) -> list[Bars]:
    return [mark for mark in panel.marks if isinstance(mark, Bars) and mark.printed and mark.side == "right"]


def _levels(values: np.ndarray, scale: Scale) -> np.ndarray:
    """Levels, also where exact values are sent."""
    return values if values.dtype.kind == "u" else scale.levels(values.astype(np.float32))


def strongest_cells(sizes: np.ndarray, most: int = 100) -> list[tuple[int, ...]]:
    """Places of the largest of an array, the largest first, of equal ones the first; NaN is left out."""
    flat = np.where(np.isfinite(sizes), sizes, -np.inf).ravel()
    order = np.argsort(-flat, kind="stable")[:most]
    return [tuple(map(int, np.unravel_index(i, sizes.shape))) for i in order if flat[i] > -np.inf]
