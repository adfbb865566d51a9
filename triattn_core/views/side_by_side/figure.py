"""Two to four maps on one scale, and the difference of any two: of query × key under several mechanisms, or of
query × context with several options of one example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.trace.axes import QUANTITIES
from triattn_core.views.lib.canvas import Canvas, script, style
from triattn_core.views.lib.palette import pack, scale_payload
from triattn_core.views.lib.payload import map_payload
from triattn_core.views.lib.tokens import cell_axes, tokens
from triattn_core.views.side_by_side.marks import marks, share
from triattn_core.views.side_by_side.panels import HIDDEN, Gap, Panel, forms, panel_titles
from triattn_core.views.side_by_side.scales import NOTHING, Difference, key_count, scale_of
from triattn_core.views.side_by_side.sentences import alt, scale_lines

NEEDS = ("query", "key")
FEWEST, MOST = 2, 4
NOTES = {
    "weight": {
        "bi": "two-way",
        "bi_joint": "its keys alone",
        "cbi": "context added",
        "tri": "three-way, Σ context",
        "coin": "own context added",
        "multi_head": "the other text alone",
    },
    "relevance": {
        "bi": "two-way",
        "bi_joint": "its keys alone",
        "cbi": "context added",
        "tri": "three-way, joined",
        "coin": "own context added",
    },
}
SCRIPT = "side_by_side/side_by_side.js"
STYLE = ("lib/map_figure.css", "lib/linked_maps.css")


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
    levels = [scale.levels(panel.map_values.values) for panel in panels]
    difference = None if gap is None else Difference.of(gap, names, quantity)
    axes = _axes(panels, texts)
    payload = map_payload(texts, axes, cell, caption) | {
        "quantity": quantity,
        "says": QUANTITIES,
        "panels": [_panel(*parts, quantity) for parts in zip(panels, names, levels)],
        "scale": scale_payload(scale),
        "across": across,
        "roles": dict(roles),
        "what": distinguished_by,
        "lines": list(lines) if lines is not None else scale_lines(panels, quantity),
        "gap": _gap(gap, difference, names, panels) if gap and difference else None,
        "hidden": panels[0].weights.attrs.get(HIDDEN, NOTHING)["key"],
        "notes": notes,
        "alt": alt(panels, gap, dict(texts), roles),
    }
    return Canvas(
        payload,
        script(SCRIPT),
        style(*STYLE),
        "Side by side: " + ", ".join(names),
        payload["alt"],
        caption=caption,
        texts=dict(texts),
        cell=cell,
        axes=cell_axes(axes),
        maps=marks(panels, levels, scale, difference, axes, cell),
    )


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


def _panel(panel: Panel, title: str, levels: np.ndarray, quantity: str) -> dict:
    payload = {"label": panel.label, "probability": panel.probability, "right": panel.right, "score": panel.score}
    rows = {"weights": pack(panel.weights.values.astype(np.float32)), "ranks": pack(panel.rank.astype(np.uint8))}
    named = {
        "title": title,
        "name": panel.name,
        "mechanism": panel.mechanism,
        "note": NOTES[quantity].get(panel.mechanism, "") if panel.note is None else panel.note,
    }
    bits = _numbers(panel.entropy, 6)
    return {
        **named,
        **payload,
        **rows,
        "entropy": bits,
        "share": share(panel),
        **_values(panel.map_values, levels),
    }


def _numbers(values: np.ndarray, digits: int) -> list[float | None]:
    """Rounded; None for what is not there."""
    return [None if np.isnan(value) else round(float(value), digits) for value in values]


def _values(array: xr.DataArray, levels: np.ndarray) -> dict:
    return {"levels": pack(levels), "values": pack(array.values.astype(np.float32))}


def _gap(gap: Gap, difference: Difference, names: Sequence[str], panels: Sequence[Panel]) -> dict:
    short = forms(names[gap.left], names[gap.right])
    optional = {}
    if gap.overlap is not None:
        a, b = ((~np.isnan(panels[i].weights.values)).any(axis=0) for i in (gap.left, gap.right))
        hidden_keys = key_count(panels[0].weights) - len(a)  # keys that are hidden are among the strongest too
        a, b, both = a.sum() + hidden_keys, b.sum() + hidden_keys, (a & b).sum() + hidden_keys
        chance = gap.top**2 * both / max(1, a * b)  # each of k keys stands in the other's k of b
        optional = {"overlap": _numbers(gap.overlap, 0), "top": gap.top, "chance": round(float(chance), 4)}
    if difference.within is not None:
        optional["within"] = pack(difference.within.astype(np.uint8))
    return {
        **optional,
        "title": difference.title,
        "lines": [f"teal: {short[0]} is higher", f"brown, −: {short[1]} is higher", *filter(None, [gap.noisy])],
        "divergence_lines": ["Jensen–Shannon", "of weights, bits"],
        "divergence": _numbers(gap.divergence, 7),
        "scale": scale_payload(difference.scale),
        **_values(difference.values, difference.levels),
    }
