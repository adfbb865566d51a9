"""Make an AttentionTrace of an array from any source: `trace_of`.

    trace_of(weights, axes=("head", "query", "key"), tokens={"query": query, "key": key})

Values are never changed: not normalised, not smoothed; only a row that holds what is no number is read as empty.
`notes_of(trace)` says how many do, what was cropped and which rows do not sum to one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import xarray as xr

from triattn_core.errors import TraceError, choices
from triattn_core.trace.array_axes import AXIS_NAMES, LAYER, resolve_axes, row_tolerance
from triattn_core.trace.array_rows import NOT_NUMBERS, empty_nan_rows, select_positions
from triattn_core.trace.axes import TOKEN_AXES
from triattn_core.trace.quantity_check import check_quantity, distribution_axes, softmax
from triattn_core.trace.site import Site
from triattn_core.trace.token_lists import token_coords
from triattn_core.trace.trace import AttentionTrace

LONGEST = 256  # positions of an axis
MOST_CELLS = 4 * LONGEST**3
DTYPE = np.float32
OWN_ATTRS = ("quantity", "sums_over", "note", "stored_as")  # that an xarray may bring


def trace_of(
    array: Any,
    *,
    tokens: Iterable | Mapping[str, Iterable] | None = None,
    special: Iterable[str] = (),
    quantity: str | None = None,
    axes: Sequence[str] | None = None,
    sums_over: Sequence[str] | None = None,
    names: Mapping[str, str] | None = None,
    crop: Mapping[str, tuple[int, int]] | None = None,
    select: Mapping[str, int] | None = None,
    source: str = "array",
    role: str = "attention",
) -> AttentionTrace:
    """Make a trace of a NumPy, torch, JAX or xarray array of batch? × layer? × head? × query × key × context?.

    tokens: of every axis with that many positions; or by axis, {"query": […], "key": […]}, and under "tokens" those of
        all others.  Any strings; None takes the labels of an xarray's dimensions, else numbers from 1.
    special: tokens that are no text, beside those whose form says so, such as [CLS] and <|end|>.
    quantity: one of `axes.QUANTITIES`; None takes the one of an xarray, or `weight` if values are not negative and rows
        sum to one.  For relevances, the weights are added: their softmax over `sums_over`.
    axes: the name of each axis, in the order of the array (`array_axes.AXIS_NAMES`).  None means query × key for two
        axes, and for three or four query × key × context, after head, if a context is named elsewhere, or if rows sum
        to one over the last two axes and not over the last alone, within what the type of the numbers allows.
    sums_over: the axes that a distribution runs over; None means key, and context where there is one.
    names: your own label for an axis, such as {"query": "residue i"}.
    crop: (first position, one past the last) by axis; an axis of more than 256 is cropped to its first 256.
    select: a position, from 0, of an axis that is then dropped, such as {"batch": 3}; a batch of several needs it.
    source: where the array comes from; its name on figures.
    role: what attends over what (`Site.role`), such as `a_over_b`.

    >>> trace_of([[[0.5, 0.5], [1.0, 0.0]]], axes=("head", "query", "key"), tokens=["red", "car"])
    AttentionTrace(array: attention/weight [head 1, query 2, key 2])

    With an axis `layer` its sites have layers from 0.  Raises TraceError, in one
    line, if axes, tokens, quantity or crop do not fit.
    """
    own_dims, attrs = _own_names(array)
    stored_as = attrs.get("stored_as") or str(getattr(array, "dtype", ""))
    values, close = _numpy(array), row_tolerance(stored_as.rpartition(".")[2])
    by_axis: dict[str, Any] = dict(tokens) if isinstance(tokens, Mapping) else {"tokens": tokens}
    everywhere = by_axis.pop("tokens", None)
    has_context = "context" in {*by_axis, *(sums_over or ()), *(names or {})}
    axis_names = resolve_axes(values, axes or own_dims, has_context, close)
    by_axis = _own_tokens(array, axis_names) | by_axis if everywhere is None else by_axis
    crop = dict(crop or {})
    values, dims, notes = select_positions(values, axis_names, select or {}, crop)
    if "batch" in axis_names:
        crop.pop("batch", None)
    quantity = quantity or attrs.get("quantity")
    sum_axes = distribution_axes(dims, sums_over or _split_list(attrs.get("sums_over", "")))
    quantity, row_notes = check_quantity(values, dims, quantity, sum_axes, close)
    values, nan_notes = empty_nan_rows(values, dims, sum_axes, -np.inf if quantity == "relevance" else 0.0)
    notes = [*filter(None, [attrs.get("note")]), *notes, *nan_notes, *row_notes]
    crops = _crop(values.shape, dims, crop)
    notes += _crop_notes(values, dims, crops, quantity, sum_axes)
    sizes = dict(zip(dims, values.shape))
    values = np.array(values[tuple(slice(*crops[axis]) for axis in dims)], DTYPE)
    coords, texts = token_coords(sizes, crops, everywhere, by_axis, names or {}, special)
    meta = _meta(source, values, dims, notes, names or {})
    sites = _sites(values, dims, coords, quantity, sum_axes, role)
    if nan_notes:
        sites = {site: array.assign_attrs({NOT_NUMBERS: 1}) for site, array in sites.items()}
    return AttentionTrace(sites, texts, meta)


def _meta(
    source: str, values: np.ndarray, dims: Sequence[str], notes: Sequence[str], names: Mapping[str, str]
) -> dict[str, Any]:
    meta: dict[str, Any] = {"checkpoint": source, "digest": _digest(values, dims), "notes": "\n".join(notes)}
    return meta | {f"{axis}_name": label for axis, label in _known_names(names, dims).items()}


def notes_of(trace: AttentionTrace) -> list[str]:
    """The checks and crops from the import of an array, one sentence each.

    >>> notes_of(trace_of([[0.5, 0.25], [0.0, 1.0]], quantity="weight"))[0][:31]
    '1 of 2 rows do not sum to one o'
    """
    return [note for note in str(trace.meta.get("notes", "")).split("\n") if note]


def _own_names(array: Any) -> tuple[tuple[str, ...] | None, Mapping]:
    """The dims of an xarray if all of them are names of `AXIS_NAMES`, and those of its attributes that are of us."""
    if not isinstance(array, xr.DataArray):
        return None, {}
    dims = tuple(map(str, array.dims))
    attrs = {name: array.attrs[name] for name in OWN_ATTRS if isinstance(array.attrs.get(name), str)}
    return (dims if set(dims) <= set(AXIS_NAMES) else None), attrs


def _own_tokens(array: Any, axis_names: Sequence[str]) -> dict[str, list[str]]:
    """The labels of the dimensions of an xarray that are strings, by the axis that each is."""
    if not isinstance(array, xr.DataArray):
        return {}
    labels = {axis: array[dim].values.tolist() for axis, dim in zip(axis_names, array.dims) if dim in array.coords}
    return {axis: own for axis, own in labels.items() if axis in TOKEN_AXES and all(isinstance(x, str) for x in own)}


def _split_list(text: str) -> list[str] | None:
    return [part for part in text.split(",") if part] or None


def _numpy(array: Any) -> np.ndarray:
    """The values of an array of any library, not copied if possible; a memory map stays one."""
    if hasattr(array, "detach"):  # a torch tensor, whatever its device
        array = array.detach().cpu().to_dense()
        array = array.dequantize() if array.is_quantized else array.resolve_conj().resolve_neg()
        if "bfloat16" in str(array.dtype) or "float8" in str(array.dtype):
            array = array.float()  # NumPy has neither
    elif isinstance(array, xr.DataArray):
        array = array.values
    try:
        values = np.asanyarray(array)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TraceError(f"expected an array of numbers, got {type(array).__name__} ({error})") from None
    if values.dtype.name == "bfloat16":
        values = values.astype(DTYPE)
    if values.dtype.kind == "V" and not values.dtype.names:
        size = values.dtype.itemsize
        raise TraceError(
            f"numbers of {size} byte{'s' * (size > 1)} without a type, as NumPy saves bfloat16 or float8: save float32"
        )
    if values.dtype.kind not in "fiu":
        raise TraceError(f"expected an array of real numbers, got {values.dtype.name} of {values.ndim} axes")
    if not values.size:
        raise TraceError(f"expected numbers, got an empty array of shape {' × '.join(map(str, values.shape))}")
    return values


def _crop(shape: Sequence[int], dims: Sequence[str], crop: Mapping[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """(first position, one past the last) of each axis."""
    crops = {}
    for axis in crop:
        if axis not in dims:
            raise TraceError(f"crop: no axis {axis!r} here; {choices(axis, dims)}")
    for axis, size in zip(dims, shape):
        start, stop = crop.get(axis, (0, size if axis in ("head", LAYER) else min(size, LONGEST)))
        if not 0 <= start < stop <= size:
            raise TraceError(f"crop: {axis} {start}:{stop} is not within 0:{size}")
        if axis not in ("head", LAYER) and stop - start > LONGEST:
            raise TraceError(f"crop: {axis} {start}:{stop} has {stop - start} positions; at most {LONGEST} are drawn")
        crops[axis] = (start, stop)
    for axis in (LAYER, "head"):  # too many cells: keep fewer layers, then fewer heads
        cells = int(np.prod([stop - start for start, stop in crops.values()]))
        if axis in crops and cells > MOST_CELLS:
            start, stop = crops[axis]
            fits = max(1, MOST_CELLS * (stop - start) // cells)
            crops[axis] = (start, start + fits)
    return crops


def _crop_notes(
    values: np.ndarray,
    dims: Sequence[str],
    crops: Mapping[str, tuple[int, int]],
    quantity: str,
    sum_axes: Sequence[str],
) -> list[str]:
    cropped = [(axis, size) for axis, size in zip(dims, values.shape) if crops[axis] != (0, size)]
    if not cropped:
        return []
    parts = [f"{axis} {crops[axis][0]}:{crops[axis][1]} of {size:,}" for axis, size in cropped]
    note = f"Cropped to {', '.join(parts)} (positions from 0)"
    if quantity == "weight" and any(axis in sum_axes for axis, _ in cropped):
        rows = tuple(slice(None) if axis in sum_axes else slice(*crops[axis]) for axis in dims)
        part = tuple(slice(*crops[axis]) for axis in dims)
        share = values[part].sum(dtype=np.float64) / (values[rows].sum(dtype=np.float64) or 1.0)
        note += f"; the crop holds {100 * share:.3g} % of the weight of its rows"
    return [note + "."]


def _sites(
    values: np.ndarray, dims: Sequence[str], coords: Mapping, quantity: str, sum_axes: Sequence[str], role: str
) -> dict[Site, xr.DataArray]:
    parts = {quantity: (values, ",".join(sum_axes) if quantity == "weight" else "")}
    if quantity == "relevance":
        weights = softmax(values, tuple(dims.index(axis) for axis in sum_axes))
        parts["weight"] = (weights, ",".join(sum_axes))
    order = [axis for axis in AXIS_NAMES if axis in dims]
    sites = {}
    for name, (numbers, sums_over) in parts.items():
        array = xr.DataArray(numbers, coords, list(dims), attrs={"quantity": name, "sums_over": sums_over})
        array = array.transpose(*order)
        for layer in range(array.sizes[LAYER]) if LAYER in dims else [None]:
            site = Site(layer=layer, role=role, quantity=name)
            sites[site] = array if layer is None else array.isel({LAYER: layer})
    return sites


def _digest(values: np.ndarray, dims: Sequence[str]) -> str:
    return sha256(",".join(dims).encode() + str(values.shape).encode() + values.tobytes()).hexdigest()


def _known_names(names: Mapping[str, str], dims: Sequence[str]) -> dict[str, str]:
    for axis in names:
        if axis not in dims:
            raise TraceError(f"names: no axis {axis!r} here; {choices(axis, dims)}")
    return {axis: str(label) for axis, label in names.items()}
