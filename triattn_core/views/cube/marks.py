"""The maps of a cube: its three slices through the chosen cell."""

from __future__ import annotations

from collections.abc import Sequence

from triattn_core.views.cube.cells import CubeCells
from triattn_core.views.lib.map_mark import MapMark
from triattn_core.views.lib.tokens import map_labels

PLACES = {2: (0, 0), 1: (0, 1), 0: (1, 1)}  # by the axis that a slice is across, as the explorer places them


def slices(cells: CubeCells, cell: Sequence[int]) -> tuple[MapMark, ...]:
    """The slices query × key, query × third and key × third.  cell: positions in the trace."""
    places, marks = cells.places(cell), []
    for across, place in PLACES.items():
        plane = [i for i in range(3) if i != across]
        down, right = (cells.axes[i] for i in plane)
        axis, axis_place = cells.axes[across], places[across]
        token = cells.tokens[axis]["name"][axis_place]
        marks.append(
            MapMark(
                f"{cells.roles[down]} × {cells.roles[right]} at {cells.roles[axis]} {token}",
                (down, right),
                map_labels(cells.tokens[down]),
                map_labels(cells.tokens[right]),
                cells.levels.take(axis_place, axis=across),
                cells.scale,
                (places[plane[0]], places[plane[1]]),
                place,
                None if cells.masked is None else cells.masked.take(axis_place, axis=across),
            )
        )
    return tuple(marks)
