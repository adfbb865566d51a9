"""An array of any origin as an AttentionTrace: `trace_of`.

    trace_of(weights, axes=("head", "query", "key"), query=tokens, key=tokens)

Values are never changed: not normalised, not smoothed.  What is left out (a crop) and what does not hold (rows that do
not sum to one) stands in `notes_of(trace)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import xarray as xr

from triattn_core.errors import TraceError, choices
from triattn_core.trace.array_axes import AXIS_NAMES, LAYER, resolve_axes
from triattn_core.trace.quantity_check import check_quantity, softmax
from triattn_core.trace.token_lists import token_coords
from triattn_core.trace.trace import AttentionTrace

LONGEST = 256  # positions of an axis
MOST_CELLS = 4 * LONGEST**3
DTYPE = np.float32


def trace_of(
    array: Any,
    *,
    tokens: Iterable | None = None,
    query: Iterable | None = None,
    key: Iterable | None = None,
    context: Iterable | None = None,
    quantity: str | None = None,
    axes: Sequence[str] | None = None,
    sums_over: Sequence[str] | None = None,
    names: Mapping[str, str] | None = None,
    crop: Mapping[str, tuple[int, int]] | None = None,
    source: str = "array",
) -> AttentionTrace:
    """The trace of an array of NumPy, torch, JAX or xarray with the axes layer? × head? × query × key × context?.

    tokens: of every axis that has as many positions; query, key, context: of that axis.  Any strings; without them
        positions are numbered from 1.
    quantity: one of `axes.QUANTITIES`; None is an xarray's own, or `weight` where the rows of numbers from 0 sum to
        one.  Of relevances the weights are added, their softmax over `sums_over`.
    axes: the name of each axis, in the order of the array (`array_axes.AXIS_NAMES`); None is query × key of two and
        head × query × key × context of four; three are query × key × context where context has tokens, or where rows
        sum to one over two axes and not over one.
    sums_over: the axes that a distribution runs over; None is key, and context where there is one.
    names: what you call an axis, such as {"query": "residue i"}.
    crop: first position and the one after the last of an axis; an axis of more than 256 is cropped to its first 256.
    source: where it is from: the name on figures.

    Sites are `attention/<quantity>`, with layers `layer.0/attention/<quantity>`.  Raises TraceError in one line where
    axes, tokens, quantity or crop do not fit.
    """
    dims, attrs = _own_names(array)
    values = _numpy(array)
    given = {"query": query, "key": key, "context": context}
    dims = resolve_axes(values, axes or dims, context is not None)
    values, dims = _squeeze(values, dims)
    quantity, over, notes = check_quantity(
        values, dims, quantity or attrs.get("quantity"), sums_over or _listed(attrs.get("sums_over", ""))
    )
    kept = _crop(values.shape, dims, crop or {})
    notes += _crop_notes(values, dims, kept, quantity, over)
    sizes = dict(zip(dims, values.shape))
    values = np.array(values[tuple(slice(*kept[axis]) for axis in dims)], DTYPE)
    coords, texts = token_coords(sizes, kept, tokens, given, names or {})
    meta = {"checkpoint": source, "digest": _digest(values, dims), "notes": "\n".join(notes)}
    meta |= {f"{axis}_name": called for axis, called in _known_names(names or {}, dims).items()}
    return AttentionTrace(_sites(values, dims, coords, quantity, over), texts, meta)


def notes_of(trace: AttentionTrace) -> list[str]:
    """What was found and left out when a trace was made of an array, a sentence each."""
    return [note for note in str(trace.meta.get("notes", "")).split("\n") if note]


def _own_names(array: Any) -> tuple[tuple[str, ...] | None, Mapping]:
    """The axes of an xarray, where they are named as ours, and its attributes."""
    if not isinstance(array, xr.DataArray):
        return None, {}
    dims = tuple(map(str, array.dims))
    return (dims if set(dims) <= set(AXIS_NAMES) else None), array.attrs


def _listed(text: str) -> list[str] | None:
    return [part for part in text.split(",") if part] or None


def _numpy(array: Any) -> np.ndarray:
    """The numbers of an array of any library, without copying where that can be; a memory map stays one."""
    if hasattr(array, "detach"):  # a torch tensor, whatever its device
        array = array.detach().cpu()
        array = array.to_dense() if getattr(array, "is_sparse", False) else array
        if "bfloat16" in str(array.dtype):
            array = array.float()  # NumPy has no bfloat16
    elif isinstance(array, xr.DataArray):
        array = array.values
    try:
        values = np.asanyarray(array)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TraceError(f"expected an array of numbers, got {type(array).__name__} ({error})") from None
    if values.dtype.name == "bfloat16":
        values = values.astype(DTYPE)
    if values.dtype.kind not in "fiu":
        raise TraceError(f"expected an array of real numbers, got {values.dtype.name} of {values.ndim} axes")
    if not values.size:
        raise TraceError(f"expected numbers, got an empty array of shape {' × '.join(map(str, values.shape))}")
    return values


def _squeeze(values: np.ndarray, dims: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """Without the axes that are named `batch`, which have one position."""
    keep = [axis for axis in dims if axis != "batch"]
    return values[tuple(0 if axis == "batch" else slice(None) for axis in dims)], keep


def _crop(shape: Sequence[int], dims: Sequence[str], crop: Mapping[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """First position and the one after the last of each axis."""
    kept = {}
    for axis in crop:
        if axis not in dims:
            raise TraceError(f"crop: no axis {axis!r} here; {choices(axis, dims)}")
    for axis, size in zip(dims, shape):
        start, stop = crop.get(axis, (0, size if axis in ("head", LAYER) else min(size, LONGEST)))
        if not 0 <= start < stop <= size:
            raise TraceError(f"crop: {axis} {start}:{stop} is not within 0:{size}")
        if axis not in ("head", LAYER) and stop - start > LONGEST:
            raise TraceError(f"crop: {axis} {start}:{stop} has {stop - start} positions; at most {LONGEST} are drawn")
        kept[axis] = (start, stop)
    for axis in (LAYER, "head"):  # where it is too much, fewer of these
        cells = int(np.prod([stop - start for start, stop in kept.values()]))
        if axis in kept and cells > MOST_CELLS:
            start, stop = kept[axis]
            fits = max(1, MOST_CELLS * (stop - start) // cells)
            kept[axis] = (start, start + fits)
    return kept


def _crop_notes(
    values: np.ndarray, dims: Sequence[str], kept: Mapping[str, tuple[int, int]], quantity: str, over: Sequence[str]
) -> list[str]:
    cut = [(axis, size) for axis, size in zip(dims, values.shape) if kept[axis] != (0, size)]
    if not cut:
        return []
    parts = [f"{axis} {kept[axis][0]}:{kept[axis][1]} of {size:,}" for axis, size in cut]
    note = f"Cropped to {', '.join(parts)} (positions from 0)"
    if quantity == "weight" and any(axis in over for axis, _ in cut):
        rows = tuple(slice(None) if axis in over else slice(*kept[axis]) for axis in dims)
        part = tuple(slice(*kept[axis]) for axis in dims)
        share = values[part].sum(dtype=np.float64) / (values[rows].sum(dtype=np.float64) or 1.0)
        note += f"; the crop holds {100 * share:.3g} % of the weight of its rows"
    return [note + "."]


def _sites(
    values: np.ndarray, dims: Sequence[str], coords: Mapping, quantity: str, over: Sequence[str]
) -> dict[str, xr.DataArray]:
    parts = {quantity: (values, ",".join(over) if quantity == "weight" else "")}
    if quantity == "relevance":
        weights = softmax(values, tuple(dims.index(axis) for axis in over))
        parts["weight"] = (weights, ",".join(over))
    sites = {}
    for what, (numbers, sums) in parts.items():
        whole = xr.DataArray(numbers, dims=list(dims), attrs={"quantity": what, "sums_over": sums})
        whole = whole.assign_coords(coords)
        order = [axis for axis in AXIS_NAMES if axis in dims]
        whole = whole.transpose(*order)
        if LAYER not in dims:
            sites[f"attention/{what}"] = whole
            continue
        for number in range(whole.sizes[LAYER]):
            sites[f"layer.{number}/attention/{what}"] = whole.isel({LAYER: number})
    return sites


def _digest(values: np.ndarray, dims: Sequence[str]) -> str:
    return sha256(",".join(dims).encode() + str(values.shape).encode() + values.tobytes()).hexdigest()


def _known_names(names: Mapping[str, str], dims: Sequence[str]) -> dict[str, str]:
    for axis in names:
        if axis not in dims:
            raise TraceError(f"names: no axis {axis!r} here; {choices(axis, dims)}")
    return {axis: str(called) for axis, called in names.items()}
