"""Name the axes of an array: as you name them, or by shape where only one order fits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from triattn_core.errors import TraceError, choices

LAYER = "layer"
AXIS_NAMES = (LAYER, "head", "query", "key", "context", "feature", "batch")
DEFAULT_AXES = {2: ("query", "key"), 4: ("head", "query", "key", "context")}
FEWEST, MOST = 2, 6
READINGS = {  # of arrays whose axes are not named, those that a page offers
    3: ("query key context", "head query key", "layer query key"),
    4: ("head query key context", "layer head query key", "head query context key", "batch head query key"),
    5: ("layer head query key context", "layer batch head query key"),
    6: ("layer batch head query key context",),
}
CLOSE = 1e-3  # of a row's sum to one


class AxesError(TraceError):
    """Axes that can be read in more than one way.  readings: the names of each, in the order of the array."""

    def __init__(self, text: str, readings: Sequence[str]):
        super().__init__(text)
        self.readings = tuple(readings)


def resolve_axes(values: np.ndarray, axes: Sequence[str] | None, context: bool) -> tuple[str, ...]:
    """The name of each axis.  axes: the names you gave, or None; context: whether context tokens were given.

    Raises TraceError if a name is unknown, if there is not one name per axis, or if query or key is missing; and if no
    names are given and the shape fits more than one order.
    """
    if not FEWEST <= values.ndim <= MOST:
        raise TraceError(f"expected an array of two to four axes, head? × query × key × context?, got {_shape(values)}")
    if axes is None:
        return _default(values, context)
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
    if "batch" in axes and values.shape[axes.index("batch")] != 1:
        raise TraceError(f"batch has {values.shape[axes.index('batch')]} examples: choose one before it is opened")
    return axes


def _default(values: np.ndarray, context: bool) -> tuple[str, ...]:
    if values.ndim == 3 and (context or (sums_to_one(values, (1, 2)) and not sums_to_one(values, (2,)))):
        return ("query", "key", "context")  # rows of weights over two axes: no other reading has such
    if values.ndim == 4 and not context and sums_to_one(values, (3,)) and not sums_to_one(values, (2, 3)):
        batch = values.shape[0] == 1  # as Hugging Face has the attentions of one layer
        raise AxesError(
            f"{_shape(values)}: the last axis alone sums to one, as of {'batch' if batch else 'layer'} head query key: "
            "name the axes so, or otherwise",
            READINGS[4][: 4 if batch else 3],
        )
    if values.ndim in DEFAULT_AXES:
        return DEFAULT_AXES[values.ndim]
    text = f"{_shape(values)} can be read in more than one way: name the axes, such as {_guess_quantity(values)}"
    raise AxesError(text, READINGS[values.ndim])


def _guess_quantity(values: np.ndarray) -> str:
    if values.ndim == 3:
        return "head query key"
    last = sums_to_one(values, (values.ndim - 1,))
    return {5: "layer batch head query key" if last else "layer head query key context"}.get(
        values.ndim, "layer batch head query key context"
    )


def sums_to_one(values: np.ndarray, axes: tuple[int, ...]) -> bool:
    """Whether all sums over the axes are one, rows of zeros aside."""
    sums = values.sum(axes, dtype=np.float64)
    return bool(np.all((np.abs(sums - 1) < CLOSE) | (sums == 0)) and np.any(sums))


def _shape(values: np.ndarray) -> str:
    return f"{values.ndim} axes of {' × '.join(map(str, values.shape))}"
