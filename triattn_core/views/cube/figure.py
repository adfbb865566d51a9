"""The cube explorer: three axes as three linked slices through one cell, with an inspector beside them.

The axes are query × key × context, or query × key × feature.

What is sent is one uint8 copy on a stated scale, the exact sums along key and along context, and the tokens.  The exact
number of a chosen cell stays with the trace: `cell.numbers_of`.  An offline file carries the exact numbers as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import shorten
from typing import Any

import numpy as np
import xarray as xr

from triattn_core.trace.aggregation import cell_counts
from triattn_core.trace.axes import QUANTITIES
from triattn_core.trace.axis_labels import describe_axis
from triattn_core.trace.distribution import Distribution
from triattn_core.views.cube.cells import CubeCells, first_cell
from triattn_core.views.cube.marks import slices
from triattn_core.views.cube.numbers import exact_numbers
from triattn_core.views.cube.sentences import caption, describe_bars, describe_cells, describe_hidden
from triattn_core.views.lib.canvas import Canvas, style
from triattn_core.views.lib.cell import axis_check, fold_check, query_matters
from triattn_core.views.lib.figure import Figure, figure_script
from triattn_core.views.lib.readout import Readout
from triattn_core.views.lib.strongest import visible
from triattn_core.views.lib.tokens import cell_axes

SCRIPT = "cube/cube.js"
STYLE = ("lib/map_figure.css", "cube/cube.css")
TITLES = {"context": "Tri-Attention cube", "feature": "The tensor"}
OWN_TITLE = "Attention cube"  # of an array that no model of ours made
STAMPED = ("digest", "head", "sinks")  # with the choice: exact numbers of another figure must not be shown in this one


def figure(
    shown: Distribution,
    hide_special: bool = False,
    exact: bool = True,
    start_cell: Sequence[int] | None = None,
    order: Mapping[str, Sequence[int]] | None = None,
) -> Canvas:
    """The explorer for one site, reduced to query × key × context or query × key × feature.

    shown: a site and what to do with `head` (an index, or the mean), where it has heads.
    hide_special: leave out [CLS] and [SEP], and sinks where they are marked; the mass they hold is stated, and nothing
        is renormalised.
    exact: put the exact numbers into the payload, for a file that stands alone.
    start_cell: the cell that it opens on, as positions in the trace; else the strongest of content words.
    order: positions of an axis in the order in which they stand there.
    Raises TraceError where the choice does not leave these three axes.
    """
    cells = CubeCells.of(shown, hide_special, order or {})
    cell = tuple(start_cell) if start_cell is not None else first_cell(shown.trace.texts, cells)
    trace = shown.trace
    name = TITLES[cells.axes[2]] if "mechanism" in trace.meta else OWN_TITLE
    texts = " / ".join(trace.texts.values()) or str(trace.meta.get("checkpoint", ""))
    against = cells.array.attrs["quantity"] == "weight" and shown.open_cells is not None  # how they are sorted
    place = tuple(cells.places(cell))
    axes = {axis: {**cells.tokens[axis], "ink": axis, "title": cells.roles[axis]} for axis in cells.axes}
    if groups := _groups(cells.tokens[cells.axes[2]]):
        axes[cells.axes[2]]["groups"] = groups
    drawn = Figure(
        title=f"{name}: {shorten(texts, 90, placeholder=' …')}",
        alt=describe_cells(cells.part, cells.strongest, against, cells.roles),
        texts=dict(trace.texts),
        axes=axes,
        counts={},
        cell=place,
        scales={"main": cells.scale},
        panels=slices(shown, cells, place, exact_numbers(shown, cells.positions) if exact else {}),
        readout=Readout("", [], [], [], []),
        walk=[],
        keys=[" in a panel, ", ["[", "]"], f" through its depth. {describe_bars(shown, cells.roles)}"],
        walks="Strongest",
        caption=caption(shown, cells.array),
        mark=_even_mark(shown, cells, against),
        sliced=True,
        inspector=_inspector(shown, cells, hide_special) | {"against": against},
        height=760,
    ).canvas()
    roles = cell_axes(cells.tokens, roles=cells.roles)
    return replace(drawn, script=figure_script(SCRIPT), style=style(*STYLE), axes=roles)


def stamp(shown: Distribution, hide_special: bool) -> str:
    """What tells this figure from others: exact numbers with another stamp are not shown in it."""
    meta = (str(shown.trace.meta.get(name, "")) for name in STAMPED)
    return " ".join((shown.choice.query(), str(hide_special), *meta))


def _inspector(shown: Distribution, cells: CubeCells, hide_special: bool) -> dict[str, Any]:
    """What the script says beside the slices."""
    array, axes, rows = cells.array, cells.axes, cells.strongest
    quantity = array.attrs["quantity"]
    return {
        "stamp": stamp(shown, hide_special),
        "quantity": quantity,
        "scored": shown.relevance is not None,
        "over": list(shown.axes),
        "says": {**{axis: describe_axis(axis, cells.roles[axis]) for axis in axes}, "quantity": QUANTITIES[quantity]},
        **_mass_payload(shown, array),
        "cells": cells.levels.size,
        "pairs": shown.size,
        "triples": {
            "cells": cells.strongest_cells(),
            "value": _finite(rows[quantity]),
            "share": _finite(rows["share"]),
        },
        **_words_payload(shown, cells, hide_special),
        "check": " ".join(filter(None, (check(shown) for check in (fold_check, axis_check, query_matters)))),
        "hidden": describe_hidden(shown, dict(cells.positions)) if hide_special else "",
    }


def _even_mark(shown: Distribution, cells: CubeCells, against: bool) -> str:
    """What stands at the line of an even share."""
    uniform = _uniform(shown)
    if not shown.normalised:
        return f"mean {{={uniform}}}"
    folded = any(count > 1 for axis in cells.tokens.values() for count in axis["cells"])
    return f"{'even share' if folded else 'even, no mask' if against else 'even'} 1/{int(1 / uniform + 0.5):,}"


def _uniform(shown: Distribution) -> float:
    """An even share of the cells that are shown."""
    expected = 1 - shown.empty
    return (shown.mass / expected if expected else 1.0) / shown.size


def _words_payload(shown: Distribution, cells: CubeCells, hide_special: bool) -> dict[str, Any]:
    """The strongest cells without special tokens, and the share of the mass that cells with one hold, where some are
    drawn."""
    rows, quantity = cells.strongest_words, str(cells.array.attrs["quantity"])
    words = {
        "cells": cells.strongest_cells(rows),
        "value": _finite(rows[quantity]),
        "share": _finite(rows["share"]),
    }
    special = 0.0
    if not hide_special and shown.weight is not None:
        special = 1 - float(shown.shares(shown.weight).isel(visible(cells.array, True)).sum())
    return {"words": words, "special": special if special > 1e-6 else 0.0}


def _mass_payload(shown: Distribution, array: xr.DataArray) -> dict[str, Any]:
    """What an even share of the model's cells is, and how many rows hold the mass."""
    mass, rows = shown.mass, shown.count
    cells = float(np.prod([cell_counts(array, axis).sum() for axis in shown.axes]))
    return {
        "even_share": _uniform(shown) * shown.size / cells,
        "rows": (round(rows * mass) if shown.normalised else rows * mass) or 1,
        **({} if shown.normalised else {"unnormalised": True}),
    }


def _groups(tokens: dict[str, list]) -> dict[str, dict[str, str]]:
    """What the groups of an axis without tokens are called, in few letters and in words."""
    groups = filter(None, tokens["text"]) if "flat" in tokens else ()
    return {group: {"short": group.rpartition(" ")[2], "long": group} for group in groups}


def _finite(values) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]
