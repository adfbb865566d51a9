"""Name the axes of an array: as you name them, or by its shape and row sums where these leave one order alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from triattn_core.errors import TraceError, choices
from triattn_core.trace.axes import AXES, CUBE

LAYER = "layer"
AXIS_NAMES = (LAYER, *AXES, "batch")
QUERY_KEY, CUBES = CUBE[:2], ("head", *CUBE)
FEWEST, MOST = 2, 6
READINGS = {  # of arrays whose axes are not named, those that a page offers
    3: ("query key context", "head query key", "layer query key"),
    4: ("head query key context", "layer head query key", "head query context key", "batch head query key"),
    5: ("layer head query key context", "layer batch head query key"),
    6: ("layer batch head query key context",),
}
CLOSE = 1e-3  # of a row's sum to one
EPSILON = {"bfloat16": 2**-7, "float8_e4m3fn": 2**-3, "float8_e5m2": 2**-2}  # of types with few digits


def row_tolerance(dtype: str) -> float:
    """By how much a row of weights stored in a type may miss one: rounding each weight moves the sum by half the type's
    epsilon at most; twice that where it is more than CLOSE.  dtype: its name, such as bfloat16."""
    return max(CLOSE, EPSILON.get(dtype, 0.0))


class AxesError(TraceError):
    """Axes that can be read in more than one way.  readings: the names of each, in the order of the array."""

    def __init__(self, text: str, readings: Sequence[str]):
        super().__init__(text)
        self.readings = tuple(readings)


def resolve_axes(
    values: np.ndarray, axes: Sequence[str] | None, context: bool, close: float = CLOSE
) -> tuple[str, ...]:
    """The name of each axis.  axes: the names you gave, or None; context: whether you named a context, by its tokens, a
    label or what rows sum over; close: of a row's sum to one.

    Raises TraceError if a name is unknown, if there is not one name per axis, or if query or key is missing; AxesError
    if no names are given, and shape and sums leave more than one order.
    """
    if not FEWEST <= values.ndim <= MOST:
        raise TraceError(f"expected an array of two to four axes, head? × query × key × context?, got {_shape(values)}")
    if axes is None:
        return _default(values, context, close)
    axes = tuple(axes)
    for axis in axes:
        if axis not in AXIS_NAMES:
            raise TraceError(f"unknown axis {axis!r}; {choices(axis, AXIS_NAMES)}")
    if len(axes) != values.ndim or len(set(axes)) < len(axes):
        raise TraceError(f"expected a name for each axis of {_shape(values)}, no two alike, got {' '.join(axes)}")
    if missing := [axis for axis in ("query", "key") if axis not in axes]:
        raise TraceError(f"an attention needs the axes query and key; there is no {' and no '.join(missing)}")
    if {"context", "feature"} <= set(axes):
        raise TraceError("context and feature together cannot be drawn: name one of them, and choose one of the other")
    return axes


def _default(values: np.ndarray, context: bool, close: float) -> tuple[str, ...]:
    if values.ndim == 2:
        return QUERY_KEY
    if values.ndim in (3, 4):
        last = sums_to_one(values, (values.ndim - 1,), close)
        both = sums_to_one(values, (values.ndim - 2, values.ndim - 1), close)
        if context or (both and not last):  # rows of weights over two axes: no other reading has such
            return CUBE if values.ndim == 3 else CUBES
        if values.ndim == 4 and last and not both:
            readings = _readings(values, close)
            fits = " or ".join(reading for reading in readings if reading.endswith("head query key"))
            text = f"{_shape(values)}: the last axis alone sums to one, as of {fits}: name the axes so, or otherwise"
            raise AxesError(text, readings)
    readings = _readings(values, close)
    text = f"{_shape(values)} can be read in more than one way: name the axes, such as {readings[0]}"
    raise AxesError(text, readings)


def _readings(values: np.ndarray, close: float) -> list[str]:
    """What an array may be, the likeliest first."""
    known = READINGS[values.ndim]
    known = known[::-1] if values.ndim == 4 and values.shape[0] == 1 else known  # a batch of one, not one layer
    return sorted(known, key=lambda reading: _misfit(values, reading.split(), close))


def _misfit(values: np.ndarray, axes: Sequence[str], close: float) -> tuple[bool, bool]:
    """What speaks against a reading: rows that do not sum to one, or else a cube where the last two axes are as long as
    each other and another is not, as maps of one text are."""
    over = tuple(axes.index(axis) for axis in CUBE[1:] if axis in axes)
    *others, last = values.shape[-3:]
    return not sums_to_one(values, over, close), CUBE[-1] in axes and others[1] == last != others[0]


def sums_to_one(values: np.ndarray, axes: tuple[int, ...], close: float = CLOSE) -> bool:
    """Whether all sums over the axes are one, rows of zeros aside, and those that hold what is no number."""
    sums = values.sum(axes, dtype=np.float64)
    sums = sums[~np.isnan(sums)]
    return bool(np.all((np.abs(sums - 1) < close) | (sums == 0)) and np.any(sums))


def _shape(values: np.ndarray) -> str:
    return f"{values.ndim} axes of {' × '.join(map(str, values.shape))}"
