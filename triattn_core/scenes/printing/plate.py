"""One map and one colour bar of a printed figure, on axes of Matplotlib."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from triattn_core.scenes.printing.letters import type_width
from triattn_core.scenes.printing.sheet import Bar, Plate
from triattn_core.views.lib.labels import Labels, label_ways
from triattn_core.views.lib.palette import THEMES

LETTER = 0.0085  # inches a point of type, of a letter
STANDING = 0.01  # the same, of a label that stands below leaning ones
LEAN = 0.71  # of a leaning label's length its height
PAD = 2  # points between labels and cells
DASHED = 0.1  # inches of a cell that has room for a dash
TREE = 0.5  # inches right of a map, of lines beside it
BARS = 0.64  # inches right of a map, of bars beside it
NUMBER = 0.27  # of these, of the number at a bar
FINE = 40  # cells of an axis from which no lines stand between them


@dataclass(frozen=True)
class Look:
    """tint: colours by name, as `palette.THEMES` has them.  size: of the smallest type, in points.  crosshair: whether
    the chosen cell is framed and named.  ground: behind the figure, a colour or `none`."""

    tint: Mapping[str, str] = field(default_factory=lambda: THEMES["light"], repr=False)
    size: float = 8.0
    crosshair: bool = True
    ground: str = THEMES["light"]["page"]


@dataclass(frozen=True)
class LabelLayout:
    """How labels along a side are drawn, of `label_ways`; apart: inches from one to the next, step: in cells."""

    apart: float
    step: int
    lean: bool
    lines: int


def shorten(label: str, size: float) -> str:
    """A label with as many letters as have room."""
    room = label_ways()["longest"] * size / 72
    if type_width(label, size) <= room:
        return label
    letters = bisect_right(range(len(label)), room, key=lambda count: type_width(label[:count] + "…", size))
    return label[: max(letters - 1, 1)] + "…"


def label_room(labels: Labels, size: float) -> float:
    """Inches that the widest label takes."""
    return 0.12 + max((type_width(shorten(text, size), size) for text in dict.fromkeys(labels.texts)), default=0.0)


def label_way(labels: Labels, across: bool, pitch: float, size: float) -> LabelLayout:
    """How they are drawn.  across: they name columns; pitch: inches of a cell.  Type is never smaller than `size`."""
    rule, em = label_ways(), size / 72
    widest = max((type_width(text, size) for text, stands in _words(labels) if not stands), default=0.0)
    ways = [
        LabelLayout(
            room, int(np.ceil(room / pitch - 1e-9)) if pitch else 1, way.get("lean", False), way.get("lines", 1)
        )
        for way in rule["columns" if across else "rows"][labels.kind]
        if way.get("size", 1) == 1
        for room in [em * way["apart"] if "apart" in way else widest + em * rule["gap"]]
    ]
    return next((way for way in ways if way.step <= 1), ways[-1])


def label_pitch(labels: Labels, across: bool, size: float) -> float:
    """Inches from one label to the next where all are drawn in the way that is the last to be tried."""
    return label_way(labels, across, 1e-3, size).apart


def _words(labels: Labels) -> list[tuple[str, bool]]:
    """The labels, each with whether it stands."""
    return list(dict.fromkeys(zip(labels.texts, labels.stands or [False] * len(labels))))


def named(labels: Labels, way: LabelLayout, pitch: float, first: int | None = None) -> list[int]:
    """The places of the labels that are drawn: `first`, then by rank, none nearer than the way asks for."""
    kept: list[int] = []
    for place in [*([] if first is None else [first]), *labels.order]:
        if all(abs(place - other) * pitch >= way.apart - 1e-9 for other in kept) or way.step <= 1:
            kept.append(place)
    return sorted(set(kept))


def room_above(labels: Labels, pitch: float, size: float) -> float:
    """Inches above a map that its labels across take.  pitch: of a cell."""
    way = label_way(labels, True, pitch, size)
    lines = label_ways()["line"] * size / 72 * (way.lines - 1)
    if not way.lean or all(labels.stands):
        return 0.22 + lines
    return 0.1 + LEAN * label_room(labels, size) + lines + STANDING * size * any(labels.stands)


def beside_room(plate: Plate) -> float:
    """Inches that bars and tree at its right take."""
    return (BARS if plate.bars is not None else 0.0) + (TREE if plate.tree is not None else 0.0)


def rows_room(plate: Plate, size: float) -> float:
    """Inches that the labels of its rows take."""
    return 0.0 if plate.thumb else label_room(plate.rows, size)


def columns_room(plate: Plate, pitch: float, size: float) -> float:
    """Inches above it that the labels of its columns take."""
    return 0.02 if plate.thumb else room_above(plate.columns, pitch, size)


def draw_plate(
    axes: Axes, plate: Plate, pitch: tuple[float, float], style: Look, has_labels: Sequence[bool] = (True, True)
) -> None:
    """The cells, their labels, and the chosen one.

    pitch: inches of a cell down and across.  has_labels: whether rows and columns have them.
    """
    rows, columns, tint = len(plate.rows), len(plate.columns), style.tint
    axes.patch.set(facecolor=style.ground, edgecolor=tint["hairline"], hatch="////" if plate.out.any() else "")
    colours = np.dstack([plate.colours, np.where(plate.out, 0, 255).astype(np.uint8)])
    if plate.thumb:
        axes.imshow(colours, interpolation="nearest", aspect="auto")
        axes.set_axis_off()
        return
    lines = 0.6 if max(rows, columns) <= FINE and min(pitch) >= DASHED / 2 and style.ground != "none" else 0
    mesh = axes.pcolormesh(colours, edgecolors=style.ground, linewidth=lines)
    mesh.set_rasterized(rows * columns > 4096)
    if min(pitch) >= DASHED:
        places, is_dark = np.argwhere(plate.below), plate.colours.mean(-1)[plate.below] < 128
        dark = tint["text"] if style.tint is not THEMES["dark"] else tint["page"]
        light = tint["page"] if style.tint is not THEMES["dark"] else tint["text"]
        axes.scatter(
            places[:, 1] + 0.5, places[:, 0] + 0.5, marker="_", s=14, linewidths=0.7, c=np.where(is_dark, light, dark)
        )
    axes.set(xlim=(0, columns), ylim=(rows, 0))
    axes.set(xticks=[], yticks=[])
    for across in filter(has_labels.__getitem__, (0, 1)):
        _name_cells(axes, plate, across, pitch[across], style)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if plate.tree is not None:
        left = len(plate.columns) + (BARS if plate.bars else 0.0) / pitch[1]
        _draw_tree(axes, plate.tree, left, pitch[1], tint["muted"])
    if plate.bars is not None:
        _draw_bars(axes, *plate.bars, plate, pitch, style)
    if style.crosshair and plate.cell is not None:
        _frame_cell(axes, plate.axes, colours.shape, plate.cell, tint)


def _name_cells(axes: Axes, plate: Plate, across: int, pitch: float, style: Look) -> None:
    """As many labels as there is room for; the chosen one is always named: its neighbours give way to it."""
    labels = plate.columns if across else plate.rows
    way = label_way(labels, bool(across), pitch, style.size)
    chosen = plate.cell[across] if style.crosshair and plate.cell is not None else None
    for i in named(labels, way, pitch, chosen):
        leans = bool(across) and way.lean and not labels.stands[i]
        ahead = PAD + label_ways()["line"] * style.size * (0 if leans else i % way.lines)
        if leans:
            ahead += 72 * STANDING * style.size * any(labels.stands)
        side: dict[str, Any] = {"ha": "right", "va": "center"}
        if across:
            side = {"ha": "left" if leans else "center", "va": "bottom"}
        elif way.lines > 1:
            side["ha"] = "center"
            ahead += style.size / 2
        axes.annotate(
            shorten(labels.texts[i], style.size),
            (i + 0.5, 0) if across else (0, i + 0.5),
            (0, ahead) if across else (-ahead, 0),
            textcoords="offset points",
            annotation_clip=False,
            fontsize=style.size,
            color=style.tint[plate.axes[across] if i == chosen else "text"],
            weight=700 if i == chosen else 400,
            rotation=45 if leans else 0,
            rotation_mode="anchor",
            parse_math=False,
            **side,
        )


def _draw_bars(
    axes: Axes, title: str, values: np.ndarray, plate: Plate, pitch: tuple[float, float], style: Look
) -> None:
    """A bar a row right of the cells, with its number where its row's label stands; below them their title."""
    tint, left = style.tint, len(plate.columns) + 0.08 / pitch[1]
    unit = (BARS - 0.12 - NUMBER) / pitch[1] / max(float(np.nanmax(values, initial=0.0)), 1e-9)
    chosen = plate.cell[0] if style.crosshair and plate.cell is not None else None
    numbered = named(plate.rows, label_way(plate.rows, False, pitch[0], style.size), pitch[0], chosen)
    for row, value in enumerate(values):
        if np.isnan(value):
            continue
        ink = tint[plate.axes[0] if row == chosen else "muted"]
        bar = matplotlib.patches.Rectangle((left, row + 0.3), value * unit, 0.4, color=ink, lw=0, clip_on=False)
        axes.add_patch(bar)
        if row in numbered:
            look: dict[str, Any] = {"fontsize": style.size, "color": ink, "va": "center", "annotation_clip": False}
            end = (left + value * unit, row + 0.5)
            axes.annotate(f"{value:.2f}", end, (PAD, 0), textcoords="offset points", **look)
    axes.plot([left, left], [0, len(values)], color=tint["muted"], lw=0.6, clip_on=False)
    look = {"fontsize": style.size, "color": tint["text"], "va": "top", "annotation_clip": False}
    axes.annotate(title, (left, len(values)), (0, -PAD), textcoords="offset points", **look)


def _draw_tree(axes: Axes, tree: np.ndarray, left: float, pitch: float, colour: str) -> None:
    """Lines right of the cells, from (across, row) to (across, row); pitch: inches of a cell across."""
    ends = tree.reshape(-1, 2, 2).astype(float)
    ends[..., 0] = left + (0.06 + ends[..., 0] * (TREE - 0.08)) / pitch
    ends[..., 1] += 0.5
    axes.add_collection(LineCollection(list(ends), colors=colour, linewidths=0.8, clip_on=False), autolim=False)


def _frame_cell(
    axes: Axes, names: Sequence[str], shape: Sequence[int], cell: tuple[int, int], tint: Mapping[str, str]
) -> None:
    """Lines along the row and the column of the chosen cell, and a frame around it."""
    row, column = cell
    box: dict[str, Any] = {"fill": False, "clip_on": False}
    sizes = ((0, row, shape[1], 1), (column, 0, 1, shape[0]))
    for name, (x, y, width, height) in zip(names, sizes):
        axes.add_patch(matplotlib.patches.Rectangle((x, y), width, height, edgecolor=tint[name], **box))
    axes.add_patch(matplotlib.patches.Rectangle((column, row), 1, 1, edgecolor=tint["text"], linewidth=1.6, **box))


def draw_bar(axes: Axes, bar: Bar, style: Look) -> None:
    """A colour bar with its ticks."""
    axes.pcolormesh(bar.table[None], rasterized=True)
    axes.set_yticks([])
    places = [place * len(bar.table) for place, _ in bar.ticks]
    axes.set_xticks(places, [label for _, label in bar.ticks], fontsize=style.size, color=style.tint["muted"])
    axes.tick_params(length=2, pad=2, color=style.tint["muted"])
    for spine in axes.spines.values():
        spine.set_color(style.tint["hairline"])
