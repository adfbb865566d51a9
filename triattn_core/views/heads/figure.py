"""The maps of `head_maps` as a figure: on one scale, side by side or as one grid, and what they show in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import shorten

import numpy as np
import xarray as xr

from triattn_core.trace.axes import AXES, QUANTITIES
from triattn_core.trace.listing import listing
from triattn_core.views.heads.maps import Map
from triattn_core.views.lib.canvas import Canvas, script, style
from triattn_core.views.lib.cell import folded
from triattn_core.views.lib.palette import LogScale, Scale, SignedScale, pack, scale_payload, theme_payload
from triattn_core.views.lib.strongest import labels
from triattn_core.views.lib.tokens import named, tokens

NEEDS = ("head", "query", "key")
NAMED = 3  # queries that are left nothing to attend to; of more the count is said
SCRIPT = "heads/heads.js"
STYLE = ("lib/map_figure.css", "lib/linked_maps.css")
SCALES = {
    "weight": "weight, log scale, one for all",
    "relevance": "relevance as its softmax takes it, centred over keys, one for all",
}


def scale_of(found: Sequence[Map]) -> Scale:
    """One scale for all maps and for what stands beside them; masked cells have no part in it."""
    parts = [one.values[np.isfinite(one.values)] for m in found for one in (m.drawn, m.source) if one is not None]
    values = np.concatenate(parts)
    quantity = found[0].drawn.attrs["quantity"]
    if quantity == "weight":
        values = values[values > 0] if (values > 0).any() else values
        return LogScale.fit(values, found[0].drawn.sizes["key"])
    return SignedScale.of(values)


def figure(
    found: Sequence[Map],
    texts: Mapping[str, str],
    orders: Sequence[Sequence[int]] | None = None,
    caption: str = "",
    cell: Sequence[int] | None = None,
    what: str = "MTSA",
    roles: tuple[str, str] = ("governor", "dependent"),
    large: bool = False,
) -> Canvas:
    """The canvas of one or more maps of the same tokens.

    orders: of each map the positions of its features as they stand, where source2token is drawn token × feature;
    without it each map has the means over features as a strip below.  cell: (query, key, map, place in its order) that
    is chosen at first.  what: the title's first word.  roles: what tokens down and across are called.
    large: maps without source2token take the room that there is.
    """
    first, scale = found[0].drawn, scale_of(found)
    quantity = first.attrs["quantity"]
    payload = {
        "quantity": quantity,
        "says": QUANTITIES | AXES,
        "texts": dict(texts),
        "names": named(texts),
        "themes": theme_payload("log", "signed"),
        "scale": {**scale_payload(scale), "title": SCALES[quantity]},
        "axes": {axis: tokens(first, dict(texts), axis, np.arange(first.sizes[axis])) for axis in ("query", "key")},
        "panels": [_panel(one, scale, order) for one, order in zip(found, orders or [None] * len(found))],
        "caption": caption,
        "roles": list(roles),
        "large": large,
        "cell": list(cell or first_cell(found, orders)),
        "alt": alt(found, texts),
        "notes": folded(found[0].weights),
    }
    title = f"{what}: " + shorten(" / ".join(texts.values()), 90, placeholder=" …")
    return Canvas(payload, script(SCRIPT), style(*STYLE), title, payload["alt"], kind="heads")


def _panel(one: Map, scale: Scale, order: Sequence[int] | None) -> dict:
    told = {"title": one.title, "note": one.note, "levels": pack(scale.levels(one.drawn.values))}
    told |= {"weights": _floats(one.weights), "values": _floats(one.drawn)}
    told["masked"] = pack(one.masked.astype(np.uint8)) if one.masked.any() else ""
    told["even"] = _floats(one.even) if "folded" in one.weights.attrs else ""
    told["scores"] = _floats(one.scores) if one.scores is not None else ""
    told["order"] = list(map(int, order)) if order is not None else None
    if one.source is not None:
        told |= {"mean": _floats(mean := one.source.mean("feature")), "mean_levels": pack(scale.levels(mean.values))}
        if order is not None:
            source = _ordered(one.source, order)
            told |= {"source": _floats(source), "source_levels": pack(scale.levels(source.values))}
        for name, own in (("weights", one.source_weights), ("scores", one.source_scores)):
            if own is not None and own is not one.source:
                told[f"mean_{name}"] = _floats(own.mean("feature"))
                told[f"source_{name}"] = _floats(_ordered(own, order)) if order is not None else ""
    return told


def _ordered(source: xr.DataArray, order: Sequence[int]) -> xr.DataArray:
    return source.transpose("key", "feature").isel(feature=list(order))


def _floats(array: xr.DataArray) -> str:
    return pack(array.values.astype(np.float32))


def first_cell(found: Sequence[Map], orders: Sequence[Sequence[int]] | None = None) -> tuple[int, int, int, int]:
    """Where to look first: the pair that holds most against what an even share of its row would; and, as a place in
    the order of its map, the feature that its key has most of."""
    shares = np.stack([one.weights.values / np.where(one.masked, np.inf, one.even.values) for one in found])
    panel, query, key = np.unravel_index(shares.argmax(), shares.shape)
    if orders is None:
        return int(query), int(key), int(panel), 0
    source = found[panel].source.transpose("key", "feature").values[key]
    return int(query), int(key), int(panel), int(source[list(orders[panel])].argmax())


def alt(found: Sequence[Map], texts: Mapping[str, str]) -> str:
    """What the figure shows in words: its maps, the pair that holds most against an even share, and empty rows; where
    all rows are, that nothing may be attended to."""
    query, key, panel, _ = first_cell(found)
    words, one = [labels(found[0].drawn, dict(texts), axis) for axis in ("query", "key")], found[panel]
    governor, dependent = (some[i] for some, i in zip(words, (query, key)))
    weight, share = (float(some.values[query, key]) for some in (one.weights, one.even))
    times = weight / share if share else 0.0
    sizes, names = found[0].drawn.sizes, "; ".join(one.title for one in found)
    what = "groups of tokens" if "folded" in one.weights.attrs else "tokens"
    shown = f"Maps of {sizes['query']} by {sizes['key']} {what}: {names}."
    if all(one.masked.all() for one in found):
        return f"{shown} Nothing may be attended to: every row is zeros."
    most = f"“{governor}” gives {100 * weight:.3g} % to “{dependent}”, × {times:.3g} ({one.title.lower()})"
    return f"{shown} Most against an even share: {most}.{_empty(found, words[0])}"


def _empty(found: Sequence[Map], words: Sequence[str]) -> str:
    """A sentence that begins with a space: which queries are left nothing to attend to, and in which maps."""
    maps: dict[tuple[int, ...], list[str]] = {}
    for one in found:
        rows = np.flatnonzero(one.weights.sum("key").values == 0)
        if len(rows):
            maps.setdefault(tuple(map(int, rows)), []).append(one.title.split(",")[0].lower())
    told = []
    for rows, names in maps.items():
        who = f"{len(rows)} of {len(words)}" if len(rows) > NAMED else listing([f"“{words[i]}”" for i in rows])
        are = "" if told else f" {'is' if len(rows) == 1 else 'are'} left nothing to attend to"
        kind, numbers = names[0].split()[0], [name.split()[-1] for name in names]
        where = f"{kind}{'s' * (len(names) > 1)} {listing(numbers)}" if len(names) < len(found) else "every map"
        told.append(f"in {where} {who}{are}")
    if not told:
        return ""
    said = told[0].removeprefix("in every map ") if len(found) == 1 else "In" + told[0].removeprefix("in")
    return f" {', '.join([said, *told[1:]])}."
