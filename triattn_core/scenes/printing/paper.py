"""A figure for a paper: the maps of a sheet at a stated width, with no type below seven points.

Maps shrink to the width, type does not: what has no room is left out (every second label) or goes on a line of its own.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from triattn_core.scenes.printing.plate import (
    LETTER,
    Look,
    columns_room,
    draw_bar,
    draw_plate,
    rows_room,
    shorten,
    upright,
)
from triattn_core.scenes.printing.render import figure_file
from triattn_core.scenes.printing.settings import DOTS, PrintSettings
from triattn_core.scenes.printing.sheet import Bar, Plate, Sheet
from triattn_core.views.lib.palette import THEMES

SMALL, HEADING = 7.0, 8.0  # points
ROW = 1.25  # of a line of type, in its size
EDGE, GAP, DEEP = 0.04, 0.14, 0.16  # inches: around the page, between maps, between lines of them
NARROWEST, AMPLE, TALLEST, CELL = 0.9, 1.5, 6.0, 0.22  # inches: of a map that shares a line, of one that may share it
# with maps of another row, of a map's height, of a cell
BAR, BAR_HIGH, TICKS = 2.2, 0.08, 0.22  # of a colour bar, and of what stands below it
BADGE, THUMB_GAP = 0.09, 0.05


@dataclass(frozen=True)
class Block:
    """A plate on the page, in inches.  left, above: of its labels; pitch: of a cell, down and across; heading: lines
    with their weight and colour; named: whether rows and columns have labels; width: with labels."""

    plate: Plate
    left: float
    above: float
    pitch: tuple[float, float]
    heading: Sequence[tuple[str, int, str]]
    named: tuple[bool, bool]
    width: float

    @property
    def map_size(self) -> tuple[float, float]:
        return self.pitch[1] * len(self.plate.columns), self.pitch[0] * len(self.plate.rows)

    @property
    def top(self) -> float:
        """Inches from its top to its map."""
        return len(self.heading) * ROW * _title_size(self.plate) / 72 + self.above + (0.04 if self.heading else 0.0)


def paper_figure(sheet: Sheet, settings: PrintSettings, kind: str, dots: int = DOTS) -> bytes:
    """The file of a sheet at the width of the settings; kind: of `settings.FORMATS`.

    Raises ConfigError where a panel is not there.
    """
    plates = settings.pick(sheet.plates)
    return figure_file(lambda: _page(plates, sheet.bars, settings), kind, dots)


def _page(plates: Sequence[Plate], bars: Sequence[Bar], settings: PrintSettings) -> Figure:
    tint = THEMES[settings.theme]
    ground = {"white": "#ffffff", "none": "none", "dark": tint["page"]}[settings.ground]
    style = Look(tint, SMALL, "crosshair" in settings.show, ground)
    lines = [_line(group, settings, tint) for group in _groups(plates, settings.width)]
    line_heights = [max(block.top + block.map_size[1] for block in line) for line in lines]
    rows = _bar_rows(_used_bars(bars, plates), settings)
    bar_height = 2 * ROW * SMALL / 72 + BAR_HIGH + TICKS
    height = 2 * EDGE + sum(line_heights) + DEEP * (len(lines) - 1) + (DEEP + bar_height) * len(rows)
    figure = Figure(figsize=(settings.width, height), facecolor=ground)

    def write(x: float, y: float, text: str, size: float, weight: int, colour: str) -> None:
        place = (x / settings.width, 1 - y / height)
        figure.text(*place, text, fontsize=size, weight=weight, color=colour, va="top", parse_math=False)

    def axes(x: float, y: float, box_width: float, box_height: float):
        box = (x / settings.width, 1 - (y + box_height) / height, box_width / settings.width, box_height / height)
        return figure.add_axes(box)

    y = EDGE
    for line, line_height in zip(lines, line_heights):
        x, top = EDGE, max(block.top for block in line)
        for block in line:
            _write_heading(block, x, y, write, axes, settings)
            map_width, map_height = block.map_size
            draw_plate(
                axes(x + block.left, y + top, map_width, map_height), block.plate, block.pitch, style, block.named
            )
            x += block.width + (THUMB_GAP if block.plate.thumb else GAP)
        y += max(line_height, top + max(block.map_size[1] for block in line)) + DEEP
    for row in rows:
        bar_width = min(BAR, (settings.width - 2 * EDGE) / len(row) - GAP)
        titles = [_wrap(bar.title, bar_width, SMALL, 400) for bar in row]
        under = max(map(len, titles)) * ROW * SMALL / 72 + 0.02
        for i, (bar, title) in enumerate(zip(row, titles)):
            x = EDGE + i * (bar_width + GAP) + 0.1
            write(x, y, "\n".join(title), SMALL, 400, tint["text"])
            draw_bar(axes(x, y + under, bar_width - 0.2, BAR_HIGH), _space_ticks(bar, bar_width - 0.2), style)
        y += bar_height + DEEP
    return figure


def _write_heading(block: Block, x: float, y: float, write, axes, settings: PrintSettings) -> None:
    """Title lines, the first after the badge of its mechanism."""
    indent = 0.0
    if block.heading and block.plate.badge and "badges" in settings.show:
        mark = axes(x, y + 0.02, BADGE, BADGE)
        mark.set(facecolor=block.plate.badge, xticks=[], yticks=[])
        for spine in mark.spines.values():
            spine.set_visible(False)
        indent = BADGE + 0.05
    for number, (text, weight, colour) in enumerate(block.heading):
        size = _title_size(block.plate)
        write(x + (0 if number else indent), y + number * ROW * size / 72, text, size, weight, colour)


def _groups(plates: Sequence[Plate], width: float) -> list[list[Plate]]:
    """The plates line by line: those of one row of the figure together, as many as have room."""
    rows: dict[int, list[Plate]] = {}
    for plate in plates:
        rows.setdefault(plate.place[0], []).append(plate)
    if all(plate.thumb for plate in plates):
        return list(rows.values())
    labels = sum(rows_room(plate, SMALL) for plate in plates)
    if (width - labels) / len(plates) >= AMPLE:
        return [list(plates)]
    groups: list[list[Plate]] = []
    for row in rows.values():
        groups.append([])
        for plate in row:
            line = [*groups[-1], plate]
            room = width - sum(rows_room(plate, SMALL) for plate in line)
            if groups[-1] and room / len(line) < NARROWEST + GAP:
                groups.append([])
            groups[-1].append(plate)
    return groups


def _line(plates: Sequence[Plate], settings: PrintSettings, tint) -> list[Block]:
    """Plates beside each other in the width; row labels stand once where the next map has the same."""
    same = [
        i > 0 and (plate.rows, plate.axes[0]) == (plates[i - 1].rows, plates[i - 1].axes[0])
        for i, plate in enumerate(plates)
    ]
    label_widths = [0.0 if repeated else rows_room(plate, SMALL) for repeated, plate in zip(same, plates)]
    last = [shorten(label) for label in plates[-1].columns[-2:]]
    over = (
        0.0
        if plates[-1].thumb or upright(plates[-1].columns)
        else max(0.71 * (_width(label, SMALL, 400) + 0.1) for label in last)
    )
    gap = THUMB_GAP if plates[0].thumb else GAP
    room = settings.width - 2 * EDGE - sum(label_widths) - gap * (len(plates) - 1) - over
    cells, blocks = sum(len(plate.columns) for plate in plates), []
    across = min(CELL, room / cells)
    spare = (room - across * cells + (over if len(plates) == 1 else 0.0)) / len(plates)  # goes to the titles
    down = min(across, TALLEST / max(len(plate.rows) for plate in plates))
    for plate, label_width, repeated in zip(plates, label_widths, same):
        pitch, width = (down, across), label_width + across * len(plate.columns)
        width += spare
        heading = _heading(plate, width, settings, tint)
        above = columns_room(plate, SMALL)
        blocks.append(Block(plate, label_width, above, pitch, heading, (not repeated, True), width))
    return blocks


def _title_size(plate: Plate) -> float:
    """Points of its title."""
    return SMALL if plate.thumb else HEADING


def _heading(plate: Plate, width: float, settings: PrintSettings, tint) -> list[tuple[str, int, str]]:
    show, badge = settings.show, BADGE + 0.05 if plate.badge and "badges" in settings.show else 0.0
    bold = 400 if plate.thumb else 700
    parts = [
        (plate.title if "titles" in show else "", bold, tint["text"]),
        (plate.answer if "predictions" in show else "", 400, tint["text"]),
        (plate.score if "accuracy" in show else "", 400, tint["muted"]),
    ]
    return [
        (line, weight, colour)
        for text, weight, colour in parts
        for line in _wrap(text, width - badge, _title_size(plate), weight)
    ]


def _wrap(text: str, room: float, size: float, weight: int) -> list[str]:
    """Lines that fit into the room, in inches."""
    lines: list[str] = []
    letters = max(1, int(room / (LETTER * size)))  # of a word that has no room, such as the name of a checkpoint
    fits = lambda word: _width(word, size, weight) <= room + THUMB_GAP  # noqa: E731
    for word in [
        part
        for word_of_text in text.split()
        for part in ([word_of_text] if fits(word_of_text) else textwrap.wrap(word_of_text, letters))
    ]:
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _width(longer, size, weight) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _used_bars(bars: Sequence[Bar], plates: Sequence[Plate]) -> list[Bar]:
    """The colour bars of scales that a chosen plate is drawn with."""
    return [bar for bar in bars if any(list(plate.ticks) == list(bar.ticks) for plate in plates)]


def _bar_rows(bars: Sequence[Bar], settings: PrintSettings) -> list[list[Bar]]:
    if "scale" not in settings.show:
        return []
    each = max(1, int((settings.width - 2 * EDGE) // 1.6))
    return [list(bars[i : i + each]) for i in range(0, len(bars), each)]


def _space_ticks(bar: Bar, width: float) -> Bar:
    """The bar with those ticks that do not touch."""
    kept: list[tuple[float, str]] = []
    for place, label in sorted(bar.ticks):
        half = _width(label, SMALL, 400) / 2
        if not kept or place * width - half > kept[-1][0] * width + _width(kept[-1][1], SMALL, 400) / 2 + 0.04:
            kept.append((place, label))
    return Bar(bar.title, bar.table, kept)


@cache
def _pen():
    return FigureCanvasAgg(Figure(dpi=288)).get_renderer()


def _width(text: str, size: float, weight: int) -> float:
    """Inches of a text in the font of the figure."""
    return _pen().get_text_width_height_descent(text, FontProperties(size=size, weight=weight), False)[0] / 288
