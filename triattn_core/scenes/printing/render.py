"""Pictures of a figure without a browser: SVG whose text is text, PNG at 200 dots an inch.

Matplotlib draws on figures of its own, not through pyplot: several threads may ask at once.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from io import BytesIO
from threading import Lock
from typing import Any

import matplotlib
import numpy as np
from fontTools.ttLib import TTFont
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.text import Text

from triattn_core.scenes.printing.plate import Look, columns_room, draw_bar, draw_plate, rows_room
from triattn_core.scenes.printing.sheet import Plate, Sheet
from triattn_core.views.lib.palette import FONTS, THEMES

CELL, LEAST, MOST, THUMB = 0.2, 0.012, 5.0, 0.9  # inches: of a cell, of the narrowest one, of an axis, of a small one
LETTER, GAP, TITLE = 0.068, 0.3, 0.3  # of a letter, between plates, of a title
DOTS, SCREEN = 200, 90
LINES = 4  # of the sentence
LOOK = Look()
_FAMILY = re.compile(rb"font-family: [^;\"]*")
_FACTS = {  # no date: the same numbers make the same bytes
    "svg": {"Date": None, "Creator": "triattn"},
    "pdf": {"CreationDate": None, "Creator": "triattn"},
    "png": {"Software": "triattn"},
}
_settings = Lock()  # Matplotlib's settings are one for all threads


def render_sheet(sheet: Sheet, kind: str, dots: int = DOTS) -> bytes:
    """The file of a sheet; kind: svg, whose text is text, or png."""
    return figure_file(lambda: _draw(sheet), kind, dots)


def figure_file(draw: Callable[[], Figure], kind: str, dots: int) -> bytes:
    """The file of a figure: svg, pdf (its fonts embedded, so that text can be searched), png.  Fonts are set while
    `draw` runs.

    A PDF is set in TrueType, which publishers take, where such a font has all letters; else in outlines (Type 3), for
    Matplotlib embeds OpenType fonts with PostScript outlines so that not every viewer draws them.
    """
    installed = {font.name: font.fname for font in fontManager.ttflist}
    wished = [*(name.strip(' "') for name in FONTS.split(",")), "Noto Sans CJK JP", "DejaVu Sans"]
    fonts = [name for name in wished if name in installed]
    settings: Any = {"svg.fonttype": "none", "pdf.fonttype": 3, "svg.hashsalt": "triattn", "font.family": fonts}
    with _settings, matplotlib.rc_context(settings):
        file = BytesIO()
        (_draw_in_true_type(draw, installed) if kind == "pdf" else draw()).savefig(
            file, format=kind, dpi=dots, metadata=_FACTS[kind]
        )
    if kind != "svg":
        return file.getvalue()
    # Whoever opens it may have other fonts than this machine.
    return _FAMILY.sub(b"font-family: " + FONTS.replace('"', "'").encode(), file.getvalue())


def _draw_in_true_type(draw: Callable[[], Figure], files: Mapping[str, str]) -> Figure:
    """The figure in the first TrueType font of `font.family` that has all its letters; else as it is set."""
    figure = draw()
    letters = {ord(letter) for text in figure.findobj(Text) for letter in text.get_text() if letter != "\n"}
    for name in matplotlib.rcParams["font.family"]:
        with TTFont(files[name], fontNumber=0, lazy=True) as font:
            fits = "glyf" in font and letters <= set(font.getBestCmap())
        if fits:
            matplotlib.rcParams.update({"font.family": [name], "pdf.fonttype": 42})
            return draw()
    return figure


def _pitch(plate: Plate) -> tuple[float, float]:
    """Inches of a cell, down and across."""
    most = THUMB if plate.thumb else MOST
    down, across = (float(np.clip(most / max(len(labels), 1), LEAST, CELL)) for labels in (plate.rows, plate.columns))
    return down, across


def _draw(sheet: Sheet) -> Figure:
    """All plates in their places, the colour bars below them, texts and caption around them."""
    row_count = 1 + max(plate.place[0] for plate in sheet.plates)
    column_count = 1 + max(plate.place[1] for plate in sheet.plates)
    lefts, widths, tops, heights = [0.0] * column_count, [0.0] * column_count, [0.0] * row_count, [0.0] * row_count
    for plate in sheet.plates:
        r, c = plate.place
        lefts[c] = max(lefts[c], rows_room(plate, LOOK.size) + 0.18)
        widths[c] = max(widths[c], _pitch(plate)[1] * len(plate.columns), LETTER * 1.1 * len(plate.heading))
        tops[r] = max(tops[r], TITLE + columns_room(plate, LOOK.size))
        heights[r] = max(heights[r], _pitch(plate)[0] * len(plate.rows))
    bars = 0.72 * -(-len(sheet.bars) // 2)
    width = max(sum(lefts) + sum(widths) + GAP * (column_count + 1), 6.4)
    room = int((width - 2 * GAP) / LETTER)
    lines = textwrap.wrap(sheet.sentence, room)[:LINES]
    below = 0.3 + 0.16 * len(lines)
    height = 0.75 + sum(tops) + sum(heights) + GAP * row_count + bars + below
    figure = Figure(figsize=(width, height), facecolor=THEMES["light"]["page"])
    tint = THEMES["light"]

    def write(x: float, y: float, text: str, **options: Any) -> None:
        properties: dict[str, Any] = {"va": "top", "color": tint["text"], "parse_math": False, **options}
        figure.text(x / width, 1 - y / height, text, **properties)

    def place(x: float, y: float, box_width: float, box_height: float) -> Axes:
        return figure.add_axes((x / width, 1 - (y + box_height) / height, box_width / width, box_height / height))

    write(GAP, 0.12, sheet.title, fontsize=13, weight=700)
    texts = " ".join(sheet.texts.split())
    write(GAP, 0.42, texts if len(texts) <= room else texts[: room - 1] + "…", fontsize=9)
    for plate in sheet.plates:
        r, c = plate.place
        x = GAP * (c + 1) + sum(lefts[: c + 1]) + sum(widths[:c])
        y = 0.75 + sum(tops[: r + 1]) + sum(heights[:r]) + GAP * r
        pitch = _pitch(plate)
        size = pitch[1] * len(plate.columns), pitch[0] * len(plate.rows)
        write(x, y - tops[r] + 0.02, plate.heading, fontsize=9, weight=700)
        draw_plate(place(x, y, *size), plate, pitch, LOOK)
    for i, bar in enumerate(sheet.bars):
        x, y = GAP + (i % 2) * width / 2, height - bars - below + 0.72 * (i // 2)
        write(x, y, bar.title, fontsize=9, weight=700)
        draw_bar(place(x, y + 0.24, min(2.6, width / 2 - 0.6), 0.1), bar, LOOK)
    write(GAP, height - below + 0.04, "\n".join(lines), fontsize=8, linespacing=1.35)
    write(GAP, height - 0.24, sheet.caption, fontsize=8, color=tint["muted"])
    return figure
