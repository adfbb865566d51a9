"""The maps of a cube: its three slices through the chosen cell, with the sums beside them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from triattn_core.trace.distribution import Distribution
from triattn_core.views.cube.cells import CubeCells
from triattn_core.views.cube.numbers import evens, margin
from triattn_core.views.lib.marks import Cells, Margin
from triattn_core.views.lib.panel import Panel, Values


def slices(
    shown: Distribution, cells: CubeCells, cell: tuple[int, ...], exact: Mapping[str, np.ndarray]
) -> list[Panel]:
    """The slices query × key, query × third and key × third.  cell: places among what is drawn; exact: further arrays
    of all drawn cells."""
    (query, key, third), quantity, roles = cells.axes, str(cells.array.attrs["quantity"]), cells.roles
    inside = third in shown.axes
    note = ("sum" if quantity == "weight" else "joint") if inside else "mean"
    whole = f"the whole {roles[query]}, sums to 1" if inside else "each column sums to 1"
    whole = whole if quantity == "weight" else ""
    arrays = {name: Values(cells.axes, values) for name, values in {"levels": cells.levels, **exact}.items()}
    arrays |= evens(shown, cells)
    if cells.masked is not None:
        arrays["masked"] = Values(cells.axes, cells.masked)
    for axis in (key, third) if inside else (third,):
        over = tuple(one for one in cells.axes if one != axis)
        sums = margin(shown, cells.array, axis).transpose(*over).isel({one: cells.positions[one] for one in over})
        arrays[f"sum over {axis}"] = Values(over, sums.values)
    over_key, over_third = (Margin(f"sum over {axis}", "right", note) for axis in (key, third))
    below = Margin(over_key.values, "below", note) if inside else Margin(quantity, "below", "this pair")

    def panel(across: int, place: tuple[int, int], *marks: Margin, **more) -> Panel:
        down, right = (axis for axis in cells.axes if axis != cells.axes[across])
        drawn = Cells("levels", "main", "masked" if cells.masked is not None else "")
        at = f"{roles[cells.axes[across]]} {cells.tokens[cells.axes[across]]['name'][cell[across]]}"
        title = f"{roles[down]} × {roles[right]} at {at}"
        return Panel("", down, right, drawn, arrays if across == 2 else {}, marks, place, paper_title=title, **more)

    return [
        panel(2, (0, 0), *([over_key] if inside else [])),
        panel(1, (0, 1), over_third),
        panel(0, (1, 1), over_third, below, note=whole),
    ]
