"""Determine what an array holds (weights, relevances, gates, contributions) and check that its values allow it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from triattn_core.errors import TraceError, choices
from triattn_core.trace.array_axes import CLOSE, LAYER, sums_to_one
from triattn_core.trace.axes import QUANTITIES, TOKEN_AXES

BELOW = 1e-6  # how far below zero rounding may put a weight


class QuantityError(TraceError):
    """Values whose quantity must be named.  options: those it may be."""

    def __init__(self, text: str, options: Sequence[str] = tuple(QUANTITIES)):
        super().__init__(text)
        self.options = tuple(options)


def distribution_axes(dims: Sequence[str], sums_over: Sequence[str] | None) -> tuple[str, ...]:
    """The axes that a distribution runs over: those named, else key, and context where there is one.  Raises TraceError
    for an axis that none can run over."""
    sum_axes = tuple(sums_over or (axis for axis in TOKEN_AXES[1:] if axis in dims))
    for axis in sum_axes:
        if axis not in dims or axis in (LAYER, "head"):
            axis_names = [axis_name for axis_name in dims if axis_name not in (LAYER, "head")]
            raise TraceError(f"sums over: no axis {axis!r} to sum over here; {choices(axis, axis_names)}")
    return sum_axes


def check_quantity(
    values: np.ndarray, dims: Sequence[str], quantity: str | None, sum_axes: Sequence[str], close: float = CLOSE
) -> tuple[str, list[str]]:
    """The quantity, and notes on the rows, which run over `sum_axes`.  values: rows that hold what is no number aside;
    close: of a row's sum to one.

    Raises TraceError if the values do not allow that quantity, QuantityError if none is named and they are no weights.
    """
    low, high = _extremes(values)
    if np.isposinf(high):
        raise TraceError(f"infinite at {_place(np.isposinf(values), dims)}: every value must be finite")
    axes = tuple(dims.index(axis) for axis in sum_axes)
    if quantity is None:
        if low < -BELOW or not sums_to_one(values, axes, close):
            violations = _describe_violations(values, dims, sum_axes, close)
            raise QuantityError(
                f"what are these numbers, from {low:.3g} to {high:.3g}? {violations}: "
                f"name the quantity, one of {', '.join(QUANTITIES)}"
            )
        quantity = "weight"
    if quantity not in QUANTITIES:
        raise TraceError(f"unknown quantity {quantity!r}; {choices(quantity, QUANTITIES)}")
    _check_range(values, dims, quantity, low, high)
    notes = {
        "weight": lambda: row_notes(values, dims, sum_axes, close),
        "relevance": lambda: _masked_notes(values, axes, sum_axes),
    }
    return quantity, notes.get(quantity, list)()


def _masked_notes(values: np.ndarray, axes: tuple[int, ...], sum_axes: Sequence[str]) -> list[str]:
    """What the weights of relevances are, and how many rows have none, since all of them is masked."""
    notes = [f"Weights are the softmax of the relevance over {' × '.join(sum_axes)}."]
    masked = np.isneginf(values).all(axes)
    if masked.any():
        count = f"{int(masked.sum()):,} of {masked.size:,}"
        notes.append(f"{count} rows have no softmax, since all of their relevances are −inf: their weights are zero.")
    return notes


def _extremes(values: np.ndarray) -> tuple[float, float]:
    """The lowest and the highest number.  Raises TraceError where none is a number."""
    low, high = float(values.min()), float(values.max())  # both are NaN where any is
    if np.isnan(low):
        numbers = values[~np.isnan(values)]
        if not numbers.size:
            raise TraceError("none of its values is a number")
        low, high = float(numbers.min()), float(numbers.max())
    return low, high


def _check_range(values: np.ndarray, dims: Sequence[str], quantity: str, low: float, high: float) -> None:
    if quantity == "weight" and low < -BELOW:
        where = _place(values == low, dims)
        raise TraceError(f"a weight is not negative; there is {low:.3g} at {where}: is it a relevance or contribution?")
    if quantity == "gate" and not -BELOW <= low <= high <= 1 + BELOW:
        raise TraceError(f"a gate is between 0 and 1; these numbers go from {low:.3g} to {high:.3g}")
    if quantity != "relevance" and np.isneginf(low):
        raise TraceError(f"infinite at {_place(np.isneginf(values), dims)}: only a masked relevance may be −inf")


def row_notes(values: np.ndarray, dims: Sequence[str], sum_axes: Sequence[str], close: float = CLOSE) -> list[str]:
    """Sentences on the row sums: whether they are one, the worst of them, and how many rows are zero.  Rows that hold
    what is no number are left out."""
    axes = tuple(dims.index(axis) for axis in sum_axes)
    sums = values.sum(axes, dtype=np.float64)
    nonzero = (sums != 0) & ~np.isnan(sums)
    notes = []
    if nonzero.any():
        deviations = np.where(nonzero, np.abs(sums - 1), -1.0)
        misses, largest = int((deviations > close).sum()), float(deviations.max())
        if misses:
            notes.append(f"{_describe_violations(values, dims, sum_axes, close)}. Nothing is normalised.")
        else:
            rows = "All other rows" if np.isnan(sums).any() else "All rows"
            notes.append(f"{rows} sum to one over {' × '.join(sum_axes)}, within {largest:.1g}.")
    if empty := int((sums == 0).sum()):
        notes.append(f"{empty:,} of {sums.size:,} rows are all zero.")
    return notes


def _describe_violations(values: np.ndarray, dims: Sequence[str], sum_axes: Sequence[str], close: float) -> str:
    """How many rows do not sum to one, the worst of them, and the axes over which the values do sum to one."""
    sums = values.sum(tuple(dims.index(axis) for axis in sum_axes), dtype=np.float64)
    miss = np.where((sums != 0) & ~np.isnan(sums), np.abs(sums - 1), 0.0)
    row_axes, worst = [axis for axis in dims if axis not in sum_axes], np.unravel_index(int(miss.argmax()), miss.shape)
    place = ", ".join(f"{axis} {position}" for axis, position in zip(row_axes, worst)) or "all of it"
    sentence = f"{int((miss > close).sum()):,} of {sums.size:,} rows do not sum to one over {' × '.join(sum_axes)}"
    sentence += f"; the worst, {place} (from 0), sums to {float(sums[worst]):.6g}"
    candidates = [axes for axes in _candidates(dims) if set(axes) != set(sum_axes)]
    if fits := next(
        (axes for axes in candidates if sums_to_one(values, tuple(dims.index(axis) for axis in axes), close)), None
    ):
        sentence += f"; over {' × '.join(fits)} they do"
    return sentence


def _candidates(dims: Sequence[str]) -> list[tuple[str, ...]]:
    """Sets of axes that a softmax may run over."""
    axes_here = [axis for axis in (*TOKEN_AXES[1:], "query") if axis in dims]
    return [axes for count in (1, 2) for axes in combinations(axes_here, count)]


def _place(flags: np.ndarray, dims: Sequence[str]) -> str:
    position = np.unravel_index(int(flags.argmax()), flags.shape)
    return ", ".join(f"{axis} {i}" for axis, i in zip(dims, position)) + " (from 0)"


def softmax(scores: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """exp(s) / Σ exp(s) along axes, in the dtype of the scores; a row of only −inf becomes zeros."""
    top = scores.max(axes, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
    total = powers.sum(axes, keepdims=True, dtype=np.float64)
    return (powers / np.where(total > 0, total, 1.0)).astype(scores.dtype)
