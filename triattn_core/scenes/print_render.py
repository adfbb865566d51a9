"""Pictures of a figure without a browser: SVG whose text is text, PNG at 200 dots an inch.

Matplotlib draws on figures of its own, not through pyplot: several threads may ask at once.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from io import BytesIO
from threading import Lock

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

from triattn_core.scenes.print_layout import Bar, Plate, Sheet
from triattn_core.views.lib.palette import FONTS, THEMES

CELL, LEAST, MOST = 0.2, 0.012, 5.0  # inches: of a cell, of the narrowest one, of a whole axis
LABEL, LETTER, GAP, TITLE = 0.125, 0.068, 0.3, 0.3  # of a line of labels, of a letter, between plates, of a title
DOTS, SCREEN = 200, 90
LONGEST, LINES = 14, 4  # letters of a label; lines of the sentence
DASHED = 0.1  # inches of a cell that has room for a dash
_FAMILY = re.compile(rb"font-family: [^;\"]*")
_settings = Lock()  # Matplotlib's settings are one for all threads


def printed(sheet: Sheet, kind: str, dots: int = DOTS) -> bytes:
    """The file of a sheet; kind: svg, whose text is text, or png."""
    there = {one.name for one in fontManager.ttflist}
    wished = [*(name.strip(' "') for name in FONTS.split(",")), "Noto Sans CJK JP", "DejaVu Sans"]
    fonts = [name for name in wished if name in there]
    settings = {"svg.fonttype": "none", "svg.hashsalt": "triattn", "font.family": fonts}
    with _settings, matplotlib.rc_context(settings):
        file = BytesIO()
        meta = {"Date": None, "Creator": "triattn"} if kind == "svg" else {"Software": "triattn"}
        _draw(sheet).savefig(file, format=kind, dpi=dots, metadata=meta)
    if kind == "png":
        return file.getvalue()
    # Its reader may have other fonts than this machine.
    return _FAMILY.sub(b"font-family: " + FONTS.replace('"', "'").encode(), file.getvalue())


def _pitch(count: int) -> float:
    return float(np.clip(MOST / max(count, 1), LEAST, CELL))


def _short(label: str) -> str:
    return label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"


def _room(labels: Sequence[str]) -> float:
    """Inches that the longest label takes; a Chinese character is as wide as two letters."""
    return 0.12 + LETTER * max((sum(1 + (ord(c) > 0x2E7F) for c in _short(one)) for one in labels), default=0)


def _upright(labels: Sequence[str]) -> bool:
    """Whether labels across need not lean: single characters, and numbers."""
    return all(len(one) == 1 or one.isdecimal() for one in labels)


def _above(labels: Sequence[str]) -> float:
    """Inches above a map that its labels across take."""
    return 0.22 if _upright(labels) else 0.1 + 0.71 * _room(labels)


def _draw(sheet: Sheet) -> Figure:
    """All plates in their places, the colour bars below them, texts and caption around them."""
    high = 1 + max(plate.place[0] for plate in sheet.plates)
    wide = 1 + max(plate.place[1] for plate in sheet.plates)
    lefts, widths, tops, heights = [0.0] * wide, [0.0] * wide, [0.0] * high, [0.0] * high
    for plate in sheet.plates:
        r, c = plate.place
        lefts[c] = max(lefts[c], _room(plate.rows) + 0.18)
        widths[c] = max(widths[c], _pitch(len(plate.columns)) * len(plate.columns), LETTER * 1.1 * len(plate.title))
        tops[r] = max(tops[r], TITLE + _above(plate.columns))
        heights[r] = max(heights[r], _pitch(len(plate.rows)) * len(plate.rows))
    bars = 0.72 * -(-len(sheet.bars) // 2)
    width = max(sum(lefts) + sum(widths) + GAP * (wide + 1), 6.4)
    room = int((width - 2 * GAP) / LETTER)
    said = textwrap.wrap(sheet.said, room)[:LINES]
    below = 0.3 + 0.16 * len(said)
    height = 0.75 + sum(tops) + sum(heights) + GAP * high + bars + below
    figure = Figure(figsize=(width, height), facecolor=THEMES["light"]["page"])
    tint = THEMES["light"]

    def write(x: float, y: float, text: str, **look) -> None:
        look = {"va": "top", "color": tint["text"], "parse_math": False} | look
        figure.text(x / width, 1 - y / height, text, **look)

    def place(x: float, y: float, wide: float, high: float) -> Axes:
        return figure.add_axes((x / width, 1 - (y + high) / height, wide / width, high / height))

    write(GAP, 0.12, sheet.title, fontsize=13, weight=700)
    texts = " ".join(sheet.texts.split())
    write(GAP, 0.42, texts if len(texts) <= room else texts[: room - 1] + "…", fontsize=9)
    for plate in sheet.plates:
        r, c = plate.place
        x = GAP * (c + 1) + sum(lefts[: c + 1]) + sum(widths[:c])
        y = 0.75 + sum(tops[: r + 1]) + sum(heights[:r]) + GAP * r
        size = _pitch(len(plate.columns)) * len(plate.columns), _pitch(len(plate.rows)) * len(plate.rows)
        write(x, y - tops[r] + 0.02, plate.title, fontsize=9, weight=700)
        _plate(place(x, y, *size), plate)
    for i, bar in enumerate(sheet.bars):
        x, y = GAP + (i % 2) * width / 2, height - bars - below + 0.72 * (i // 2)
        write(x, y, bar.title, fontsize=9, weight=700)
        _bar(place(x, y + 0.24, min(2.6, width / 2 - 0.6), 0.1), bar)
    write(GAP, height - below + 0.04, "\n".join(said), fontsize=8, linespacing=1.35)
    write(GAP, height - 0.24, sheet.caption, fontsize=8, color=tint["muted"])
    return figure


def _plate(axes: Axes, plate: Plate) -> None:
    rows, columns, tint = len(plate.rows), len(plate.columns), THEMES["light"]
    axes.patch.set(facecolor=tint["page"], edgecolor=tint["hairline"], hatch="////" if plate.out.any() else "")
    colours = np.dstack([plate.colours, np.where(plate.out, 0, 255).astype(np.uint8)])
    mesh = axes.pcolormesh(colours, edgecolors=tint["page"], linewidth=0.6 if max(rows, columns) <= 40 else 0)
    mesh.set_rasterized(rows * columns > 4096)
    if min(_pitch(rows), _pitch(columns)) >= DASHED:
        at, strong = np.argwhere(plate.below), plate.colours.mean(-1)[plate.below] < 128
        inks = np.where(strong, tint["page"], tint["text"])
        axes.scatter(at[:, 1] + 0.5, at[:, 0] + 0.5, marker="_", s=14, linewidths=0.7, c=inks)
    axes.set(xlim=(0, columns), ylim=(rows, 0))
    axes.xaxis.tick_top()
    axes.tick_params(length=0, pad=2, labelcolor=tint["text"])
    for axis, labels, name in ((axes.yaxis, plate.rows, plate.axes[0]), (axes.xaxis, plate.columns, plate.axes[1])):
        across, flat = axis is axes.xaxis, _upright(labels)
        need = _room(labels) - 0.04 if across and flat and len(labels[0]) > 1 else LABEL
        step = int(np.ceil(need / _pitch(len(labels))))
        chosen = plate.cell[across]
        # The chosen one is always named: its neighbours give way to it.
        at = [i for i in range(len(labels)) if i % step == chosen % step]
        look = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"} if across and not flat else {}
        axis.set_ticks([i + 0.5 for i in at], [_short(labels[i]) for i in at], fontsize=8, parse_math=False, **look)
        axis.get_ticklabels()[at.index(chosen)].set(color=tint[name], weight=700)
    for spine in axes.spines.values():
        spine.set_visible(False)
    row, column = plate.cell
    box = {"fill": False, "clip_on": False}
    axes.add_patch(matplotlib.patches.Rectangle((0, row), columns, 1, edgecolor=tint[plate.axes[0]], **box))
    axes.add_patch(matplotlib.patches.Rectangle((column, 0), 1, rows, edgecolor=tint[plate.axes[1]], **box))
    axes.add_patch(matplotlib.patches.Rectangle((column, row), 1, 1, edgecolor=tint["text"], linewidth=1.6, **box))


def _bar(axes: Axes, bar: Bar) -> None:
    axes.pcolormesh(bar.table[None], rasterized=True)
    axes.set_yticks([])
    places = [place * len(bar.table) for place, _ in bar.ticks]
    axes.set_xticks(places, [label for _, label in bar.ticks], fontsize=8, color=THEMES["light"]["muted"])
    axes.tick_params(length=2, pad=2, color=THEMES["light"]["muted"])
    for spine in axes.spines.values():
        spine.set_color(THEMES["light"]["hairline"])
