"""Folding the texts of a trace to words, phrases, sentences or turns, how much of the attention lies on each of them,
and the tokens that draw more of it than their share."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from triattn_core.errors import TraceError, choices
from triattn_core.text.cells import phrases, sentences
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.aggregation import continues_word, fold

UNITS = ("turns", "sentences", "phrases", "words", "tokens")
NUMBERED_UNITS = ("turns", "sentences")  # called by their number, not by their characters
SPECIAL = "[CLS] [SEP]"
SINK = 2  # what `special` says of a token that is hidden as a sink


def fold_axis(trace: AttentionTrace, way: str, axis: str = "context", own: Sequence[str] = ()) -> AttentionTrace:
    """The trace with an axis folded to one of WAYS; `tokens` (the model's cells) leaves it as it is.

    Of turns and sentences all special tokens make one group, else they stay.  own: see `unit_groups`.  Raises
    TraceError for another way.
    """
    if way not in UNITS:
        raise TraceError(f"cannot fold to {way!r}; {choices(way, UNITS)}")
    if way == "tokens":
        return trace
    return trace.fold(axis, lambda one: unit_groups(one, axis, trace.texts, way, own), way in NUMBERED_UNITS)


def unit_groups(
    array: xr.DataArray, axis: str, texts: Mapping[str, str], way: str, own: Sequence[str] = ()
) -> list[str]:
    """The group of each position: its segment; with `sentences`, of a turn with several, the sentence that it begins
    in: "turn 3.2"; its word, pieces joined; or the phrase that it begins in.

    A phrase is what stands between two punctuation marks: nothing here parses.  own: phrases of the reader's, wherever
    they stand in a text, upper or lower case; all else then stands word by word.
    """
    of, starts = (array[f"{axis}_{what}"].values for what in ("text", "start"))
    if way in NUMBERED_UNITS:
        segments = array[f"{axis}_segment"].values
        return [name or SPECIAL for name in segment_units(segments, of, starts, texts, way)]
    found, special = [], array[f"{axis}_special"].values
    spans = {name: _phrase_spans(text, own) if own else phrases(text) for name, text in texts.items()}
    for i, (name, start, tied) in enumerate(zip(map(str, of), map(int, starts), continues_word(array, axis))):
        within = [] if way == "words" or special[i] or not name else spans[name]
        inside = next((begin for begin, end in within if begin <= start < end), None)
        found.append(f"{name} {inside}" if inside is not None else found[-1] if tied else f"{i}")
    return found


def _phrase_spans(text: str, own: Sequence[str]) -> list[tuple[int, int]]:
    return [match.span() for one in own for match in re.finditer(re.escape(one), text, re.IGNORECASE)]


def missing_phrases(texts: Mapping[str, str], own: Sequence[str]) -> list[str]:
    """The reader's phrases that stand in none of the texts."""
    return [one for one in own if not any(_phrase_spans(text, [one]) for text in texts.values())]


def segment_units(segments: Iterable, of: Iterable, starts: Iterable, texts: Mapping[str, str], way: str) -> list[str]:
    """The same from the segment, the text's name and the first character of each position; "" of special tokens."""
    names = [str(name) for name in segments]
    if way == "sentences":
        places = zip(names, of, starts)
        names = [_sentence(name, texts.get(str(text), ""), int(start)) for name, text, start in places]
    return names


def _sentence(segment: str, text: str, start: int) -> str:
    begins = [begin for begin, _ in sentences(text)]
    if segment == "passage":
        return f"sentence {bisect_right(begins, start)}"
    spoken = segment.startswith("turn ") or segment == "response"  # all else is cut into sentences already
    return f"{segment}.{bisect_right(begins, start)}" if spoken and len(begins) > 1 else segment


def turn_shares(trace: AttentionTrace, choice: Choice) -> xr.DataArray:
    """[context]: the part of the mass on each turn or sentence, the mean over queries; all together 1.

    choice: weights, brought to query, key and context.  Raises TraceError for another.
    """
    weights = trace.pick(choice)
    if weights.attrs["quantity"] != "weight" or set(weights.dims) != {"query", "key", "context"}:
        raise TraceError(f"{choice.site}: shares are those of weights over query, key and context")
    weights = fold(weights, "context", unit_groups(weights, "context", trace.texts, "turns"))
    return weights.sum("key").mean("query", keep_attrs=True)


def exchange_key_context(site: xr.DataArray) -> xr.DataArray:
    """Key and context under each other's name: what sums over context now sums over keys.

    `compare.two_way_map` of it is the map query × context.
    """
    other = {"key": "context", "context": "key"}
    parts = {str(name): str(name).partition("_") for name in site.coords}
    coords = {name: f"{other[axis]}_{what}" for name, (axis, _, what) in parts.items() if axis in other}
    return site.rename({**other, **coords})


def received_mass(weights: xr.DataArray, axis: str) -> xr.DataArray:
    """[axis]: the share of all mass that lies on each position, the mean over heads and queries; together 1."""
    over = [one for one in weights.attrs["sums_over"].split(",") if one != axis]
    found = weights.sum(over).mean([one for one in weights.dims if one not in (axis, *over)])
    return found / max(float(found.sum()), 1e-30)


def find_sinks(trace: AttentionTrace, site: str, above: float) -> dict[str, list[int]]:
    """Of each axis that the weights of a site sum to one over, the sinks: tokens other than special ones that receive
    more than `above` times an even share of the mass, the mean over heads and queries.

    site: "layer.0/a_over_b".  The word is that of Xiao et al. (2024) for tokens that attention rests on.
    """
    weights, found = trace.site(f"{site}/weight"), {}
    for axis in filter(None, weights.attrs["sums_over"].split(",")):
        times = received_mass(weights, axis).values * weights.sizes[axis]
        found[axis] = np.flatnonzero((times > above) & (weights[f"{axis}_special"].values == 0)).tolist()
    return found


def mark_sinks(trace: AttentionTrace, site: str, above: float) -> AttentionTrace:
    """The trace with the sinks of a site told apart by `special` (SINK), so that views can hide them."""
    found, sites = find_sinks(trace, site, above), dict(trace.sites)
    for name in [name for name in sites if name.rsplit("/", 1)[0] == site]:
        for axis, places in found.items():
            if f"{axis}_special" in sites[name].coords:
                special = sites[name][f"{axis}_special"].values.copy()
                special[places] = SINK
                sites[name] = sites[name].assign_coords({f"{axis}_special": (axis, special)})
    return replace(trace, sites=sites, meta={**trace.meta, "sinks": above})
