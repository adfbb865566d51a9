"""Small still pictures of the pages' figures as SVG, for the first page: same numbers, same colours.

They carry no text: a picture in a page cannot use the page's fonts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from triattn_core.trace import AttentionTrace, Choice
from triattn_core.views.lib.palette import SEQUENTIAL, THEMES, LogScale, ramp
from triattn_core.views.lib.strongest import strongest

WIDTH, HEIGHT, GAP = 300, 130, 10
AXES = ("query", "key", "context")


def slices(trace: AttentionTrace, choice: Choice, theme: str = "light", cell: dict[str, int] | None = None) -> str:
    """The cube of a choice: its three slices through a cell, by default its strongest, as the cube page draws them."""
    array = trace.pick(choice).transpose(*AXES)
    cell = cell or peak(trace, choice)
    scale = LogScale.of(array.values, array.sizes["key"] * array.sizes["context"])
    wide = (WIDTH - GAP) / (array.sizes["key"] + array.sizes["context"])
    high = (HEIGHT - GAP) / (array.sizes["query"] + array.sizes["key"])
    right, down = array.sizes["key"] * wide + GAP, array.sizes["query"] * high + GAP
    places = {("query", "key"): (0.0, 0.0), ("query", "context"): (right, 0.0), ("key", "context"): (right, down)}
    parts = []
    for (rows, columns), corner in places.items():
        third = next(axis for axis in AXES if axis not in (rows, columns))
        panel = array.isel({third: cell[third]}).transpose(rows, columns)
        parts.append(grid(scale.levels(panel.values), corner, (wide, high), theme))
        parts.append(crosshair(panel, cell, corner, (wide, high), theme))
    return svg(parts)


def maps(arrays: Sequence[xr.DataArray], theme: str = "light") -> str:
    """Weights `[query, key]` side by side on one scale."""
    arrays = [array.transpose("query", "key") for array in arrays]
    scale = LogScale.of(np.concatenate([array.values.ravel() for array in arrays]), arrays[0].sizes["key"])
    wide = (WIDTH - GAP * (len(arrays) - 1)) / len(arrays)
    parts = []
    for i, array in enumerate(arrays):
        size = (wide / array.sizes["key"], HEIGHT / array.sizes["query"])
        parts.append(grid(scale.levels(array.values), (i * (wide + GAP), 0.0), size, theme))
    return svg(parts)


def peak(trace: AttentionTrace, choice: Choice) -> dict[str, int]:
    """Positions of the strongest cell."""
    first = strongest(trace, choice, 1).iloc[0]
    return {str(axis): int(first[f"{axis}_at"]) for axis in trace.pick(choice).dims}


def grid(levels: np.ndarray, corner: tuple[float, float], size: tuple[float, float], theme: str) -> str:
    """A rectangle a level, rows down."""
    table = ramp(SEQUENTIAL[theme], LogScale.steps)
    return "".join(
        f'<rect x="{corner[0] + j * size[0]:.1f}" y="{corner[1] + i * size[1]:.1f}" width="{size[0] - 0.7:.1f}" '
        f'height="{size[1] - 0.7:.1f}" fill="#{table[level].tobytes().hex()}"/>'
        for (i, j), level in np.ndenumerate(levels)
    )


def crosshair(
    panel: xr.DataArray,
    cell: Mapping[str, int],
    corner: tuple[float, float],
    size: tuple[float, float],
    theme: str,
) -> str:
    """Frames around the chosen row and column, each in the colour of its axis, and around the cell."""
    rows, columns = map(str, panel.dims)
    x, y = corner[0] + cell[columns] * size[0], corner[1] + cell[rows] * size[1]
    frames = (
        (corner[0], y, panel.sizes[columns] * size[0], size[1], THEMES[theme][rows], 1.2),
        (x, corner[1], size[0], panel.sizes[rows] * size[1], THEMES[theme][columns], 1.2),
        (x, y, size[0], size[1], THEMES[theme]["text"], 1.8),
    )
    return "".join(
        f'<rect x="{left - 0.35:.1f}" y="{top - 0.35:.1f}" width="{wide:.1f}" height="{high:.1f}" fill="none" '
        f'stroke="{colour}" stroke-width="{width}"/>'
        for left, top, wide, high, colour, width in frames
    )


def svg(parts: Sequence[str]) -> str:
    """The whole document."""
    size = f'width="{WIDTH + 2}" height="{HEIGHT + 2}" viewBox="-1 -1 {WIDTH + 2} {HEIGHT + 2}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>'
