"""Positions of one axis of an array, by index or by token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import xarray as xr

from triattn_core.errors import TraceError, choices
from triattn_core.trace.site import Site

Position = int | str | slice | Sequence[int]


def select_sites(sites: Mapping[Site, xr.DataArray], axis: str, position: Position) -> dict[Site, xr.DataArray]:
    """The arrays of a trace at a position of an axis, see `select`; of a token, without the sites that do not have it.

    Raises TraceError: no site has the axis, the position or the token.
    """
    axes = {str(dim) for array in sites.values() for dim in array.dims}
    if axis not in axes:
        hint = '; a layer is trace["layer.0"]' if axis in ("layer", "site") else ""
        raise TraceError(f"no site of this trace has an axis {axis!r}; {choices(axis, sorted(axes))}{hint}")
    if isinstance(position, str):
        arrays = {site: array for site, array in sites.items() if axis not in array.dims or _at(array, axis, position)}
        if not any(axis in array.dims for array in arrays.values()):
            there = {str(token) for array in sites.values() for token in _tokens(array, axis)}
            raise TraceError(f"no {axis} has the token {position!r}; {choices(position, sorted(there))}")
        sites = arrays
    return {site: select(array, axis, position) for site, array in sites.items()}


def select(array: xr.DataArray, axis: str, position: Position) -> xr.DataArray:
    """The array at an index from 0, a slice, several indices, or all positions of a token; unchanged without the axis.

    Raises TraceError: no such position, or no such token.
    """
    if axis not in array.dims:
        return array
    if isinstance(position, str):
        places = _at(array, axis, position)
        if not places:
            raise TraceError(f"no {axis} has the token {position!r}")
        position = places
    try:
        return array.isel({axis: position})
    except IndexError:
        raise TraceError(f"{axis} {position} is outside 0…{array.sizes[axis] - 1}") from None


def _tokens(array: xr.DataArray, axis: str) -> Sequence:
    """The tokens of an axis; none where it has none."""
    tokens = array.coords.get(f"{axis}_token")
    return [] if tokens is None else tokens.values.tolist()


def _at(array: xr.DataArray, axis: str, token: str) -> list[int]:
    """The positions that have a token."""
    return [i for i, there in enumerate(_tokens(array, axis)) if there == token]
