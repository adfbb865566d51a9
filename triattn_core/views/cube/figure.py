"""The cube explorer: three axes as three linked slices through one cell, with an inspector beside them.

The axes are query × key × context, or query × key × feature.

What is sent is one uint8 copy on a stated scale, the exact sums along key and along context, and the tokens.  The exact
number of a chosen cell stays with the trace: `cell.read`.  An offline file carries the exact numbers as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import shorten

import numpy as np
import xarray as xr

from triattn_core.trace import AttentionTrace, Choice, reduce
from triattn_core.trace.aggregation import cell_counts
from triattn_core.trace.axes import QUANTITIES
from triattn_core.trace.axis_labels import axis_labels, describe_axis
from triattn_core.views.cube.sentences import caption, describe_cells, describe_hidden
from triattn_core.views.lib.canvas import Canvas, script, style
from triattn_core.views.lib.cell import axis_check, fold_check, query_matters
from triattn_core.views.lib.content_words import content_words
from triattn_core.views.lib.palette import LogScale, SignedScale, centred, pack, scale_payload, theme_payload
from triattn_core.views.lib.strongest import (
    distribution_axes,
    distributions,
    empty_share,
    opened,
    other_quantity,
    select_array,
    strongest,
    visible,
)
from triattn_core.views.lib.tokens import named, tokens

NEEDS = ("query", "key", "context")
SCRIPT = "cube/cube.js"
STYLE = ("lib/map_figure.css", "cube/cube.css")
TITLES = {"context": "Tri-Attention cube", "feature": "The tensor"}
OWN_TITLE = "Attention cube"  # of an array that no model of ours made
STAMPED = ("digest", "head", "sinks")  # with the choice: exact numbers of another figure must not be shown in this one
TRIPLES = 100  # how many the key "n" walks through; the inspector lists the first of them


def figure(
    trace: AttentionTrace,
    choice: Choice,
    hide_special: bool = False,
    exact: bool = True,
    at: Sequence[int] | None = None,
    order: Mapping[str, Sequence[int]] | None = None,
) -> Canvas:
    """The explorer for one site, reduced to query × key × context or query × key × feature.

    choice: a site and what to do with `head` (an index, or the mean), where it has heads.
    hide_special: leave out [CLS] and [SEP], and sinks where they are marked; the mass they hold is stated, and nothing
        is renormalised.
    exact: put the exact numbers into the payload, for a file that stands alone.
    at: the cell that it opens on, as positions in the trace; else the strongest of content words.
    order: positions of an axis in the order in which they stand there.
    Raises TraceError where the choice does not leave these three axes.
    """
    array = select_array(trace, choice)
    axes = axes_of(array)
    array = select_array(trace, choice, axes).transpose(*axes)
    shown = visible(array, hide_special) | {axis: np.array(positions) for axis, positions in (order or {}).items()}
    payload = _payload(trace, choice, array, shown, hide_special)
    payload["cell"] = list(at) if at is not None else _first_cell(trace, array, payload)
    if exact:
        payload["exact"] = _exact(trace, choice, shown)
    name = TITLES[axes[2]] if "mechanism" in trace.meta else OWN_TITLE
    texts = " / ".join(trace.texts.values()) or str(trace.meta.get("checkpoint", ""))
    title = f"{name}: {shorten(texts, 90, placeholder=' …')}"
    return Canvas(payload, script(SCRIPT), style(*STYLE), title, payload["alt"], height=760, kind="cube")


def places(canvas: Canvas) -> tuple[list[list[int]], list[int]]:
    """The positions that each axis shows, and the cell that the figure opens on, both as positions in the trace."""
    return [canvas.payload["axes"][axis]["position"] for axis in canvas.payload["order"]], canvas.payload["cell"]


def _first_cell(trace: AttentionTrace, array: xr.DataArray, payload: dict) -> list[int]:
    """The first of the listed cells that is of content words, else the largest of all that are shown."""
    order = payload["order"]
    carries = [content_words(array, dict(trace.texts), axis) for axis in order]
    shown = [np.array(payload["axes"][axis]["position"]) for axis in order]
    for cell in payload["triples"]["cells"]:
        at = [int(positions[i]) for positions, i in zip(shown, cell)]
        if all(which[i] for which, i in zip(carries, at)):
            return at
    content = [positions[which[positions]] for positions, which in zip(shown, carries)]
    content = [inside if len(inside) else positions for inside, positions in zip(content, shown)]
    values = array.transpose(*order).values[np.ix_(*content)]
    largest = np.unravel_index(np.argmax(np.where(np.isfinite(values), values, -np.inf)), values.shape)
    return [int(inside[i]) for inside, i in zip(content, largest)]


def axes_of(array: xr.DataArray) -> tuple[str, str, str]:
    """The three axes that an array is explored along."""
    return ("query", "key", "feature" if "feature" in array.dims else "context")


def _payload(
    trace: AttentionTrace, choice: Choice, array: xr.DataArray, shown: dict[str, np.ndarray], hide_special: bool
) -> dict:
    quantity, texts, axes = array.attrs["quantity"], dict(trace.texts), tuple(map(str, array.dims))
    part, along_axes = array.isel(shown), distribution_axes(trace, choice)
    cells = int(np.prod([array.sizes[axis] for axis in along_axes]))
    scale = LogScale.fit(array.values, cells) if quantity == "weight" else SignedScale.of(array.values)
    rows = strongest(trace, choice, TRIPLES, hide_special)
    against = quantity == "weight" and opened(trace, choice) is not None  # how they are sorted
    where = {axis: {int(p): i for i, p in enumerate(shown[axis])} for axis in axes}
    cells_at = [[where[axis][int(row[f"{axis}_at"])] for axis in axes] for _, row in rows.iterrows()]
    along = {axis: _along(trace, choice, array, axis) for axis in axes[1:] if axes[2] == "context" or axis == axes[2]}
    along = {axis: values.isel({a: shown[str(a)] for a in values.dims}) for axis, values in along.items()}
    labelled, roles = {axis: tokens(array, texts, axis, shown[axis]) for axis in axes}, axis_labels(trace)
    return {
        "stamp": " ".join((choice.query(), str(hide_special), *(str(trace.meta.get(name, "")) for name in STAMPED))),
        "quantity": quantity,
        "scored": other_quantity(trace, choice, "relevance") is not None,
        "order": list(axes),
        "roles": {axis: roles[axis] for axis in axes},
        "over": along_axes,
        "alt": describe_cells(part, rows, against, roles),
        "says": {**{axis: describe_axis(axis, roles[axis]) for axis in axes}, "quantity": QUANTITIES[quantity]},
        "texts": texts,
        "names": named(texts) | _groups(labelled[axes[2]]),
        "axes": labelled,
        "scale": scale_payload(scale),
        "themes": theme_payload(scale.kind),
        "levels": pack(scale.levels(part.values)),
        "sums": {axis: pack(along[axis].values.astype(np.float32)) for axis in along},
        "masked": _masked(trace, choice, shown),
        "uniform": 1 / cells,
        "even": 1 / float(np.prod([cell_counts(array, axis).sum() for axis in along_axes])),
        "rows": round(distributions(array, along_axes) * (1 - empty_share(trace, choice))) or 1,
        "cells": part.size,
        "pairs": cells,
        "triples": {"cells": cells_at, "value": _finite(rows[quantity]), "share": _finite(rows["share"])},
        "against": against,
        "check": " ".join(filter(None, (check(trace, choice) for check in (fold_check, axis_check, query_matters)))),
        "hidden": describe_hidden(trace, choice, shown) if hide_special else "",
        "caption": caption(trace, choice, array),
    }


def _groups(tokens: dict[str, list]) -> dict[str, dict[str, str]]:
    """What the groups of an axis without tokens are called, in few letters and in words."""
    groups = filter(None, tokens["text"]) if "flat" in tokens else ()
    return {group: {"short": group.rpartition(" ")[2], "long": group} for group in groups}


def _masked(trace: AttentionTrace, choice: Choice, shown: dict[str, np.ndarray]) -> str:
    """Packed [query, key]: 1 where a mask leaves a pair out; empty where there is none."""
    scores = other_quantity(trace, choice, "relevance")
    if scores is None or "context" in scores.dims:
        return ""
    out = np.isneginf(scores.transpose("query", "key", ...).values[..., 0])
    return pack(out[np.ix_(shown["query"], shown["key"])].astype(np.uint8)) if out.any() else ""


def _along(trace: AttentionTrace, choice: Choice, array: xr.DataArray, axis: str) -> xr.DataArray:
    """Weights summed over an axis; relevances joined by log-sum-exp and centred again, so that bars have a zero; over
    features the mean of either, since each feature has distributions of its own.

    Each head is joined before the heads are averaged: its own softmax is what the join stands for.
    """
    if axis == "feature":
        return reduce(array.where(np.isfinite(array), 0.0), axis, "mean")
    if array.attrs["quantity"] == "weight":
        return reduce(array, axis, "sum")
    return centred(trace.pick(replace(choice, reduce=((axis, "logsumexp"), *choice.reduce))))


def _exact(trace: AttentionTrace, choice: Choice, shown: dict[str, np.ndarray]) -> dict[str, str]:
    """Packed float32 of the shown cells: weights, raw and centred relevances, ranks in each distribution."""
    array = select_array(trace, choice)
    axes, along = axes_of(array), distribution_axes(trace, choice)
    lines = array.transpose(*[axis for axis in axes if axis not in along], *along)
    rows = lines.values.reshape(-1, int(np.prod([array.sizes[axis] for axis in along])))
    above = [row.size - np.searchsorted(np.sort(row), row, side="right") for row in rows]
    ranks = lines.copy(data=1 + np.array(above, np.float32).reshape(lines.shape))
    packed = {"rank": pack(ranks.transpose(*axes).isel(shown).values)}
    for quantity in ("weight", "relevance"):
        other = other_quantity(trace, choice, quantity)
        if other is not None:
            array = other.transpose(*axes)
            packed["raw" if quantity == "relevance" else quantity] = pack(array.isel(shown).values.astype(np.float32))
            if quantity == "relevance":
                packed["relevance"] = pack(centred(array).isel(shown).values.astype(np.float32))
    return packed


def _finite(values) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]
