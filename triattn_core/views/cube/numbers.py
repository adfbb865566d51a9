"""The numbers of a cube that its levels leave out: sums along an axis, and the exact numbers of its cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import xarray as xr

from triattn_core.trace import reduce
from triattn_core.trace.aggregation import cell_counts
from triattn_core.trace.distribution import Distribution
from triattn_core.trace.relevance import centred
from triattn_core.views.cube.cells import CubeCells, axes_of
from triattn_core.views.lib.panel import Values
from triattn_core.views.lib.strongest import shown_array


def margin(shown: Distribution, array: xr.DataArray, axis: str) -> xr.DataArray:
    """Weights summed over an axis; relevances joined by log-sum-exp and centred again, so that bars have a zero.  Over
    an axis that no distribution runs over (a feature, or the context of a cube that is normalised over keys alone) the
    mean of either, since each of its positions has distributions of its own.

    Each head is joined before the heads are averaged: its own softmax is what the join stands for.
    """
    if axis not in shown.axes:
        return reduce(array.where(np.isfinite(array), 0.0), axis, "mean")
    if array.attrs["quantity"] == "weight":
        return reduce(array, axis, "sum")
    choice = replace(shown.choice, reduce=((axis, "logsumexp"), *shown.choice.reduce))
    return centred(shown.trace.pick(choice), shown.axes)


def exact_numbers(shown: Distribution, positions: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """float32 of the shown cells: weights, raw and centred relevances, ranks in each distribution."""
    array, along = shown_array(shown), shown.axes
    axes = axes_of(array)
    lines = array.transpose(*[axis for axis in axes if axis not in along], *along)
    rows = lines.values.reshape(-1, int(np.prod([array.sizes[axis] for axis in along])))
    above = [row.size - np.searchsorted(np.sort(row), row, side="right") for row in rows]
    ranks = lines.copy(data=1 + np.array(above, np.float32).reshape(lines.shape))
    found = {"rank": ranks}
    if shown.weight is not None:
        found["weight"] = shown.weight
    if shown.relevance is not None:
        found |= {"raw": shown.relevance, "relevance": centred(shown.relevance, along)}
    return {name: one.transpose(*axes).isel(positions).values.astype(np.float32) for name, one in found.items()}


def uniform(shown: Distribution) -> float:
    """An even share of the cells that are shown."""
    expected = 1 - shown.empty
    return (shown.mass / expected if expected else 1.0) / shown.size


def evens(shown: Distribution, cells: CubeCells) -> dict[str, Values]:
    """What the numbers of a cell are over: `of`, how many cells its distribution has; of weights `rows`, how many
    distributions hold the mass, and `even`, the weight where attention is even over the cells that no mask leaves out.

    A folded cell counts as many as the cells of the model that it joins.
    """
    outside, inside = ([axis for axis in cells.axes if (axis in shown.axes) == among] for among in (False, True))
    rows = (round(shown.count * shown.mass) if shown.normalised else shown.count * shown.mass) or 1
    even = uniform(shown) * shown.size / np.prod([cell_counts(shown.array, axis).sum() for axis in inside])
    left, part = np.array(shown.size), np.array(1.0)
    if cells.masked is not None:
        left = (~cells.masked).sum(tuple(cells.axes.index(axis) for axis in inside))
        drawn = np.prod([len(cells.positions[axis]) for axis in inside])
        part = drawn / np.where(left, left, drawn)

    def joined(axes: list[str]) -> np.ndarray:
        whole = np.array(1.0)
        for axis in axes if cells.joins else ():
            whole = np.multiply.outer(whole, cells.tokens[axis]["cells"])
        return whole

    of = tuple(outside) if cells.masked is not None else ()
    over_rows, over_cells = (tuple(axes) if cells.joins else () for axes in (outside, inside))
    return {
        "of": Values(of, left.astype(np.uint32)),
        "rows": Values(over_rows, np.asarray(rows / joined(outside))),
        "even": Values((*of, *over_cells), np.asarray(np.multiply.outer(even * part, joined(inside)))),
    }
