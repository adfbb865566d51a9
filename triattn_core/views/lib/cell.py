"""Exact numbers: of one cell, and of what a whole site sums to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from types import MappingProxyType

import numpy as np
import xarray as xr

from triattn_core.trace.aggregation import cell_counts, mean_mass
from triattn_core.trace.array_rows import NOT_NUMBERS
from triattn_core.trace.axes import further_axes
from triattn_core.trace.axis_labels import axis_labels
from triattn_core.trace.distribution import Distribution
from triattn_core.trace.information import query_information
from triattn_core.trace.relevance import centred
from triattn_core.views.lib.strongest import shown_array

LITTLE = 0.05  # bits: below, a map's rows look alike


def numbers_of(shown: Distribution, cell: dict[str, int]) -> dict[str, float | int]:
    """The numbers of one cell, from the exact arrays.

    weight; share of the whole mass; `against` = weight over what it were if all cells of the model, of which a folded
    one joins several, had the same, without those that a mask leaves out; relevance centred per distribution, and `raw`
    as scored; rank among them by what is shown, `of` how many.  Of a cell that a mask leaves out rank and relevance
    are no numbers.
    Raises TraceError or IndexError where the cell is outside.
    """
    # Head and centring work distribution by distribution: that of the cell is all that is needed.
    axes, choice = shown.axes, shown.choice
    fixed = {axis: position for axis, position in cell.items() if axis not in axes}
    counts = {axis: cell_counts(shown.array, axis) for axis in fixed}
    part = float(np.prod([count[fixed[axis]] / count.sum() for axis, count in counts.items()]))
    filled, mass = 1 - shown.empty, shown.mass  # masked rows hold no mass
    part /= mass or 1.0
    in_row = {axis: position for axis, position in cell.items() if axis in axes}
    one = Distribution(shown.trace, replace(choice, index=(*choice.index, *fixed.items())))
    row, weight, relevance = shown_array(one), one.weight, one.relevance
    masked = one.masked is not None and bool(one.masked.isel(in_row))
    facts: dict[str, float | int] = {"rank": nan if masked else int((row.values > float(row.isel(in_row))).sum()) + 1}
    open_ = 1.0 if one.masked is None else float((~one.masked).mean()) or 1.0  # a mask that leaves none has no part
    facts["of"] = round(row.size * open_)
    if weight is not None:
        facts["weight"] = float(weight.isel(in_row))
        facts["share"] = facts["weight"] * part
        facts["against"] = facts["weight"] / even(row, in_row) * open_ * ((filled / mass) if mass else 1.0)
    if relevance is not None:
        facts["relevance"] = nan if masked else float(centred(relevance, axes).isel(in_row))
        facts["raw"] = float(relevance.isel(in_row))
    return facts


def even(row: xr.DataArray, position: dict[str, int]) -> float:
    """The weight of a cell of one distribution where attention is even over what the model sees."""
    cells = {axis: cell_counts(row, axis) for axis in position}
    return float(np.prod([count[position[axis]] / count.sum() for axis, count in cells.items()]))


def axis_check(shown: Distribution) -> str:
    """One sentence: over which axes the array sums to one, and by how much the exact numbers miss it."""
    array, weight, axes = shown.array, shown.weight, shown.axes
    called = axis_labels(shown.trace)
    each = " and ".join(called[str(axis)] for axis in array.dims if axis not in axes) or "row"
    over = " × ".join(called[axis] for axis in axes)
    if array.attrs["quantity"] == "weight":
        sums = array.sum(axes).values.ravel()
        held = sums[sums != 0]
        empty, sentence = sums.size - held.size, ""  # a mask left nothing to attend to
        if held.size:
            worst = float(held[np.abs(held - 1).argmax()])
            if shown.sliced:
                whole = " × ".join(called[axis] for axis in (*axes, *shown.sliced))
                return f"A slice: a {each}'s weights sum to 1 over {whole}; this one holds {100 * shown.mass:.3g} %."
            if abs(worst - 1) > 1e-4:
                return f"Axis check failed: a {each}'s weights sum to {worst:.6f} over {over}, not to 1."
            sentence = f"Axis check: weights sum to {worst:.6f} over {over}, for each {each}"
        why = "held what is not a number" if NOT_NUMBERS in array.attrs else "are left nothing to attend to"
        nothing = f"{empty:,} of {sums.size:,} rows {why}: their weights are zeros"
        return "; ".join(filter(None, (sentence, nothing if empty else ""))) + "."
    if shown.sliced:
        return "A slice: the softmax of relevance runs over more than it shows."
    if weight is None:
        return "Axis check: relevance is a score before the softmax, with no fixed sum."
    if any(axis == "head" for axis, _ in shown.choice.reduce):
        return "Mean of the heads' scores: its softmax is not the mean of their weights. Choose one head to check it."
    top = array.max(axes)
    scores: xr.DataArray = xr.apply_ufunc(np.exp, array - top.where(np.isfinite(top), 0.0))
    totals = scores.sum(axes)
    miss = float(np.abs(scores / totals.where(totals > 0, 1.0) - weight).max())
    verdict = "Axis check" if miss < 1e-4 else "Axis check failed"
    return f"{verdict}: the softmax of relevance over {over} repeats the weights within {miss:.0e}."


def fold_check(shown: Distribution) -> str:
    """One sentence: what folding did to the array, with the mass before and after; empty where nothing is folded."""
    return describe_aggregation(shown.array, shown.axes, axis_labels(shown.trace))


def describe_aggregation(
    array: xr.DataArray, over: Sequence[str] = ("key",), roles: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The same of an array whose distributions run over some axes."""
    axes = [axis for axis in array.attrs.get("folded", "").split(",") if axis in array.dims]
    if not axes:
        return ""
    axes = [axis for axis in axes if cell_counts(array, axis).max() > 1]
    if not axes:
        return "Nothing is joined: each group is one cell of the model."
    called = {axis: roles.get(axis, axis) for axis in ("query", *axes)}
    parts = [
        f"{called[axis]} is folded from {cell_counts(array, axis).sum()} cells to {array.sizes[axis]}" for axis in axes
    ]
    rows = [axis for axis in axes if axis not in over]
    over_rows = f", over {' and '.join(called[axis] for axis in rows)} averaged" if rows else ""
    reduction = "averaged" if rows == axes else f"summed{over_rows}"
    sentence = f"{', '.join(parts).capitalize()}: "
    if array.attrs["quantity"] == "relevance":
        return sentence + f"relevances are joined so that their softmax is the weight {reduction} (log-sum-exp)."
    return (
        sentence
        + f"weights are {reduction}, mass before {array.attrs['mass_before']:.6f} and after {mean_mass(array):.6f}."
    )


def query_matters(shown: Distribution) -> str:
    """One sentence: whether the rows differ at all, over keys alone, which is the query information of a head, and over
    all that they share out; empty where the trace has no weights, or rows for each feature."""
    weight = shown.weight
    if weight is None or weight.sizes["query"] < 2 or "feature" in weight.dims:
        return ""
    keys = weight.sum([axis for axis in weight.dims if axis not in ("query", "key")])
    key_bits, all_bits = (
        float(query_information(array.transpose("query", ...).values.reshape(array.sizes["query"], -1)))
        for array in (keys, weight)
    )
    verdict = ": the query hardly matters here" if all_bits < LITTLE else ""
    called = axis_labels(shown.trace)
    who = "Queries" if called["query"] == "query" else f"Rows of {called['query']}"
    others = "keys" if called["key"] == "key" else called["key"]
    further, together = further_axes(weight.dims), ""
    if further:
        apart = " and ".join(called[axis] for axis in further if axis not in shown.axes)
        over = " and ".join(called[axis] for axis in ("key", *further) if axis in shown.axes)
        together = f", {f'within a {apart}' if apart else f'over {over} together'} {all_bits:.3g}"
    return (
        f"{who} differ from their average by {key_bits:.3g} bits over {others} (query information){together}{verdict}."
    )
