"""A figure for a paper: the maps of a sheet at a stated width, with no type below seven points.

Maps shrink to the width, type does not: what has no room is left out (some labels) or goes on a line of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from string import ascii_lowercase

import numpy as np
from matplotlib.figure import Figure

from triattn_core.scenes.printing.bars import EDGE, GAP, HIGH, ROW, SMALL, bar_rows, draw_bars, used_bars
from triattn_core.scenes.printing.lines import (
    BADGE,
    CELL,
    DEEP,
    THUMB_GAP,
    WORDS,
    Block,
    arrange,
    line_height,
    title_size,
)
from triattn_core.scenes.printing.plate import Look, draw_plate, label_way, named, rows_room, shorten
from triattn_core.scenes.printing.render import figure_file, set_fonts
from triattn_core.scenes.printing.settings import DOTS, PrintSettings
from triattn_core.scenes.printing.sheet import Bar, Plate, Sheet
from triattn_core.scenes.printing.wrapping import wrap
from triattn_core.views.lib.palette import THEMES

OWN, MOST, THUMB, MARGIN = (6.4, 14.0), 5.0, 0.95, 0.2  # of a figure by itself, least and most; of a map, of a
# thumbnail there; around it
TITLE, LINES = 12.0, 4  # points; lines of a sentence
Words = tuple[str, float, int, str]  # a line: text, size, weight, colour


def paper_figure(sheet: Sheet, settings: PrintSettings, kind: str, dots: int = DOTS) -> bytes:
    """The file of a sheet at the width of the settings; kind: of `settings.FORMATS`.

    Raises ConfigError where a panel is not there.
    """
    picked = replace(sheet, plates=lettered(settings.pick(sheet.plates)))
    return figure_file(picked, lambda drawn: _page(drawn.plates, drawn.bars, settings), kind, dots)


def render_sheet(sheet: Sheet, kind: str, dots: int) -> bytes:
    """The picture of a sheet by itself, as wide as its maps ask for, with its title, texts, sentence and caption."""

    def draw(drawn: Sheet) -> Figure:
        return _page(drawn.plates, drawn.bars, PrintSettings(width=_own_width(drawn.plates)), drawn)

    return figure_file(sheet, draw, kind, dots)


def _own_width(plates: Sequence[Plate]) -> float:
    """Inches of the widest row of maps, as the figure places them."""
    rows: dict[int, float] = {}
    for plate in plates:
        cells = THUMB if plate.thumb else min(CELL * len(plate.columns), MOST) + GAP
        rows[plate.place[0]] = rows.get(plate.place[0], 0.0) + rows_room(plate, SMALL) + cells
    return float(np.clip(max(rows.values()) + 2 * EDGE, *OWN))


def lettered(plates: Sequence[Plate]) -> list[Plate]:
    """The plates with their letters, a, b, …, in their order; none for one alone, or for thumbnails."""
    if len(plates) < 2 or len(plates) > len(ascii_lowercase) or any(plate.thumb for plate in plates):
        return list(plates)
    return [replace(plate, letter=letter) for plate, letter in zip(plates, ascii_lowercase)]


def label_note(sheet: Sheet, settings: PrintSettings) -> str:
    """What the caption says of labels: how many are left out, and that long ones are cut; empty where all are whole."""
    plates = [plate for plate in lettered(settings.pick(sheet.plates)) if not plate.thumb]
    if not plates:
        return ""
    with set_fonts(sheet):
        blocks = [block for line in arrange(plates, settings, THEMES[settings.theme]) for block in line]
        said = [_count_named(blocks, across, "crosshair" in settings.show) for across in (0, 1)]
        labels = [text for plate in plates for side in (plate.rows, plate.columns) for text in side.texts]
        cut = any(shorten(text, SMALL) != text for text in labels)
    return "; ".join(filter(None, [*said, "longer labels end in …" if cut else ""]))


def _count_named(blocks: Sequence[Block], across: int, is_chosen: bool) -> str:
    """How many rows or columns are named in the map that leaves out most; empty where that is none."""
    drawn = []
    for block in blocks:
        plate, pitch = block.plate, block.pitch[across]
        labels = plate.columns if across else plate.rows
        chosen = plate.cell[across] if is_chosen and plate.cell is not None else None
        way = label_way(labels, bool(across), pitch, SMALL)
        drawn.append((len(named(labels, way, pitch, chosen)), len(labels), bool(labels.rank)))
    few, count, is_ranked = min(drawn, key=lambda one: one[0] / max(one[1], 1))
    if few == count:
        return ""
    order = ", those of the largest values first" if is_ranked else ""
    return f"{few} of {count} {('rows', 'columns')[across]} are named{order}"


def _page(plates: Sequence[Plate], bars: Sequence[Bar], settings: PrintSettings, around: Sheet | None = None) -> Figure:
    """The page.  around: whose title, texts, sentence and caption stand above and below the maps."""
    tint = THEMES[settings.theme]
    ground = {"white": "#ffffff", "none": "none", "dark": tint["page"]}[settings.ground]
    style = Look(tint, SMALL, "crosshair" in settings.show, ground)
    lines = arrange(plates, settings, tint, is_limited=around is None)
    line_heights = [line_height(line) for line in lines]
    rows = bar_rows(used_bars(bars, plates), settings)
    maps_height = 2 * EDGE + sum(line_heights) + DEEP * (len(lines) - 1) + (DEEP + HIGH) * len(rows)
    edge, above, below = (0.0, [], []) if around is None else (MARGIN, *_words_around(around, settings.width, tint))
    head, foot = (sum(ROW * size / 72 for _, size, *_ in words) + (GAP if words else 0.0) for words in (above, below))
    width, height = settings.width + 2 * edge, maps_height + head + foot + 2 * edge
    figure = Figure(figsize=(width, height), facecolor=ground)

    def write(x: float, y: float, text: str, size: float, weight: int, colour: str) -> None:
        place = ((x + edge) / width, 1 - (y + edge + head) / height)
        figure.text(*place, text, fontsize=size, weight=weight, color=colour, va="top", parse_math=False)

    def axes(x: float, y: float, box_width: float, box_height: float):
        left, top = x + edge, y + edge + head
        return figure.add_axes((left / width, 1 - (top + box_height) / height, box_width / width, box_height / height))

    for words, start in ((above, -head), (below, maps_height + GAP)):
        for text, size, weight, colour in words:
            write(EDGE, start, text, size, weight, colour)
            start += ROW * size / 72
    y = _draw_lines(lines, write, axes, settings, style)
    for row in rows:
        draw_bars(row, y, write, axes, settings, style)
        y += HIGH + DEEP
    return figure


def _draw_lines(lines: Sequence[Sequence[Block]], write, axes, settings: PrintSettings, style: Look) -> float:
    """The maps line by line; returns where the next thing stands."""
    y = EDGE
    for line in lines:
        x, top, plate = EDGE, max(block.top for block in line), line[0].plate
        if plate.before:
            write(x, y, plate.before, SMALL, 400, style.tint["muted"])
            y += WORDS
        for block in line:
            _write_heading(block, x, y, write, axes, settings)
            map_width, map_height = block.map_size
            draw_plate(
                axes(x + block.left, y + top, map_width, map_height), block.plate, block.pitch, style, block.named
            )
            x += block.width + (THUMB_GAP if block.plate.thumb else GAP)
        y += top + max(block.map_size[1] for block in line)
        if plate.after:
            write(EDGE, y + 0.02, plate.after, SMALL, 400, style.tint["muted"])
            y += WORDS
        y += DEEP
    return y


def _words_around(sheet: Sheet, width: float, tint: Mapping[str, str]) -> tuple[list[Words], list[Words]]:
    """The lines above the maps, title and texts, and below them, sentence and caption."""

    def lines(text: str, most: int, colour: str) -> list[Words]:
        wrapped = wrap(text, width, SMALL, 400)
        kept = [*wrapped[: most - 1], wrapped[most - 1] + " …"] if len(wrapped) > most else wrapped
        return [(line, SMALL, 400, tint[colour]) for line in kept]

    title = [(sheet.title, TITLE, 700, tint["text"])]
    below = [*lines(sheet.sentence, LINES, "text"), *lines(sheet.caption, LINES, "muted")]
    return [*title, *lines(sheet.texts, 2, "text")], below


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
        size = title_size(block.plate)
        write(x + (0 if number else indent), y + number * ROW * size / 72, text, size, weight, colour)
