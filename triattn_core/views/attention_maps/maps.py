"""Heads of MTSA as maps of one text: governors (queries) down and dependents (keys) across, with source2token beside
them (Figure 3 of "Tensorized Self-Attention"); and, in the same form, maps that stand for clusters of features, and the
heads of plain attention, `layer.0/weight`, of a text over itself or over another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.errors import InputError, TraceError
from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import EVEN, MASK, cell_counts, even_weights
from triattn_core.trace.relevance import centred
from triattn_core.trace.site import Site
from triattn_core.views.attention_maps.terms import SCALED
from triattn_core.views.lib.strongest import labels

ANY = Site()  # of MTSA all layers have the same masks
MOST = 160  # tokens of a text whose maps are drawn
LOOKS = {  # short: a narrow map cuts what is longer
    "forward": "earlier tokens",
    "backward": "later tokens",
    "distance": "all others, far ones less",
    "none": "all tokens",
}


@dataclass(frozen=True)
class Map:
    """One map.  map_values, weights: [query, key]; of a signed map both are its numbers.  even: the same, the weights
    if attention were even over what a mask leaves; 0 where it leaves a pair out.

    scores: [query, key] as they are, None where there are none.  source: [key, feature], what stands beside the map, as
    it is drawn; None where there is nothing.  source_weights, source_scores: the same as weights, and as scores.
    """

    title: str
    note: str
    map_values: xr.DataArray = field(repr=False)
    weights: xr.DataArray = field(repr=False)
    even: xr.DataArray = field(repr=False)
    scores: xr.DataArray | None = field(default=None, repr=False)
    source: xr.DataArray | None = field(default=None, repr=False)
    source_weights: xr.DataArray | None = field(default=None, repr=False)
    source_scores: xr.DataArray | None = field(default=None, repr=False)

    @property
    def signed(self) -> bool:
        """Whether its numbers are no weights but signed ones, by which values are multiplied."""
        return self.weights.attrs["quantity"] == "contribution"

    @property
    def sizes(self) -> np.ndarray:
        """[query, key]: its weights, or how large its signed numbers are."""
        return np.abs(self.weights.values) if self.signed else self.weights.values

    @property
    def masked(self) -> np.ndarray:
        """[query, key]: True where a mask leaves a pair out."""
        return self.even.values == 0


def is_plain(trace: AttentionTrace, layer: Site) -> bool:
    """Whether a layer's attention is plain: weights alone, without source2token and masks of heads."""
    return layer.with_quantity("weight") in trace.sites


def pair_site(trace: AttentionTrace, layer: Site, quantity: str) -> Site:
    """The site of what a layer's queries give its keys."""
    return (layer if is_plain(trace, layer) else layer / "token2token").with_quantity(quantity)


def head_masks(trace: AttentionTrace, layer: Site = ANY) -> list[str]:
    """The mask of each head of a layer, empty for plain attention.  Raises TraceError: not of MTSA."""
    if is_plain(trace, layer):
        return [""] * trace.site(layer.with_quantity("weight")).sizes["head"]
    masks = str(trace.meta.get("masks", ""))
    if not masks:
        raise TraceError("this trace is not one of MTSA: no masks are recorded with it")
    return masks.split(",")


def groups(trace: AttentionTrace, layer: Site = ANY) -> dict[str, list[int]]:
    """The heads (from 0) under each mask: {"forward": [0, 1], "backward": [2, 3]}.  Raises TraceError: not of MTSA."""
    by_mask: dict[str, list[int]] = {}
    for head, name in enumerate(head_masks(trace, layer)):
        by_mask.setdefault(name, []).append(head)
    return by_mask


def one_head_per_mask(trace: AttentionTrace, number: int, layer: Site = ANY) -> list[int]:
    """The heads that stand side by side as number `number` (from 0): one of each mask."""
    return [heads[min(number, len(heads) - 1)] for heads in groups(trace, layer).values()]


def looks(mask: str) -> str:
    """What a mask lets a token attend to, in words."""
    kind, _, reach = mask.partition(":")
    return LOOKS.get(mask) or (f"{reach} tokens to either side" if kind == "window" else mask.replace(":", " "))


def maps(trace: AttentionTrace, layer: Site, heads: Sequence[int], quantity: str = "weight") -> list[Map]:
    """The maps of some heads (from 0) of a layer; of a trace that is read in
    words or phrases the weights alone.

    Raises TraceError where the trace has no such head, InputError where the text has too many tokens to be drawn.
    """
    masks = head_masks(trace, layer)
    n = trace.site(pair_site(trace, layer, quantity)).sizes["query"]
    if n > MOST:
        raise InputError(
            f"Maps of {n:,} tokens are not drawn (at most {MOST}), nor are their pairs listed: shorten the text, or "
            "read it as words or phrases."
        )
    for head in heads:
        if not 0 <= head < len(masks):
            raise TraceError(f"there is no head {head + 1}: {layer} has {len(masks)}")
    draw = _plain_map if is_plain(trace, layer) else _mtsa_map
    return [draw(trace, layer, head, quantity, masks[head]) for head in heads]


def _plain_map(trace: AttentionTrace, layer: Site, head: int, quantity: str, mask: str) -> Map:
    weights, scores = trace.site(layer.with_quantity("weight")), trace.sites.get(layer.with_quantity("relevance"))
    allowed = (weights > 0).any("head")  # a decoder's mask is that of all heads, and rounding that of none
    cells = allowed * xr.DataArray(cell_counts(weights, "key"), dims="key")
    share = (cells / cells.sum("key").clip(min=1)).assign_attrs(quantity="weight", sums_over="key")
    own = weights.isel(head=head)
    raw = None if scores is None else scores.isel(head=head).where(allowed, -np.inf)
    map_values = own
    if quantity == "relevance":
        map_values = centred(trace.site(layer.with_quantity("relevance")).isel(head=head).where(allowed, -np.inf))
    return Map(f"Head {head + 1}", "", map_values, own, share, raw)


def _mtsa_map(trace: AttentionTrace, layer: Site, head: int, quantity: str, mask: str) -> Map:
    token2token, source2token = layer / "token2token", layer / "source2token"
    pairs = trace.site(token2token.with_quantity(quantity))
    weights, source_weights = (trace.site(site.with_quantity("weight")) for site in (token2token, source2token))
    scores, source_scores = (trace.sites.get(site.with_quantity("relevance")) for site in (token2token, source2token))
    outside_site = (layer / MASK).with_quantity("contribution")
    shares, outside = trace.sites.get((layer / EVEN).with_quantity("weight")), trace.sites.get(outside_site)
    shares = even_weights(trace.site(outside_site)) if shares is None else shares
    share, map_values, source = (array.isel(head=head) for array in (shares, pairs, source_weights))
    of_source = (source, None if source_scores is None else source_scores.isel(head=head))
    raw = None if scores is None else scores.isel(head=head).where(share > 0, -np.inf)
    if quantity == "relevance":
        assert raw is not None and of_source[1] is not None and outside is not None  # recorded with `pairs`
        map_values, source = (
            _scaled_scores(raw, trace, "scale_t"),
            centred(_scaled_scores(of_source[1], trace, "scale_s")),
        )
        map_values = centred(
            map_values.copy(data=map_values.values + outside.isel(head=head).where(share > 0, 0.0).values)
        )
    title = f"Head {head + 1}, {mask.replace(':', ' ')}"
    return Map(title, looks(mask), map_values, weights.isel(head=head), share, raw, source, *of_source)


def _scaled_scores(scores: xr.DataArray, trace: AttentionTrace, scale: str) -> xr.DataArray:
    """Of scores R or S what is exponentiated (Eq. 10): of the log sigmoid two equal differences are not alike."""
    return scores.copy(data=SCALED[str(trace.meta.get(scale, "identity"))](scores.values))


def prototypes(
    tensor: AttentionTrace, layer: Site, assignments: Sequence[int], means: np.ndarray, typical: Sequence[int]
) -> list[Map]:
    """A map for each cluster of the features of a tensor (`maps.mtsa_tensor`, `maps.clusters`): the mean of theirs.

    assignments: the cluster of each feature, from 0.  means: [cluster, query, key].  typical: of each cluster its
    feature.
    """
    outside = tensor.site((layer / "tensor" / MASK).with_quantity("contribution"))
    share, drawn_maps = even_weights(outside), []
    for i, values in enumerate(means):
        size = list(assignments).count(i)
        note = f"{size} features, like {typical[i] + 1}" if size > 1 else f"feature {typical[i] + 1}"
        weights = outside.copy(data=values).assign_attrs(quantity="weight", sums_over="key")
        drawn_maps.append(Map(f"Cluster {i + 1}", note, weights, weights, share))
    return drawn_maps


def table(trace: AttentionTrace, layer: Site) -> pd.DataFrame:
    """Every pair of every head as a row, for CSV: tokens and their positions, weight, and the score as it is; empty
    where a mask leaves the pair out."""
    drawn_maps = maps(trace, layer, range(len(head_masks(trace, layer))))
    return rows(drawn_maps, trace.texts, [{"head": head + 1} for head in range(len(drawn_maps))])


def rows(drawn_maps: Sequence[Map], texts: Mapping[str, str], facts: Sequence[Mapping]) -> pd.DataFrame:
    """The pairs of some maps as rows, each with the facts of its map."""
    positions = np.indices(drawn_maps[0].weights.shape).reshape(2, -1)
    columns: dict = {}
    for axis, where in zip(("query", "key"), positions):
        names = np.array(labels(drawn_maps[0].weights, dict(texts), axis), object)
        columns |= {axis: names[where], f"{axis}_at": where}
        if f"{axis}_cells" in drawn_maps[0].weights.coords:
            columns[f"{axis}_tokens"] = drawn_maps[0].weights[f"{axis}_tokens"].values[where]
    parts = []
    for map_, map_facts in zip(drawn_maps, facts):
        numbers = {"signed number" if map_.signed else "weight": map_.weights.values.ravel()}
        if map_.scores is not None:
            scores = map_.scores.values.ravel()
            numbers["score"] = np.where(np.isfinite(scores), scores, np.nan)
        parts.append(pd.DataFrame({**map_facts, **columns, **numbers}))
    return pd.concat(parts, ignore_index=True)
