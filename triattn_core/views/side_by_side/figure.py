"""Two to four maps on one scale, and the difference of any two: of query × key under several mechanisms, or of
query × context with several options of one example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from triattn_core.errors import TraceError
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.figure import Figure, Grid, strongest_cells
from triattn_core.views.lib.tokens import tokens
from triattn_core.views.side_by_side.described import gap_panel, map_panel
from triattn_core.views.side_by_side.panels import Gap, Panel, panel_titles
from triattn_core.views.side_by_side.readout import readout
from triattn_core.views.side_by_side.scales import Difference, scale_of
from triattn_core.views.side_by_side.sentences import alt, scale_lines

NEEDS = ("query", "key")
FEWEST, MOST = 2, 4


def figure(
    panels: Sequence[Panel],
    gap: Gap | None,
    texts: Mapping[str, str],
    cell: tuple[int, int],
    caption: str = "",
    across: str = "key",
    lines: Sequence[str] | None = None,
    distinguished_by: str = "mechanism",
    notes: str = "",
    roles: Mapping[str, str] | None = None,
) -> Canvas:
    """The canvas of two to four panels with the same tokens.

    `cell` is the (query, key) that is chosen at first; `caption` stands under what is saved.  `across`: what the maps'
    second axis, named key, really is (see `text_units.exchange_key_context`).  `lines`: what is said of the scale.
    `distinguished_by`: what tells the maps apart.  `notes`: what was folded, and what is hidden.  `roles`: the labels
    of both axes, where these have labels of their own.  NaN is what an input does not have, drawn as a gap. Raises
    TraceError for another number of panels.
    """
    if not FEWEST <= len(panels) <= MOST:
        raise TraceError(f"{FEWEST} to {MOST} maps stand side by side, got {len(panels)}")
    scale, names, quantity = scale_of(panels), panel_titles(panels), panels[0].map_values.attrs["quantity"]
    roles = roles or {"query": "query", "key": across}
    difference = None if gap is None else Difference.of(gap, names, quantity)
    axes = _axes(panels, texts)
    inks = {"query": "query", "key": across}
    maps = [
        map_panel(panel, name, i, scale, axes["key"]["cells"]) for i, (panel, name) in enumerate(zip(panels, names))
    ]
    gaps = [gap_panel(gap, difference, names, panels)] if gap and difference else []
    return Figure(
        title="Side by side: " + ", ".join(names),
        alt=alt(panels, gap, dict(texts), roles),
        texts=texts,
        axes={name: axis | {"ink": inks[name]} for name, axis in axes.items()},
        counts={},
        cell=cell,
        scales={"main": scale, **({"difference": difference.scale} if difference else {})},
        panels=[*maps, *gaps],
        readout=readout(panels, gap, names, quantity, roles, across, distinguished_by),
        walk=strongest_cells(_sizes(panels, difference)),
        keys=": the same cell is chosen in all maps. Numbers in bits and ranks are taken from weights.",
        walks="Where the two differ most" if gap else "The largest weights",
        grid=Grid((9, 9), 150, finest=4, widest=360, cell=(64, 220), row=(7, 26, 312), labels=(20, 96), gutter=20),
        caption=caption,
        notes=notes,
        scale_lines=list(lines) if lines is not None else scale_lines(panels, quantity),
    ).canvas()


def _sizes(panels: Sequence[Panel], difference: Difference | None) -> np.ndarray:
    """[query, key]: by what cells are gone through: the difference, that which seeds do not explain first; without one
    the largest weight."""
    if difference is None:
        return np.fmax.reduce([panel.weights.values for panel in panels])
    within = 1.0 if difference.within is None else ~difference.within
    return np.abs(difference.values.values) + 1e3 * within


def _axes(panels: Sequence[Panel], texts: Mapping[str, str]) -> dict[str, dict[str, list]]:
    first = panels[0].map_values
    axes = {axis: tokens(first, dict(texts), axis, np.arange(first.sizes[axis])) for axis in NEEDS}
    return {axis: _twins(panels, axis, values) for axis, values in axes.items()}


def _twins(panels: Sequence[Panel], axis: str, tokens: dict[str, list]) -> dict[str, list]:
    """Tokens of two inputs: what only one of them has is marked − or +, and `also` is the span of what both have in the
    second.  Those of one input as they are."""
    first = panels[0].map_values
    if f"{axis}_twin_start" not in first.coords:
        return tokens
    ends = zip(*(first[f"{axis}_twin_{edge}"].values.tolist() for edge in ("start", "end")))
    present = ~np.isnan(panels[0].weights.values).all(axis=1 - NEEDS.index(axis))
    also = [None if end[0] < 0 else list(end) for end in ends]
    signs = ["" if shared else "−" if is_first else "+" for shared, is_first in zip(also, present)]
    return tokens | {"also": also, "label": [sign + label for sign, label in zip(signs, tokens["label"])]}
