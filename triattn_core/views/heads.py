"""Heads of MTSA: token2token maps of one text on one scale, governors down and dependents across, with source2token
beside them (Figure 3 of "Tensorized Self-Attention"); and, drawn alike, the maps that stand for clusters of features.

The governor is the query, the dependent the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.axes import AXES, QUANTITIES
from triattn_core.errors import InputError, TraceError
from triattn_core.folding import EVEN, even
from triattn_core.trace import AttentionTrace
from triattn_core.views.canvas import Canvas, script
from triattn_core.views.cell import folded
from triattn_core.views.palette import LogScale, Scale, SignedScale, centred, pack, scale_payload, theme_payload
from triattn_core.views.strongest import labels
from triattn_core.views.terms import SCALED
from triattn_core.views.tokens import named, tokens

NEEDS = ("head", "query", "key")
MOST = 160  # tokens of a text whose maps are drawn
NAMED = 3  # queries that are left nothing to attend to; of more the count is said
SCRIPTS = ("heads.js", "heads_table.js", "side_by_side.js")
SCALES = {
    "weight": "weight, log scale, one for all",
    "relevance": "relevance as its softmax takes it, centred over keys, one for all",
}
LOOKS = {
    "forward": "looks at earlier tokens",
    "backward": "looks at later tokens",
    "distance": "looks at all others, less at far ones",
    "none": "looks at all tokens",
}


@dataclass(frozen=True)
class Map:
    """One map.  drawn, weights: [query, key].  even: the same, the weights if attention were even over what a mask
    leaves; 0 where it leaves a pair out.

    scores: [query, key] as they are, None where there are none.  source: [key, feature], what stands beside the map, as
    it is drawn; None where there is nothing.  source_weights, source_scores: the same as weights, and as scores.
    """

    title: str
    note: str
    drawn: xr.DataArray = field(repr=False)
    weights: xr.DataArray = field(repr=False)
    even: xr.DataArray = field(repr=False)
    scores: xr.DataArray | None = field(default=None, repr=False)
    source: xr.DataArray | None = field(default=None, repr=False)
    source_weights: xr.DataArray | None = field(default=None, repr=False)
    source_scores: xr.DataArray | None = field(default=None, repr=False)

    @property
    def masked(self) -> np.ndarray:
        """[query, key]: True where a mask leaves a pair out."""
        return self.even.values == 0


def groups(trace: AttentionTrace) -> dict[str, list[int]]:
    """The heads (from 0) under each mask: {"forward": [0, 1], "backward": [2, 3]}.  Raises TraceError: not of MTSA."""
    masks = str(trace.meta.get("masks", ""))
    if not masks:
        raise TraceError("this trace is not one of MTSA: no masks are recorded with it")
    found: dict[str, list[int]] = {}
    for head, name in enumerate(masks.split(",")):
        found.setdefault(name, []).append(head)
    return found


def beside(trace: AttentionTrace, number: int) -> list[int]:
    """The heads that stand side by side as number `number` (from 0): one of each mask."""
    return [heads[min(number, len(heads) - 1)] for heads in groups(trace).values()]


def looks(mask: str) -> str:
    """What a mask lets a token attend to, in words."""
    kind, _, reach = mask.partition(":")
    return LOOKS.get(mask) or (f"looks {reach} tokens to either side" if kind == "window" else mask.replace(":", " "))


def maps(trace: AttentionTrace, layer: str, heads: Sequence[int], quantity: str = "weight") -> list[Map]:
    """The maps of some heads (from 0) of a layer such as `layer.0` or `premise/layer.0`; of a trace that is read in
    words or phrases the weights alone.

    Raises TraceError where the trace has no such head, InputError where the text has too many tokens to be drawn.
    """
    pairs = trace.site(f"{layer}/token2token/{quantity}")
    weights, alone = (trace.site(f"{layer}/{one}/weight") for one in ("token2token", "source2token"))
    scores, own = (trace.sites.get(f"{layer}/{one}/relevance") for one in ("token2token", "source2token"))
    shares = trace.sites.get(f"{layer}/{EVEN}")
    shares = even(trace.site(f"{layer}/mask/contribution")) if shares is None else shares
    n, masks = weights.sizes["query"], str(trace.meta.get("masks", "")).split(",")
    if n > MOST:
        raise InputError(f"Maps of {n:,} tokens are not drawn, at most of {MOST}: shorten the text.")
    found, outside = [], trace.sites.get(f"{layer}/mask/contribution")
    for head in heads:
        if not 0 <= head < len(masks):
            raise TraceError(f"there is no head {head + 1}: {layer} has {len(masks)}")
        share, drawn, source = (one.isel(head=head) for one in (shares, pairs, alone))
        of_source = (source, None if own is None else own.isel(head=head))
        raw = None if scores is None else scores.isel(head=head).where(share > 0, -np.inf)
        if quantity == "relevance":
            drawn, source = _scaled(raw, trace, "scale_t"), centred(_scaled(of_source[1], trace, "scale_s"))
            drawn = centred(drawn.copy(data=drawn.values + outside.isel(head=head).where(share > 0, 0.0).values))
        title = f"Head {head + 1}, {masks[head].replace(':', ' ')}"
        found.append(Map(title, looks(masks[head]), drawn, weights.isel(head=head), share, raw, source, *of_source))
    return found


def _scaled(scores: xr.DataArray, trace: AttentionTrace, scale: str) -> xr.DataArray:
    """Of scores R or S what is exponentiated (Eq. 10): of the log sigmoid two equal differences are not alike."""
    return scores.copy(data=SCALED[str(trace.meta.get(scale, "identity"))](scores.values))


def prototypes(
    tensor: AttentionTrace, layer: str, of: Sequence[int], means: np.ndarray, typical: Sequence[int]
) -> list[Map]:
    """A map for each cluster of the features of a tensor (`analysis.tensor`, `analysis.clusters`): the mean of theirs.

    of: the cluster of each feature, from 0.  means: [cluster, query, key].  typical: of each cluster its feature.
    """
    outside = tensor.site(f"{layer}/tensor/mask/contribution")
    share, found = even(outside), []
    for i, values in enumerate(means):
        size = list(of).count(i)
        note = f"{size} features, like {typical[i] + 1}" if size > 1 else f"feature {typical[i] + 1}"
        weights = outside.copy(data=values).assign_attrs(quantity="weight", sums_over="key")
        found.append(Map(f"Cluster {i + 1}", note, weights, weights, share))
    return found


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
) -> Canvas:
    """The canvas of one or more maps of the same tokens.

    orders: of each map the positions of its features as they stand, where source2token is drawn token × feature;
    without it each map has the means over features as a strip below.  cell: (query, key, map, place in its order) that
    is chosen at first.
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
        "cell": list(cell or first_cell(found, orders)),
        "alt": alt(found, texts),
        "notes": folded(found[0].weights),
    }
    title = "MTSA: " + shorten(" / ".join(texts.values()), 90, placeholder=" …")
    return Canvas(payload, script(*SCRIPTS), script("side_by_side.css"), title, payload["alt"])


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
        who = f"{len(rows)} of {len(words)}" if len(rows) > NAMED else _listed([f"“{words[i]}”" for i in rows])
        are = "" if told else f" {'is' if len(rows) == 1 else 'are'} left nothing to attend to"
        kind, numbers = names[0].split()[0], [name.split()[-1] for name in names]
        where = f"{kind}{'s' * (len(names) > 1)} {_listed(numbers)}" if len(names) < len(found) else "every map"
        told.append(f"in {where} {who}{are}")
    if not told:
        return ""
    said = told[0].removeprefix("in every map ") if len(found) == 1 else "In" + told[0].removeprefix("in")
    return f" {', '.join([said, *told[1:]])}."


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def table(trace: AttentionTrace, layer: str) -> pd.DataFrame:
    """Every pair of every head as a row, for CSV: tokens and their positions, weight, and the score as it is; empty
    where a mask leaves the pair out."""
    found = maps(trace, layer, range(len(str(trace.meta["masks"]).split(","))))
    return rows(found, trace.texts, [{"head": head + 1} for head in range(len(found))])


def rows(found: Sequence[Map], texts: Mapping[str, str], told: Sequence[Mapping]) -> pd.DataFrame:
    """The pairs of some maps as rows, each with what is told of its map."""
    at = np.indices(found[0].weights.shape).reshape(2, -1)
    columns: dict = {}
    for axis, where in zip(("query", "key"), at):
        names = np.array(labels(found[0].weights, dict(texts), axis), object)
        columns |= {axis: names[where], f"{axis}_at": where}
        if f"{axis}_cells" in found[0].weights.coords:
            columns[f"{axis}_tokens"] = found[0].weights[f"{axis}_tokens"].values[where]
    parts = []
    for one, more in zip(found, told):
        numbers = {"weight": one.weights.values.ravel()}
        if one.scores is not None:
            scores = one.scores.values.ravel()
            numbers["score"] = np.where(np.isfinite(scores), scores, np.nan)
        parts.append(pd.DataFrame({**more, **columns, **numbers}))
    return pd.concat(parts, ignore_index=True)
