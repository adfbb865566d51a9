"""One map and one colour bar of a printed figure, on axes of Matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from triattn_core.scenes.printing.letters import type_width
from triattn_core.scenes.printing.sheet import Bar, Plate
from triattn_core.views.lib.palette import THEMES

LINE, LETTER = 0.0156, 0.0085  # inches a point of type: of a line of labels, of a letter
LONGEST = 14  # letters of a label
DASHED = 0.1  # inches of a cell that has room for a dash
TREE = 0.5  # inches right of a map, of lines beside it
FINE = 40  # cells of an axis from which no lines stand between them


@dataclass(frozen=True)
class Look:
    """tint: colours by name, as `palette.THEMES` has them.  size: of the smallest type, in points.  crosshair: whether
    the chosen cell is framed and named.  ground: behind the figure, a colour or `none`."""

    tint: Mapping[str, str] = field(default_factory=lambda: THEMES["light"], repr=False)
    size: float = 8.0
    crosshair: bool = True
    ground: str = THEMES["light"]["page"]


def shorten(label: str) -> str:
    """A label of at most LONGEST letters."""
    return label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"


def label_room(labels: Sequence[str], size: float) -> float:
    """Inches that the widest label takes."""
    return 0.12 + max((type_width(shorten(label), size) for label in dict.fromkeys(labels)), default=0.0)


def upright(labels: Sequence[str]) -> bool:
    """Whether labels across need not lean: single characters, and numbers."""
    return all(len(label) == 1 or label.isdecimal() for label in labels)


def label_pitch(labels: Sequence[str], across: bool, size: float) -> float:
    """Inches from one label to the next where all are drawn.  across: they name columns."""
    if across and upright(labels) and max(map(len, labels), default=0) > 1:
        return label_room(labels, size) - 0.04  # numbers, side by side
    return LINE * size * (1.2 if across and not upright(labels) else 1)


def label_step(labels: Sequence[str], across: bool, pitch: float, size: float) -> int:
    """Every how many cells a label is drawn.  pitch: inches of a cell."""
    return int(np.ceil(label_pitch(labels, across, size) / pitch - 1e-9))


def room_above(labels: Sequence[str], size: float) -> float:
    """Inches above a map that its labels across take."""
    return 0.22 if upright(labels) else 0.1 + 0.71 * label_room(labels, size)


def rows_room(plate: Plate, size: float) -> float:
    """Inches that the labels of its rows take."""
    return 0.0 if plate.thumb else label_room(plate.rows, size)


def columns_room(plate: Plate, size: float) -> float:
    """Inches above it that the labels of its columns take."""
    return 0.02 if plate.thumb else room_above(plate.columns, size)


def draw_plate(
    axes: Axes, plate: Plate, pitch: tuple[float, float], style: Look, named: Sequence[bool] = (True, True)
) -> None:
    """The cells, their labels, and the chosen one.

    pitch: inches of a cell down and across.  named: whether rows and columns have labels.
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
    axes.xaxis.tick_top()
    axes.tick_params(length=0, pad=2, labelcolor=tint["text"])
    for across, labels in enumerate((plate.rows, plate.columns)):
        _name_cells(axes, plate, across, labels if named[across] else (), pitch[across], style)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if plate.tree is not None:
        _draw_tree(axes, plate.tree, len(plate.columns), pitch[1], tint["muted"])
    if style.crosshair and plate.cell is not None:
        _frame_cell(axes, plate.axes, colours.shape, plate.cell, tint)


def _name_cells(axes: Axes, plate: Plate, across: int, labels: Sequence[str], pitch: float, style: Look) -> None:
    """As many labels as there is room for; the chosen one is always named: its neighbours give way to it."""
    axis = axes.xaxis if across else axes.yaxis
    if not labels:
        axis.set_ticks([])
        return
    flat = upright(labels)
    step = label_step(labels, bool(across), pitch, style.size)
    selected = plate.cell[across] if style.crosshair and plate.cell is not None else None
    positions = [i for i in range(len(labels)) if i % step == (selected or 0) % step]
    leaning: dict[str, Any] = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"} if across and not flat else {}
    texts = [shorten(labels[i]) for i in positions]
    axis.set_ticks([i + 0.5 for i in positions], texts, fontsize=style.size, parse_math=False, **leaning)
    if selected is not None:
        axis.get_ticklabels()[positions.index(selected)].set(color=style.tint[plate.axes[across]], weight=700)


def _draw_tree(axes: Axes, tree: np.ndarray, columns: int, pitch: float, colour: str) -> None:
    """Lines right of the cells, from (across, row) to (across, row); pitch: inches of a cell across."""
    ends = tree.reshape(-1, 2, 2).astype(float)
    ends[..., 0] = columns + (0.06 + ends[..., 0] * (TREE - 0.08)) / pitch
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
