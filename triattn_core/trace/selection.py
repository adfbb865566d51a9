"""Positions of one axis of an array, by index or by token."""

from __future__ import annotations

from collections.abc import Sequence

import xarray as xr

from triattn_core.errors import TraceError


def select(array: xr.DataArray, axis: str, position: int | str | slice | Sequence[int]) -> xr.DataArray:
    """The array at an index from 0, a slice, several indices, or all positions of a token; unchanged without the axis.

    Raises TraceError: no such position, or no such token.
    """
    if axis not in array.dims:
        return array
    if isinstance(position, str):
        tokens = array.coords.get(f"{axis}_token")
        position = [] if tokens is None else [i for i, token in enumerate(tokens.values) if token == position]
        if not position:
            raise TraceError(f"no {axis} has this token")
    try:
        return array.isel({axis: position})
    except IndexError:
        raise TraceError(f"{axis} {position} is outside 0…{array.sizes[axis] - 1}") from None
