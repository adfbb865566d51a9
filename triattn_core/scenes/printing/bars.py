"""Colour bars of a printed page: which are needed, how many share a line, and their ticks."""

from __future__ import annotations

from collections.abc import Sequence

from triattn_core.scenes.printing.letters import type_width
from triattn_core.scenes.printing.plate import Look, draw_bar
from triattn_core.scenes.printing.settings import PrintSettings
from triattn_core.scenes.printing.sheet import Bar, Plate
from triattn_core.scenes.printing.wrapping import wrap

SMALL = 7.0  # points of the smallest type
ROW = 1.25  # of a line of type, in its size
EDGE, GAP = 0.04, 0.14  # inches: around the page, between what stands beside each other
BAR, BAR_HIGH, TICKS = 2.2, 0.08, 0.22  # of a colour bar, and of what stands below it
HIGH = 2 * ROW * SMALL / 72 + BAR_HIGH + TICKS  # inches of a colour bar with its title


def draw_bars(row: Sequence[Bar], y: float, write, axes, settings: PrintSettings, style: Look) -> None:
    """Colour bars beside each other, their titles above them."""
    bar_width = min(BAR, (settings.width - 2 * EDGE) / len(row) - GAP)
    titles = [wrap(bar.title, bar_width, SMALL, 400) for bar in row]
    under = max(map(len, titles)) * ROW * SMALL / 72 + 0.02
    for i, (bar, title) in enumerate(zip(row, titles)):
        x = EDGE + i * (bar_width + GAP) + 0.1
        write(x, y, "\n".join(title), SMALL, 400, style.tint["text"])
        draw_bar(axes(x, y + under, bar_width - 0.2, BAR_HIGH), _space_ticks(bar, bar_width - 0.2), style)


def used_bars(bars: Sequence[Bar], plates: Sequence[Plate]) -> list[Bar]:
    """The colour bars of scales that a chosen plate is drawn with."""
    return [bar for bar in bars if any(list(plate.ticks) == list(bar.ticks) for plate in plates)]


def bar_rows(bars: Sequence[Bar], settings: PrintSettings) -> list[list[Bar]]:
    """The colour bars line by line; none where none is shown."""
    if "scale" not in settings.show:
        return []
    each = max(1, int((settings.width - 2 * EDGE) // 1.6))
    return [list(bars[i : i + each]) for i in range(0, len(bars), each)]


def _space_ticks(bar: Bar, width: float) -> Bar:
    """The bar with those ticks that do not touch."""
    kept: list[tuple[float, str]] = []
    for place, label in sorted(bar.ticks):
        half = type_width(label, SMALL) / 2
        if not kept or place * width - half > kept[-1][0] * width + type_width(kept[-1][1], SMALL) / 2 + 0.04:
            kept.append((place, label))
    return Bar(bar.title, bar.table, kept)
