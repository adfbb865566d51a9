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
import pandas as pd

from triattn_core.trace.axes import QUANTITIES
from triattn_core.trace.axis_labels import describe_axis
from triattn_core.trace.distribution import Distribution
from triattn_core.views.cube.cell_readout import readout
from triattn_core.views.cube.cells import CubeCells, first_cell
from triattn_core.views.cube.marks import slices
from triattn_core.views.cube.numbers import exact_numbers, uniform
from triattn_core.views.cube.sentences import FEW, caption, describe_bars, describe_cells, describe_hidden
from triattn_core.views.lib.canvas import Canvas, style
from triattn_core.views.lib.cell import axis_check, fold_check, query_matters
from triattn_core.views.lib.figure import Figure
from triattn_core.views.lib.strongest import visible
from triattn_core.views.lib.tokens import cell_axes

STYLE = ("lib/map_figure.css", "cube/cube.css")
TITLES = {"context": "Tri-Attention cube", "feature": "The tensor"}
OWN_TITLE = "Attention cube"  # of an array that no model of ours made
STAMPED = ("digest", "head", "sinks")  # with the choice: exact numbers of another figure must not be shown in this one

MEASURES = {  # the size of a cell in the list
    "against": ("Strongest against an even share", "× even", "The weight over an even share", "times", {"times": "of"}),
    "share": ("Strongest triples", "share", "Share of all mass", "percent", {"over": "rows"}),
    "value": ("Highest relevance", "relevance", "relevance", "number", {}),
}


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
    drawn = Figure(
        title=f"{name}: {shorten(texts, 90, placeholder=' …')}",
        alt=describe_cells(cells.part, cells.strongest, against, cells.roles),
        texts=dict(trace.texts),
        axes={axis: _axis(cells, axis) for axis in cells.axes},
        counts={},
        cell=place,
        scales={"main": cells.scale},
        panels=slices(shown, cells, place, exact_numbers(shown, cells.positions) if exact else {}),
        readout=readout(shown, cells),
        walk=[],
        keys=[" in a panel, ", ["[", "]"], f" through its depth. {describe_bars(shown, cells.roles)}"],
        walks="Strongest",
        caption=caption(shown, cells.array),
        mark=_even_mark(shown, cells, against),
        sliced=True,
        inspector=_inspector(shown, cells, hide_special, against),
        height=760,
    ).canvas()
    return replace(drawn, style=style(*STYLE), axes=cell_axes(cells.tokens, roles=cells.roles))


def stamp(shown: Distribution, hide_special: bool) -> str:
    """What tells this figure from others: exact numbers with another stamp are not shown in it."""
    meta = (str(shown.trace.meta.get(name, "")) for name in STAMPED)
    return " ".join((shown.choice.query(), str(hide_special), *meta))


def _inspector(shown: Distribution, cells: CubeCells, hide_special: bool, against: bool) -> dict[str, Any]:
    """What stands beside the slices; see `figure.schema.json`."""
    axes, quantity = cells.axes, cells.array.attrs["quantity"]
    *measure, by = MEASURES["against" if against else "share" if quantity == "weight" else "value"]
    return {
        "stamp": stamp(shown, hide_special),
        "quantity": quantity,
        "unit": "weight" if quantity == "weight" else "relevance, centred",
        "says": {**{axis: describe_axis(axis, cells.roles[axis]) for axis in axes}, "quantity": QUANTITIES[quantity]},
        "cells": cells.levels.size,
        "measure": {**dict(zip(("title", "unit", "help", "format"), measure)), **by},
        "triples": _listed(cells, cells.strongest),
        "words": _listed(cells, cells.strongest_words),
        "special": 0.0 if hide_special else _special(shown, cells),
        "check": " ".join(filter(None, (check(shown) for check in (fold_check, axis_check, query_matters)))),
        "hidden": describe_hidden(shown, dict(cells.positions)) if hide_special else "",
    }


def _even_mark(shown: Distribution, cells: CubeCells, against: bool) -> str:
    """What stands at the line of an even share."""
    share = uniform(shown)
    if not shown.normalised:
        return f"mean {{={share}}}"
    return f"{'even share' if cells.joins else 'even, no mask' if against else 'even'} 1/{int(1 / share + 0.5):,}"


def _listed(cells: CubeCells, rows: pd.DataFrame) -> dict[str, Any]:
    """Some of the strongest cells, and what the first of them hold of the mass."""
    values, shares = rows[str(cells.array.attrs["quantity"])], rows["share"].head(FEW)
    held = float(shares.sum()) if np.isfinite(shares).all() else None
    return {"cells": cells.strongest_cells(rows), "value": _finite(values), "held": held}


def _special(shown: Distribution, cells: CubeCells) -> float:
    """The share of the mass that cells with a special token hold."""
    if shown.weight is None:
        return 0.0
    special = 1 - float(shown.shares(shown.weight).isel(visible(cells.array, True)).sum())
    return special if special > 1e-6 else 0.0


def _axis(cells: CubeCells, axis: str) -> dict[str, Any]:
    """Its tokens; of one without, what its groups are called, in few letters and in words."""
    tokens = {**cells.tokens[axis], "ink": axis, "title": cells.roles[axis]}
    groups = filter(None, tokens["text"]) if "flat" in tokens else ()
    named = {group: {"short": group.rpartition(" ")[2], "long": group} for group in groups}
    return tokens | ({"groups": named} if named else {})


def _finite(values) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]
