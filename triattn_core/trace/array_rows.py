"""Parts of an array before it is a trace: the example of a batch, and rows that hold what is no number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from triattn_core.errors import TraceError, choices
from triattn_core.trace.site import Site

NOT_NUMBERS = "not_numbers"  # an attribute: rows of the array are empty because they held what is no number


class SelectError(TraceError):
    """An axis of which one position must be chosen.  axis: its name; size: its positions."""

    def __init__(self, text: str, axis: str, size: int):
        super().__init__(text)
        self.axis, self.size = axis, size


def select_positions(
    values: np.ndarray, dims: Sequence[str], select: Mapping[str, int], crop: Mapping[str, tuple[int, int]]
) -> tuple[np.ndarray, list[str], list[str]]:
    """The values at the chosen positions, the axes that are left, and a note.

    select: a position, from 0, by axis.  crop: a batch cropped to one example is that example.  A batch of one needs no
    choice.  Raises SelectError for a larger one without, TraceError for what is outside.
    """
    chosen = dict(select)
    first, stop = crop.get("batch", (0, 0))
    if "batch" not in chosen and stop - first == 1:
        chosen["batch"] = first
    for axis, position in chosen.items():
        if axis not in dims:
            raise TraceError(f"select: no axis {axis!r} here; {choices(axis, dims)}")
        if axis in ("query", "key"):
            raise TraceError(f"select: an attention needs the axis {axis}; crop it to keep a part")
        size = values.shape[dims.index(axis)]
        if not 0 <= position < size:
            raise TraceError(f"select: {axis} {position} is not within 0:{size}")
    if "batch" in dims and "batch" not in chosen:
        size = values.shape[dims.index("batch")]
        if size > 1:
            raise SelectError(
                f"batch has {size} examples: choose one, from batch=0 to batch={size - 1}, with select", "batch", size
            )
        chosen["batch"] = 0
    places = tuple(chosen.get(axis, slice(None)) for axis in dims)
    sizes = dict(zip(dims, values.shape))
    parts = [f"{axis} {position} of {sizes[axis]:,}" for axis, position in chosen.items() if sizes[axis] > 1]
    notes = [f"Selected: {', '.join(parts)} (positions from 0)."] if parts else []
    return values[places], [axis for axis in dims if axis not in chosen], notes


def empty_nan_rows(
    values: np.ndarray, dims: Sequence[str], sum_axes: Sequence[str], empty: float = 0.0
) -> tuple[np.ndarray, list[str]]:
    """The values with `empty` in each row that holds what is no number, as padded positions do, and a note that counts
    these rows.  A row runs over `sum_axes`: with one weight unknown, none of its shares is known.

    Values without such a row are returned as they are.
    """
    axes = tuple(dims.index(axis) for axis in sum_axes)
    rows = np.isnan(values).any(axes, keepdims=True)
    count = int(rows.sum())
    if not count:
        return values, []
    row_axes = [axis for axis in dims if axis not in sum_axes]
    first = np.argwhere(rows.squeeze(axes))[0]
    place = ", ".join(f"{axis} {position}" for axis, position in zip(row_axes, first)) or "all of it"
    note = (
        f"{count:,} of {rows.size:,} rows hold what is not a number, the first at {place} (from 0): they are shown "
        "empty and left out of every measure."
    )
    return np.where(rows, values.dtype.type(empty), values), [note]


def empty_unknown_rows(arrays: Mapping[Site, xr.DataArray]) -> tuple[dict[Site, xr.DataArray], list[str]]:
    """Returns the arrays with empty rows for those that hold what is no number, and a note on the first such array."""
    emptied, bad = {}, []
    for site, array in arrays.items():
        sums = str(array.attrs.get("sums_over") or array.attrs.get("runs_over") or "key").split(",")
        axes = [axis for axis in sums if axis in array.dims]
        empty = -np.inf if array.attrs.get("quantity") == "relevance" else 0.0
        values, notes = empty_nan_rows(array.values, [str(axis) for axis in array.dims], axes, empty)
        emptied[site] = array.copy(data=values).assign_attrs({NOT_NUMBERS: 1} if notes else {})
        bad += [f"{site}: {note}" for note in notes]
    more = f" So do rows of {len(bad) - 1} more of the {len(arrays)} maps." if len(bad) > 1 else ""
    return emptied, [bad[0] + more] if bad else []
