"""The numbers of a cube that its levels leave out: sums along an axis, and the exact numbers of its cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import xarray as xr

from triattn_core.trace import AttentionTrace, Choice, reduce
from triattn_core.views.cube.cells import axes_of
from triattn_core.views.lib.palette import centred, pack
from triattn_core.views.lib.strongest import distribution_axes, other_quantity, select_array


def margin(trace: AttentionTrace, choice: Choice, array: xr.DataArray, axis: str) -> xr.DataArray:
    """Weights summed over an axis; relevances joined by log-sum-exp and centred again, so that bars have a zero; over
    features the mean of either, since each feature has distributions of its own.

    Each head is joined before the heads are averaged: its own softmax is what the join stands for.
    """
    if axis == "feature":
        return reduce(array.where(np.isfinite(array), 0.0), axis, "mean")
    if array.attrs["quantity"] == "weight":
        return reduce(array, axis, "sum")
    return centred(trace.pick(replace(choice, reduce=((axis, "logsumexp"), *choice.reduce))))


def exact_numbers(trace: AttentionTrace, choice: Choice, positions: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Packed float32 of the shown cells: weights, raw and centred relevances, ranks in each distribution."""
    array = select_array(trace, choice)
    axes, along = axes_of(array), distribution_axes(trace, choice)
    lines = array.transpose(*[axis for axis in axes if axis not in along], *along)
    rows = lines.values.reshape(-1, int(np.prod([array.sizes[axis] for axis in along])))
    above = [row.size - np.searchsorted(np.sort(row), row, side="right") for row in rows]
    ranks = lines.copy(data=1 + np.array(above, np.float32).reshape(lines.shape))
    packed = {"rank": pack(ranks.transpose(*axes).isel(positions).values)}
    for quantity in ("weight", "relevance"):
        other = other_quantity(trace, choice, quantity)
        if other is not None:
            array = other.transpose(*axes)
            packed["raw" if quantity == "relevance" else quantity] = pack(
                array.isel(positions).values.astype(np.float32)
            )
            if quantity == "relevance":
                packed["relevance"] = pack(centred(array).isel(positions).values.astype(np.float32))
    return packed
