"""The cube explorer: query × key × context as three linked slices through one cell, with an inspector beside them.

What is sent is one uint8 copy on a stated scale, the exact sums along key and along context, and the tokens.  The exact
number of a chosen cell stays with the trace: `cell.read`.  An offline file carries the exact numbers as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from textwrap import shorten

import numpy as np
import xarray as xr

from triattn_core.axes import AXES, QUANTITIES
from triattn_core.trace import AttentionTrace, Choice, reduce
from triattn_core.views.canvas import Canvas, script
from triattn_core.views.cell import axis_check, fold_check, query_matters
from triattn_core.views.palette import LogScale, SignedScale, centred, pack, scale_payload, theme_payload
from triattn_core.views.strongest import picked, strongest, twin, visible
from triattn_core.views.tokens import cells_of, named, tokens

NEEDS = ("query", "key", "context")
SCRIPTS = ("inspector.js", "cube.js", "explore.js")
TRIPLES = 100  # how many the key "n" walks through; the inspector lists the first of them


def figure(
    trace: AttentionTrace,
    choice: Choice,
    hide_special: bool = False,
    exact: bool = True,
    at: Sequence[int] | None = None,
) -> Canvas:
    """The explorer for one site, reduced to query × key × context.

    choice: a site and what to do with `head` (an index, or the mean).
    hide_special: leave out [CLS] and [SEP]; the mass they hold is stated, and nothing is normalised anew.
    exact: put the exact numbers into the payload, for a file that stands alone.
    at: the cell that it opens on, as positions in the trace; else the strongest.
    Raises TraceError where the choice does not leave these three axes.
    """
    array = picked(trace, choice, NEEDS)
    payload = _payload(trace, choice, array.transpose(*NEEDS), hide_special)
    if at is not None:
        payload["cell"] = list(at)
    if exact:
        payload["exact"] = _exact(trace, choice, hide_special)
    title = "Tri-Attention cube: " + shorten(" / ".join(trace.texts.values()), 90, placeholder=" …")
    return Canvas(payload, script(*SCRIPTS), script("cube.css"), title, payload["alt"], height=760)


def places(canvas: Canvas) -> tuple[list[list[int]], list[int]]:
    """The positions that each axis shows, and the strongest cell, both as positions in the trace."""
    shown = [canvas.payload["axes"][axis]["position"] for axis in NEEDS]
    return shown, [shown[a][i] for a, i in enumerate(canvas.payload["triples"]["cells"][0])]


def _alt(trace: AttentionTrace, array: xr.DataArray) -> str:
    sizes, texts = " × ".join(f"{array.sizes[axis]} {axis}" for axis in NEEDS), " / ".join(trace.texts.values())[:300]
    return (
        f"Three slices of a cube of {array.attrs['quantity']}s, {sizes} tokens, of: {texts}. "
        "Arrow keys move the chosen cell; its numbers follow as text."
    )


def _payload(trace: AttentionTrace, choice: Choice, array: xr.DataArray, hide_special: bool) -> dict:
    quantity, texts = array.attrs["quantity"], dict(trace.texts)
    shown = visible(array, hide_special)
    part = array.isel(shown)
    cells = array.sizes["key"] * array.sizes["context"]
    scale = LogScale.fit(array.values, cells) if quantity == "weight" else SignedScale.of(array.values)
    rows = strongest(trace, choice, TRIPLES, hide_special)
    where = {axis: {int(p): i for i, p in enumerate(shown[axis])} for axis in NEEDS}
    found = [[where[axis][int(row[f"{axis}_at"])] for axis in NEEDS] for _, row in rows.iterrows()]
    along = {axis: _along(trace, choice, array, axis) for axis in NEEDS[1:]}
    along = {axis: one.isel({a: shown[a] for a in one.dims}) for axis, one in along.items()}
    return {
        "stamp": f"{trace.meta.get('digest', '')} {choice.query()} {hide_special}",
        "quantity": quantity,
        "alt": _alt(trace, array),
        "says": {**{axis: AXES[axis] for axis in NEEDS}, "quantity": QUANTITIES[quantity]},
        "texts": texts,
        "names": named(texts),
        "axes": {axis: tokens(array, texts, axis, shown[axis]) for axis in NEEDS},
        "scale": scale_payload(scale),
        "themes": theme_payload(scale.kind),
        "levels": pack(scale.levels(part.values)),
        "sums": {axis: pack(along[axis].values.astype(np.float32)) for axis in along},
        "uniform": 1 / cells,
        "even": 1 / float(np.prod([cells_of(array, axis).sum() for axis in NEEDS[1:]])),
        "queries": array.sizes["query"],
        "cells": part.size,
        "pairs": cells,
        "triples": {"cells": found, "value": _finite(rows[quantity]), "share": _finite(rows["share"])},
        "check": " ".join(filter(None, (check(trace, choice) for check in (fold_check, axis_check, query_matters)))),
        "hidden": _hidden(trace, choice, shown) if part.size < array.size else "",
        "caption": _caption(trace, choice, array),
    }


def _along(trace: AttentionTrace, choice: Choice, array: xr.DataArray, axis: str) -> xr.DataArray:
    """Weights summed over an axis; relevances joined by log-sum-exp and centred again, so that bars have a zero.

    Each head is joined before the heads are averaged: its own softmax is what the join stands for.
    """
    if array.attrs["quantity"] == "weight":
        return reduce(array, axis, "sum")
    return centred(trace.pick(replace(choice, reduce=((axis, "logsumexp"), *choice.reduce))))


def _hidden(trace: AttentionTrace, choice: Choice, shown: dict[str, np.ndarray]) -> str:
    weight = twin(trace, choice, "weight")
    if weight is None:
        return "Special tokens are hidden."
    share = 1 - float(weight.isel(shown).sum()) / weight.sizes["query"]
    return f"Special tokens are hidden: they hold {100 * share:.3g} % of the mass. Sums still count them."


def _caption(trace: AttentionTrace, choice: Choice, array: xr.DataArray) -> str:
    layer, direction, quantity = (choice.site.split("/") + ["", ""])[:3]
    number = layer.removeprefix("layer.")
    layer = f"layer {int(number) + 1}" if number.isdigit() else layer
    heads = [f"head {i + 1}" for axis, i in choice.index if axis == "head"]
    heads += [f"{how} of heads" for axis, how in choice.reduce if axis == "head"]
    told = f"{axis} folded to {array.sizes[axis]}" if (axis := array.attrs.get("folded")) in array.dims else ""
    parts = [str(trace.meta.get("checkpoint", "")), layer, direction.replace("_", " "), *heads, quantity, told]
    return ", ".join(filter(None, parts))


def _exact(trace: AttentionTrace, choice: Choice, hide_special: bool) -> dict[str, str]:
    """Packed float32 of the shown cells: weights, raw and centred relevances, ranks among all pairs of the query."""
    array = picked(trace, choice).transpose(*NEEDS)
    shown = visible(array, hide_special)
    rows = array.values.reshape(array.sizes["query"], -1)
    above = [row.size - np.searchsorted(np.sort(row), row, side="right") for row in rows]
    ranks = 1 + np.array(above, np.float32).reshape(array.shape)
    found = {"rank": pack(array.copy(data=ranks).isel(shown).values)}
    for quantity in ("weight", "relevance"):
        array = twin(trace, choice, quantity)
        if array is not None:
            array = array.transpose(*NEEDS)
            shown = visible(array, hide_special)
            found["raw" if quantity == "relevance" else quantity] = pack(array.isel(shown).values.astype(np.float32))
            if quantity == "relevance":
                found["relevance"] = pack(centred(array).isel(shown).values.astype(np.float32))
    return found


def _finite(values) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]
