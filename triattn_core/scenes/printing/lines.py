"""Where the maps of a printed figure stand: line by line in its width, their rows as high as the page has room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from triattn_core.scenes.printing.bars import EDGE, GAP, ROW, SMALL
from triattn_core.scenes.printing.letters import type_width
from triattn_core.scenes.printing.plate import (
    LEAN,
    beside_room,
    columns_room,
    label_pitch,
    label_way,
    rows_room,
    shorten,
)
from triattn_core.scenes.printing.settings import PrintSettings
from triattn_core.scenes.printing.sheet import Plate
from triattn_core.scenes.printing.wrapping import wrap

HEADING = 8.0  # points
DEEP = 0.16  # inches between lines of maps
NARROWEST, AMPLE, TALLEST = 0.9, 1.5, 6.0  # inches: of a map that shares a line, of one that may share it with maps of
# another row, of a map's height
CELL, WIDE, TIGHT = 0.22, 0.36, 0.5  # inches of a cell; across, where maps are shared out over lines; of such a map
HIGHEST = (5.2, 8.4)  # inches of all lines of maps: of one column of a paper, of a page; TALL times the width between
TALL = 1.5
LEAST, HEADED = 0.3, 2  # the share of its label that a row keeps at least; lines of a heading that are not many
EASY = 1.17  # lines of labels, of a row where the page has room
WORDS = ROW * SMALL / 72 + 0.04  # inches of a line of words above or below maps
BADGE, THUMB_GAP = 0.09, 0.05

Item = TypeVar("Item")


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
        return len(self.heading) * ROW * title_size(self.plate) / 72 + self.above + (0.04 if self.heading else 0.0)


def arrange(
    plates: Sequence[Plate], settings: PrintSettings, tint: Mapping[str, str], is_limited: bool = True
) -> list[list[Block]]:
    """The maps line by line.  Where they would be higher than HIGHEST they are shared out over lines of a like number,
    and rows are only as high as there is room.  is_limited: whether that is so."""
    lines = [_line(group, settings, tint) for group in _groups(plates, settings.width)]
    most = float(np.clip(TALL * settings.width, *HIGHEST))
    if not is_limited or any(plate.thumb for plate in plates) or _height(lines) <= most:
        return lines
    shared = [_share_out(plates, number, most, settings, tint) for number in range(1, len(plates) + 1)]
    roomy = [lines for i, lines in enumerate(shared) if i == 0 or min(b.map_size[0] for b in lines[0]) >= TIGHT]
    return min(roomy, key=lambda lines: _cost(lines, most))


def _cost(lines: Sequence[Sequence[Block]], most: float) -> tuple[float, ...]:
    """By what an arrangement is chosen: first that it fits, that labels are whole, that headings are short, that the
    last line is full; of those that are alike the one with the widest maps."""
    blocks = [block for line in lines for block in line]
    steps = [
        max(label_way(getattr(block.plate, name), across, block.pitch[across], SMALL).step for block in blocks)
        for name, across in (("rows", False), ("columns", True))
    ]
    long = max(HEADED, *(len(block.heading) for block in blocks))
    return (
        max(_height(lines) - most, 0.01),
        max(steps),
        sum(steps),
        steps[0],
        long,
        len(lines) * len(lines[0]) - len(blocks),
        len(lines[0]),
    )


def _share_out(
    plates: Sequence[Plate], number: int, most: float, settings: PrintSettings, tint: Mapping[str, str]
) -> list[list[Block]]:
    """The maps in lines of a number of them, below each other in columns: the names of what stands across are not
    repeated where the map above has the same."""
    groups = [plates[i : i + number] for i in range(0, len(plates), number)]
    repeated = [_repeats_rows(group) for group in groups]
    trees = [max(map(beside_room, column)) for column in _columns(groups)]
    labels = [
        max(0.0 if again else rows_room(plate, SMALL) for again, plate in zip(flags, column))
        for flags, column in zip(_columns(repeated), _columns(groups))
    ]
    cells = [max(len(plate.columns) for plate in column) for column in _columns(groups)]
    over = max(_overhang(group[-1]) for group in groups if len(group) == number)
    room = settings.width - 2 * EDGE - sum(labels) - sum(trees) - GAP * (number - 1) - over
    across = min(WIDE, room / sum(cells))
    spare = (room - across * sum(cells)) / number
    lines: list[list[Block]] = []
    for group, flags in zip(groups, repeated):
        lines.append([])
        for i, (plate, again) in enumerate(zip(group, flags)):
            above = lines[-2][i].plate if len(lines) > 1 else None
            named = above is None or (plate.columns, plate.axes[1]) != (above.columns, above.axes[1])
            width = labels[i] + across * cells[i] + trees[i] + spare
            heading = _heading(plate, width, settings, tint)
            high = columns_room(plate, across, SMALL) if named else 0.0
            lines[-1].append(Block(plate, labels[i], high, (0.0, across), heading, (not again, named), width))
    return _with_rows(lines, most)


def _with_rows(lines: Sequence[Sequence[Block]], most: float) -> list[list[Block]]:
    """Lines of maps whose rows have a height: no more than cells are wide, and, as far as `most` allows, no less than
    their labels."""
    rows = sum(max(len(block.plate.rows) for block in line) for line in lines)
    blocks = [block for line in lines for block in line]
    label = max(EASY * label_pitch(block.plate.rows, False, SMALL) for block in blocks)
    longest = max(len(block.plate.rows) for block in blocks)
    room = (most - _height(lines)) / rows
    down = min(max(room, LEAST * label), max(min(CELL, blocks[0].pitch[1]), label), TALLEST / longest)
    return [[replace(block, pitch=(down, block.pitch[1])) for block in line] for line in lines]


def _columns(lines: Sequence[Sequence[Item]]) -> list[list[Item]]:
    """What stands below each other in lines, the first of which is the longest."""
    return [[line[i] for line in lines if i < len(line)] for i in range(len(lines[0]))]


def _repeats_rows(plates: Sequence[Plate]) -> list[bool]:
    """Which plates of a line have the rows of the one before: their labels stand once."""
    return [
        i > 0 and (plate.rows, plate.axes[0]) == (plates[i - 1].rows, plates[i - 1].axes[0])
        for i, plate in enumerate(plates)
    ]


def _overhang(plate: Plate) -> float:
    """Inches that the last labels across lean beyond a map."""
    leaning = [text for text, stands in zip(plate.columns.texts, plate.columns.stands) if not stands]
    ends = [] if plate.thumb else leaning[-2:]
    return max((LEAN * (type_width(shorten(text, SMALL), SMALL) + 0.1) for text in ends), default=0.0)


def line_height(line: Sequence[Block]) -> float:
    """Inches of a line of maps, with the words above and below it."""
    plate = line[0].plate
    return max(block.top + block.map_size[1] for block in line) + WORDS * (bool(plate.before) + bool(plate.after))


def _height(lines: Sequence[Sequence[Block]]) -> float:
    """Inches of lines of maps with what stands between them."""
    return sum(map(line_height, lines)) + DEEP * (len(lines) - 1)


def _groups(plates: Sequence[Plate], width: float) -> list[list[Plate]]:
    """The plates line by line: those of one row of the figure together, as many as have room."""
    rows: dict[int, list[Plate]] = {}
    for plate in plates:
        rows.setdefault(plate.place[0], []).append(plate)
    if all(plate.thumb for plate in plates):
        return list(rows.values())
    labels = sum(rows_room(plate, SMALL) for plate in plates)
    if (width - labels) / len(plates) >= AMPLE and not _crowded(plates, width - labels, width):
        return [list(plates)]
    groups: list[list[Plate]] = []
    for row in rows.values():
        groups.append([])
        for plate in row:
            line = [*groups[-1], plate]
            room = width - sum(rows_room(plate, SMALL) for plate in line)
            if groups[-1] and (room / len(line) < NARROWEST + GAP or _crowded(line, room, width)):
                groups.append([])
            groups[-1].append(plate)
    return groups


def _crowded(line: Sequence[Plate], room: float, width: float) -> bool:
    """Whether columns of plates that share a line go without labels which each has room for on a line of its own.

    room: inches of all their cells; width: of the figure.
    """
    for plate in line:
        need = label_pitch(plate.columns, True, SMALL)
        alone = (width - rows_room(plate, SMALL) - GAP) / len(plate.columns)
        if room / sum(len(one.columns) for one in line) < need <= alone:
            return True
    return False


def _line(plates: Sequence[Plate], settings: PrintSettings, tint) -> list[Block]:
    """Plates beside each other in the width; row labels stand once where the next map has the same."""
    same = _repeats_rows(plates)
    label_widths = [0.0 if repeated else rows_room(plate, SMALL) for repeated, plate in zip(same, plates)]
    over = _overhang(plates[-1])
    gap = THUMB_GAP if plates[0].thumb else GAP
    trees = [*map(beside_room, plates)]
    room = settings.width - 2 * EDGE - sum(label_widths) - sum(trees) - gap * (len(plates) - 1) - over
    cells, blocks = sum(len(plate.columns) for plate in plates), []
    across = min(CELL, room / cells)
    spare = (room - across * cells + (over if len(plates) == 1 else 0.0)) / len(plates)  # goes to the titles
    # A row is as high as its label, where that leaves the page room: a map need not be square.
    high = 0.0 if plates[0].thumb else max(EASY * label_pitch(plate.rows, False, SMALL) for plate in plates)
    down = min(max(across, high), TALLEST / max(len(plate.rows) for plate in plates))
    for plate, label_width, repeated, tree in zip(plates, label_widths, same, trees):
        pitch, width = (down, across), label_width + across * len(plate.columns) + tree
        width += spare
        heading = _heading(plate, width, settings, tint)
        above = columns_room(plate, across, SMALL)
        blocks.append(Block(plate, label_width, above, pitch, heading, (not repeated, True), width))
    return blocks


def title_size(plate: Plate) -> float:
    """Points of its title."""
    return SMALL if plate.thumb else HEADING


def _heading(plate: Plate, width: float, settings: PrintSettings, tint) -> list[tuple[str, int, str]]:
    show, badge = settings.show, BADGE + 0.05 if plate.badge and "badges" in settings.show else 0.0
    bold = 400 if plate.thumb else 700
    parts = [
        (_title(plate, show), bold, tint["text"]),
        (plate.answer if "predictions" in show else "", 400, tint["text"]),
        (plate.score if "accuracy" in show else "", 400, tint["muted"]),
    ]
    return [
        (line, weight, colour)
        for part, (text, weight, colour) in enumerate(parts)
        for line in wrap(text, width - (badge if part == 0 else 0.0), title_size(plate), weight)
    ]


def _title(plate: Plate, show: Sequence[str]) -> str:
    """Its letter and its title, as far as they are shown."""
    letter = f"({plate.letter})" if plate.letter and "letters" in show else ""
    parts = (letter, plate.title if "titles" in show else "")
    return "  ".join(filter(None, parts))
