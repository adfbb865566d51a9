"""Folding: cells of an axis joined into groups, so that no mass is lost and what sums to one still does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.trace.axes import COORDINATES

EVEN = "even/weight"  # of a layer with a mask: its weights if attention were even over what the mask leaves


def logsumexp(array: xr.DataArray, axis: str | Sequence[str]) -> xr.DataArray:
    """Log-sum-exp over axes: the softmax of the result is the sum of the softmax."""
    top = array.max(axis)
    safe = top.where(np.isfinite(top), 0.0)
    with np.errstate(divide="ignore"):  # log 0 = -inf is right where all of it is masked
        return np.log(np.exp(array - safe).sum(axis)) + safe


def fold(
    array: xr.DataArray,
    axis: str,
    groups: Sequence[str],
    over: Sequence[str] = (),
    labelled: bool = True,
    texts: Mapping[str, str] | None = None,
) -> xr.DataArray:
    """Cells of an axis joined into groups, such as tokens into turns; `groups` names the group of each position.

    Weights and contributions are summed; relevances are joined by log-sum-exp: the softmax of the result is the summed
    weight.  An axis that distributions do not run over, such as the query's, holds distributions: of weights their mean
    is taken, each row counting for as many cells as it joins already, and of relevances the logarithm of that mean, so
    that its softmax is the mean weight.
    over: the axes that a distribution runs over, where `sums_over` does not say.
    labelled: a group is called by its name; else by the characters that it was cut from, which `texts` has by the name
    of their text.

    Groups stand where their first cell stood; what a group is called is `<axis>_label`, how many cells it joins
    `<axis>_cells`, and text, span and number of tokens are those of all its cells.  `folded` in the attrs names the
    folded axes, and of weights `mass_before` is the mean mass of a distribution before.

    Raises TraceError for a gate, which has no sum, and where there is not a name for each position.
    """
    quantity, size = array.attrs["quantity"], array.sizes[axis]
    if quantity == "gate":
        raise TraceError(f"a gate cannot be folded over {axis}: it is no share of anything")
    if len(groups) != size:
        raise TraceError(f"{len(groups)} names for the {size} positions of {axis}")
    names = list(dict.fromkeys(groups))
    index = np.array([names.index(name) for name in groups])
    over = [one for one in (array.attrs.get("sums_over", "").split(",")) if one] or list(over)
    rows = quantity in ("weight", "relevance") and bool(over) and axis not in over
    folded = (_average_groups if rows else _sum_groups)(array, axis, index, over)
    coords = {name: one for name, one in array.coords.items() if axis not in one.dims}
    coords |= _group_coords(array, axis, names, index, labelled, texts or {})
    before = array.attrs.get("folded", "").split(",")
    attrs = {**array.attrs, "folded": ",".join(dict.fromkeys(filter(None, [*before, axis])))}
    if quantity == "weight":
        attrs.setdefault("mass_before", mean_mass(array))
    return xr.DataArray(folded.astype(array.dtype), coords, array.dims, attrs=attrs)


def cell_counts(array: xr.DataArray, axis: str) -> np.ndarray:
    """How many cells of the model each position of an axis joins: 1 where the axis is not folded."""
    name = f"{axis}_cells"
    return array[name].values if name in array.coords else np.ones(array.sizes[axis], int)


def mean_mass(weights: xr.DataArray) -> float:
    """The mean mass of a distribution of the model: 1 where `sums_over` says the truth."""
    over = [axis for axis in weights.attrs.get("sums_over", "").split(",") if axis in weights.dims]
    rows = weights.sum(over, dtype=np.float64)
    for axis in map(str, rows.dims):
        cells = cell_counts(weights, axis)
        rows = (rows * xr.DataArray(cells / cells.sum(), dims=axis)).sum(axis)
    return float(rows)


def even_weights(mask: xr.DataArray) -> xr.DataArray:
    """[..., key]: the weights if attention were even over the keys that a mask leaves; zeros where it leaves none."""
    left = np.isfinite(mask)
    shares = left / left.sum("key").clip(min=1)
    return shares.transpose(*mask.dims).assign_attrs(quantity="weight", sums_over="key")


def continues_word(array: xr.DataArray, axis: str) -> list[bool]:
    """Which tokens are word pieces that continue the word before them."""
    if f"{axis}_token" not in array.coords:
        return [False] * array.sizes[axis]
    token, text, start, end = (array[f"{axis}_{name}"].values.tolist() for name in ("token", "text", "start", "end"))
    follows = [False] + [text[i - 1] == text[i] and end[i - 1] == start[i] for i in range(1, len(token))]
    return [after and piece.startswith("##") for after, piece in zip(follows, token)]


def _sum_groups(array: xr.DataArray, axis: str, index: np.ndarray, over: Sequence[str]) -> np.ndarray:
    """Each group's cells added up: relevances by log-sum-exp."""
    order, at = np.argsort(index, kind="stable"), array.get_axis_num(axis)
    starts = np.searchsorted(index[order], np.arange(index.max() + 1))
    values = np.take(array.values, order, at).astype(np.float64)
    if array.attrs["quantity"] != "relevance":
        return np.add.reduceat(values, starts, at)
    top = np.maximum.reduceat(values, starts, at)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):  # log 0 = -inf is right where a group is masked
        powers = np.exp(values - np.repeat(safe, np.bincount(index), at))
        return np.log(np.add.reduceat(powers, starts, at)) + safe


def _average_groups(array: xr.DataArray, axis: str, index: np.ndarray, over: Sequence[str]) -> np.ndarray:
    """Each group's distributions averaged; of relevances the logarithm of the mean of their softmax."""
    counts = cell_counts(array, axis)
    part = xr.DataArray(counts / np.bincount(index, counts)[index], dims=axis)
    values = array.astype(np.float64)
    if array.attrs["quantity"] == "weight":
        return _sum_groups((values * part).transpose(*array.dims).assign_attrs(array.attrs), axis, index, over)
    whole = logsumexp(values, [one for one in over if one in array.dims])
    values = values - whole.where(np.isfinite(whole), 0.0) + np.log(part)
    return _sum_groups(values.transpose(*array.dims).assign_attrs(array.attrs), axis, index, over)


def _group_coords(
    array: xr.DataArray,
    axis: str,
    names: Sequence[str],
    index: np.ndarray,
    labelled: bool,
    texts: Mapping[str, str],
) -> dict:
    """The coords of a folded axis: a span where a group is of one text, no text where it is of several."""
    told = {name: array[f"{axis}_{name}"].values for name in COORDINATES if f"{axis}_{name}" in array.coords}
    rows = []
    for i, name in enumerate(names):
        some = {what: values[index == i].tolist() for what, values in told.items()}
        count, whole = int((index == i).sum()), len(set(some["text"])) == 1
        row = {
            "token": name if labelled else some["token"][0],
            "text": some["text"][0] if whole else "",
            "start": min(some["start"]) if whole else 0,
            "end": max(some["end"]) if whole else 0,
            "special": min(some["special"]),
            "segment": some["segment"][0] if len(set(some.get("segment", ()))) == 1 else "",
            "tokens": sum(some.get("tokens", [count])),
            "cells": sum(some.get("cells", [count])),
        }
        if not labelled:  # "unhappy", not its first piece
            row["token"] = texts.get(row["text"], "")[row["start"] : row["end"]] or row["token"]
        rows.append({**row, "label": name} if labelled else row)
    return {f"{axis}_{what}": (axis, [row[what] for row in rows]) for what in rows[0]}
