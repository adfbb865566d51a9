"""Dots on the rows of a table: a hollow one for the published number, a filled one for ours, lines for spreads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from triattn_core.results.paper_comparison import Cell
from triattn_core.results.paper_schema import Column


@dataclass(frozen=True)
class Scale:
    """Ends of the strip in the unit of the metric, and the numbers at its ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]
    digits: int

    @classmethod
    def of(cls, cells: Sequence[Cell]) -> Scale:
        """Round ends that hold all numbers with their spreads; without any, no tick."""
        values = [(cell.ours, cell.spread) for cell in cells]
        values += [(cell.printed.value, cell.printed.spread) for cell in cells if cell.printed]
        ends = [value + side * (spread or 0.0) for value, spread in values if value is not None for side in (-1, 1)]
        if not ends:
            return cls(0.0, 1.0, (), 0)
        rough = max((max(ends) - min(ends)) / 5, 1e-6)
        power = 10.0 ** floor(log10(rough))
        step = next(times * power for times in (1, 2, 5, 10) if times * power >= rough * (1 - 1e-9))
        first, last = floor(min(ends) / step + 1e-9), ceil(max(ends) / step - 1e-9)
        last = max(last, first + 1)
        ticks = tuple(step * i for i in range(first, last + 1))
        return cls(ticks[0], ticks[-1], ticks, max(0, -floor(log10(step) + 1e-9)))

    def at(self, value: float) -> float:
        """Where a value stands, in per cent of the width."""
        return 100 * (value - self.low) / (self.high - self.low)


def head(column: Column) -> str:
    """HTML: what is drawn, and what the dots mean."""
    keys = ('<span class="t-key"></span>published',) * column.printed + ('<span class="t-key ours"></span>ours, ± sd',)
    unit = f", {column.unit}" if column.unit and column.unit not in column.name else ""
    pairs = "".join(f' <span class="t-pair">{key}</span>' for key in keys)
    return f"<b>{escape(column.name + unit)}</b>{pairs}"


def axis(scale: Scale) -> str:
    """HTML: the numbers at the ticks."""
    texts = (f'<span class="tick" style="left:{scale.at(t):.2f}%">{t:.{scale.digits}f}</span>' for t in scale.ticks)
    return f'<div class="t-draw">{"".join(texts)}</div>'


def dots(cell: Cell | None, scale: Scale, colour: str = "") -> str:
    """HTML of one row: the lines of the ticks, and the dots of a cell.  colour: of CSS."""
    grid = "linear-gradient(var(--t-hairline), var(--t-hairline))"
    lines = ", ".join(f"{grid} {scale.at(tick):.2f}% 0 / 1px 100% no-repeat" for tick in scale.ticks)
    inside = ""
    if cell is not None and cell.printed is not None:
        inside += _dot(cell.printed.value, cell.printed.spread, scale, colour, "var(--t-page)")
    if cell is not None and cell.ours is not None:
        inside += _dot(cell.ours, cell.spread, scale, colour, colour)
    return f'<div class="t-draw"{f""" style="background:{lines}" """ if lines else ""}>{inside}</div>'


def _dot(value: float, spread: float | None, scale: Scale, colour: str, fill: str) -> str:
    line = ""
    if spread:
        left, right = scale.at(value - spread), scale.at(value + spread)
        line = f'<span class="line" style="left:{left:.2f}%;width:{right - left:.2f}%;background:{colour}"></span>'
    css = f"left:{scale.at(value):.2f}%;background:{fill};border:1.5px solid {colour}"
    return f'{line}<span class="dot" style="{css}"></span>'
