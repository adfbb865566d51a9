"""Fold an axis: join its cells into groups so that total mass is kept and distributions still sum to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.trace.axes import COORDINATES, further_axes

MASK = "mask"  # role of the mask of a layer, recorded as a contribution
EVEN = "even"  # role of a masked layer: even attention over the keys that the mask keeps

BESIDE = "keys_beside"  # in the attrs of a part of the keys: how many more are in the same softmax


def logsumexp(array: xr.DataArray, axis: str | Sequence[str]) -> xr.DataArray:
    """Log-sum-exp over axes: the softmax of the result is the sum of the softmax."""
    top = array.max(axis)
    offset = top.where(np.isfinite(top), 0.0)
    with np.errstate(divide="ignore"):  # log 0 = -inf is right where all of it is masked
        return np.log(xr.ufuncs.exp(array - offset).sum(axis)) + offset


def fold(
    array: xr.DataArray,
    axis: str,
    groups: Sequence[str],
    sum_axes: Sequence[str] = (),
    labelled: bool = True,
    texts: Mapping[str, str] | None = None,
) -> xr.DataArray:
    """Join the cells of an axis into groups, such as tokens into turns.

    Weights and contributions are summed; relevances are joined by log-sum-exp, so that the softmax of the result is the
    summed weight.  Along an axis that `sums_over` does not name, such as the query axis, whole distributions are
    averaged: weights by their mean, in which a row counts as often as the cells that it already joins, relevances by
    the logarithm of that mean, so that their softmax is the mean weight.

    groups: the group name of each position.
    sum_axes: the axes that a distribution runs over, where `sums_over` does not say.
    labelled: the token of a group is its name; otherwise the characters that it covers in `texts` (text by name).

    Groups keep the order of their first cells.  `<axis>_label` is the name of a group, `<axis>_cells` the number of
    cells it joins; text, span and number of tokens cover all of its cells.  The attr `folded` names the folded axes;
    for weights, `mass_before` is the mean mass of a distribution before folding.

    Raises TraceError for a gate, which cannot be summed, and if `groups` does not have one name per position.
    """
    quantity, size = array.attrs["quantity"], array.sizes[axis]
    if quantity == "gate":
        raise TraceError(f"a gate cannot be grouped over {axis}: it is not a share")
    if len(groups) != size:
        raise TraceError(f"{len(groups)} names for the {size} positions of {axis}")
    names = list(dict.fromkeys(groups))
    index = np.array([names.index(name) for name in groups])
    sum_axes = distribution_axes(array) or list(sum_axes)
    rows = quantity in ("weight", "relevance") and bool(sum_axes) and axis not in sum_axes
    values = (_average_groups if rows else _sum_groups)(array, axis, index, sum_axes)
    coords = {name: coord for name, coord in array.coords.items() if axis not in coord.dims}
    coords |= _group_coords(array, axis, names, index, labelled, texts or {})
    before = array.attrs.get("folded", "").split(",")
    attrs = {**array.attrs, "folded": ",".join(dict.fromkeys(filter(None, [*before, axis])))}
    if quantity == "weight":
        attrs.setdefault("mass_before", mean_mass(array))
    return xr.DataArray(values.astype(array.dtype), coords, array.dims, attrs=attrs)


def without_axis(
    array: xr.DataArray, axis: str, sum_axes: Sequence[str] = (), dtype: type | None = None
) -> xr.DataArray:
    """The array without an axis, all of it joined as `fold` joins a group: weights are summed and relevances joined by
    log-sum-exp, or, where no distribution runs over the axis, whole distributions are averaged.

    sum_axes: the axes that a distribution runs over, where `sums_over` does not say; without either, all of them.
    dtype: of sums and means; by default that of the array.
    """
    sum_axes = distribution_axes(array) or list(sum_axes)
    if not sum_axes or axis in sum_axes:
        if array.attrs["quantity"] == "relevance":
            return logsumexp(array, axis).assign_attrs(array.attrs)
        joined = array.sum(axis, keep_attrs=True, dtype=dtype)
        return joined.assign_attrs(sums_over=",".join(name for name in sum_axes if name != axis))
    values = _average_groups(array, axis, np.zeros(array.sizes[axis], int), sum_axes)
    first = array.isel({axis: 0}, drop=True)
    return first.copy(data=values.take(0, array.get_axis_num(axis)).astype(dtype or array.dtype))


def without_axes(
    array: xr.DataArray, sum_axes: Sequence[str] = (), keep: Sequence[str] = (), dtype: type | None = None
) -> xr.DataArray:
    """`without_axis` for each axis beside heads, queries, keys, features, and those to keep."""
    for axis in further_axes(array.dims):
        array = array if axis in keep else without_axis(array, axis, sum_axes, dtype)
    return array


def with_attrs(array: xr.DataArray, **attrs: str) -> xr.DataArray:
    """The array with these attributes and no others.  Its coordinates, which have none, stay the same objects: xarray
    takes 13 ms to build those of a map anew."""
    return array.drop_attrs(deep=False).assign_attrs(attrs)


def cell_counts(array: xr.DataArray, axis: str) -> np.ndarray:
    """The number of model cells that each position of an axis joins: 1 if the axis is not folded."""
    name = f"{axis}_cells"
    return array[name].values if name in array.coords else np.ones(array.sizes[axis], int)


def distribution_axes(array: xr.DataArray) -> list[str]:
    """The axes that its distributions run over: `sums_over`, or `runs_over` where a sentinel has the rest."""
    sum_axes = list(filter(None, array.attrs.get("sums_over", "").split(",")))
    return sum_axes or [axis for axis in array.attrs.get("runs_over", "").split(",") if axis in array.dims]


def mean_mass(weights: xr.DataArray) -> float:
    """The mean mass of a distribution of the model: 1 if the weights do sum to one over `sums_over`."""
    sum_axes = [axis for axis in distribution_axes(weights) if axis in weights.dims]
    totals = weights.sum(sum_axes, dtype=np.float64)
    for axis in map(str, totals.dims):
        cells = cell_counts(weights, axis)
        totals = (totals * xr.DataArray(cells / cells.sum(), dims=axis)).sum(axis)
    return float(totals)


def even_weights(mask: xr.DataArray) -> xr.DataArray:
    """[..., key]: even weights over the keys that a mask keeps; zeros in rows where it keeps none."""
    kept_keys = xr.ufuncs.isfinite(mask)
    shares = kept_keys / kept_keys.sum("key").clip(min=1)
    return shares.transpose(*mask.dims).assign_attrs(quantity="weight", sums_over="key")


def continues_word(array: xr.DataArray, axis: str) -> list[bool]:
    """Which tokens are word pieces that continue the word before them."""
    if f"{axis}_token" not in array.coords:
        return [False] * array.sizes[axis]
    if f"{axis}_word" in array.coords:
        word = array[f"{axis}_word"].values.tolist()
        return [i > 0 and word[i] == word[i - 1] >= 0 for i in range(len(word))]
    token, text, start, end = (array[f"{axis}_{name}"].values.tolist() for name in ("token", "text", "start", "end"))
    follows = [False] + [text[i - 1] == text[i] and end[i - 1] == start[i] for i in range(1, len(token))]
    return [adjacent and piece.startswith("##") for adjacent, piece in zip(follows, token)]


def _sum_groups(array: xr.DataArray, axis: str, index: np.ndarray, sum_axes: Sequence[str]) -> np.ndarray:
    """Sum the cells of each group; relevances by log-sum-exp."""
    order, dim = np.argsort(index, kind="stable"), array.get_axis_num(axis)
    starts = np.searchsorted(index[order], np.arange(index.max() + 1))
    values = np.take(array.values, order, dim).astype(np.float64)
    if array.attrs["quantity"] != "relevance":
        return np.add.reduceat(values, starts, dim)
    top = np.maximum.reduceat(values, starts, dim)
    offset = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):  # log 0 = -inf is right where a group is masked
        powers = np.exp(values - np.repeat(offset, np.bincount(index), dim))
        return np.log(np.add.reduceat(powers, starts, dim)) + offset


def _average_groups(array: xr.DataArray, axis: str, index: np.ndarray, sum_axes: Sequence[str]) -> np.ndarray:
    """Average the distributions of each group; of relevances, the logarithm of the mean of their softmax."""
    counts = cell_counts(array, axis)
    part = xr.DataArray(counts / np.bincount(index, counts)[index], dims=axis)
    values = array.astype(np.float64)
    if array.attrs["quantity"] == "weight":
        return _sum_groups((values * part).transpose(*array.dims).assign_attrs(array.attrs), axis, index, sum_axes)
    log_total = logsumexp(values, [name for name in sum_axes if name in array.dims])
    values = values - log_total.where(np.isfinite(log_total), 0.0) + np.log(part)
    return _sum_groups(values.transpose(*array.dims).assign_attrs(array.attrs), axis, index, sum_axes)


def _group_coords(
    array: xr.DataArray,
    axis: str,
    names: Sequence[str],
    index: np.ndarray,
    labelled: bool,
    texts: Mapping[str, str],
) -> dict:
    """The coords of a folded axis; a group that spans several texts has no text and an empty span."""
    fields = {name: array[f"{axis}_{name}"].values for name in COORDINATES if f"{axis}_{name}" in array.coords}
    rows = []
    for i, name in enumerate(names):
        members = {field: values[index == i].tolist() for field, values in fields.items()}
        count, one_text = int((index == i).sum()), len(set(members["text"])) == 1
        row = {
            "token": name if labelled else members["token"][0],
            "text": members["text"][0] if one_text else "",
            "start": min(members["start"]) if one_text else 0,
            "end": max(members["end"]) if one_text else 0,
            "special": min(members["special"]),
            "segment": members["segment"][0] if len(set(members.get("segment", ()))) == 1 else "",
            "tokens": sum(members.get("tokens", [count])),
            "cells": sum(members.get("cells", [count])),
        }
        if not labelled:  # "unhappy", not its first piece
            covered = texts.get(row["text"], "")[row["start"] : row["end"]]
            row["token"] = covered if covered.strip() else row["token"]
        rows.append({**row, "label": name} if labelled else row)
    return {f"{axis}_{field}": (axis, [row[field] for row in rows]) for field in rows[0]}
