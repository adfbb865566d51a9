"""Fold the texts of a trace to words, phrases, sentences or turns; measure the attention on each; find sinks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from triattn_core.errors import TraceError, choices
from triattn_core.text.segmentation import phrases, sentences
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.aggregation import continues_word, distribution_axes, fold
from triattn_core.trace.axes import CUBE
from triattn_core.trace.site import Site

UNITS = ("turns", "sentences", "phrases", "words", "tokens")
NUMBERED_UNITS = ("turns", "sentences")  # named by number, not by their text
SPECIAL = "[CLS] [SEP]"
SINK = 2  # value of the coordinate `special` for a token hidden as a sink


def fold_axis(
    trace: AttentionTrace, unit: str, axis: str = "context", chosen_phrases: Sequence[str] = ()
) -> AttentionTrace:
    """Fold an axis of a trace to one of UNITS; `tokens` (the model's cells) leaves it unchanged.

    With turns and sentences, all special tokens form one group; otherwise each stays.  chosen_phrases: see
    `unit_groups`. Raises TraceError for an unknown unit.
    """
    if unit not in UNITS:
        raise TraceError(f"cannot fold to {unit!r}; {choices(unit, UNITS)}")
    if unit == "tokens":
        return trace
    return trace.fold(
        axis, lambda array: unit_groups(array, axis, trace.texts, unit, chosen_phrases), unit in NUMBERED_UNITS
    )


def unit_groups(
    array: xr.DataArray, axis: str, texts: Mapping[str, str], unit: str, chosen_phrases: Sequence[str] = ()
) -> list[str]:
    """The group of each position.

    turns: its segment; sentences: the sentence in which it begins, within a turn of several as "turn 3.2"; words: its
    word, pieces joined; phrases: the phrase in which it begins.  A phrase is the text between two punctuation marks;
    nothing is parsed.  chosen_phrases: phrases of your choice, found anywhere in a text regardless of case; all other
    text is then grouped by words.
    """
    owners, starts = (array[f"{axis}_{field}"].values for field in ("text", "start"))
    if unit in NUMBERED_UNITS:
        segments = array[f"{axis}_segment"].values
        return [name or SPECIAL for name in segment_units(segments, owners, starts, texts, unit)]
    groups: list[str] = []
    special = array[f"{axis}_special"].values
    spans = {
        name: _phrase_spans(text, chosen_phrases) if chosen_phrases else phrases(text) for name, text in texts.items()
    }
    continues = continues_word(array, axis)
    for i, (name, start) in enumerate(zip(map(str, owners), map(int, starts))):
        candidates = [] if unit == "words" or special[i] or not name else spans[name]
        phrase_start = next((begin for begin, end in candidates if begin <= start < end), None)
        groups.append(f"{name} {phrase_start}" if phrase_start is not None else groups[-1] if continues[i] else f"{i}")
    return groups


def _phrase_spans(text: str, chosen_phrases: Sequence[str]) -> list[tuple[int, int]]:
    return [match.span() for phrase in chosen_phrases for match in re.finditer(re.escape(phrase), text, re.IGNORECASE)]


def missing_phrases(texts: Mapping[str, str], chosen_phrases: Sequence[str]) -> list[str]:
    """The phrases of `chosen_phrases` that occur in none of the texts."""
    return [phrase for phrase in chosen_phrases if not any(_phrase_spans(text, [phrase]) for text in texts.values())]


def segment_units(
    segments: Iterable, owners: Iterable, starts: Iterable, texts: Mapping[str, str], unit: str
) -> list[str]:
    """Turn or sentence of each position, "" for special tokens.

    segments, owners, starts: the segment, name of the text and first character of each position.
    """
    units = [str(segment) for segment in segments]
    if unit == "sentences":
        positions = zip(units, owners, starts)
        units = [_sentence(name, texts.get(str(text), ""), int(start)) for name, text, start in positions]
    return units


def _sentence(segment: str, text: str, start: int) -> str:
    starts = [begin for begin, _ in sentences(text)]
    if segment == "passage":
        return f"sentence {bisect_right(starts, start)}"
    spoken = segment.startswith("turn ") or segment == "response"  # other segments are sentences already
    return f"{segment}.{bisect_right(starts, start)}" if spoken and len(starts) > 1 else segment


def turn_shares(trace: AttentionTrace, choice: Choice) -> xr.DataArray:
    """[context]: the share of the mass on each turn or sentence, averaged over queries; sums to 1.

    choice: weights with just the axes query, key and context.  Raises TraceError for anything else.
    """
    weights = trace.pick(choice)
    if weights.attrs["quantity"] != "weight" or set(weights.dims) != set(CUBE):
        raise TraceError(f"{choice.site}: shares are those of weights over query, key and context")
    if "context" not in trace.sum_axes(choice.site):
        raise TraceError(f"{choice.site}: no distribution runs over context, so it holds no shares")
    weights = fold(weights, "context", unit_groups(weights, "context", trace.texts, "turns"))
    return weights.sum("key").mean("query", keep_attrs=True)


def exchange_key_context(site: xr.DataArray) -> xr.DataArray:
    """Swap the names of key and context, so that a sum over context becomes a sum over keys.

    `compare.two_way_map` of the result is the map query × context.
    """
    other = {"key": "context", "context": "key"}
    parts = {str(name): str(name).partition("_") for name in site.coords}
    coords = {name: f"{other[axis]}_{field}" for name, (axis, _, field) in parts.items() if axis in other}
    return site.rename({**other, **coords})


def received_mass(weights: xr.DataArray, axis: str) -> xr.DataArray:
    """[axis]: the share of the mass on each position, averaged over heads and queries; sums to 1."""
    sum_axes = [name for name in distribution_axes(weights) if name != axis]
    mass = weights.sum(sum_axes).mean([name for name in weights.dims if name not in (axis, *sum_axes)])
    return mass / max(float(mass.sum()), 1e-30)


def find_sinks(trace: AttentionTrace, site: Site, above: float) -> dict[str, list[int]]:
    """Positions of the sinks on each axis that the weights of a site sum to one over.

    A sink is a token, other than special ones, that receives more than `above` times an even share of the mass,
    averaged over heads and queries (the term is from Xiao et al., 2024).
    """
    weights, sinks = trace.site(site.with_quantity("weight")), {}
    for axis in distribution_axes(weights):
        times = received_mass(weights, axis).values * weights.sizes[axis]
        sinks[axis] = np.flatnonzero((times > above) & (weights[f"{axis}_special"].values == 0)).tolist()
    return sinks


def mark_sinks(trace: AttentionTrace, site: Site, above: float) -> AttentionTrace:
    """Mark the sinks of a site in the coordinate `special` (SINK), so that views can hide them."""
    sinks, sites = find_sinks(trace, site, above), dict(trace.sites)
    for name in [name for name in sites if name.attention == site.attention]:
        for axis, positions in sinks.items():
            if f"{axis}_special" in sites[name].coords:
                special = sites[name][f"{axis}_special"].values.copy()
                special[positions] = SINK
                sites[name] = sites[name].assign_coords({f"{axis}_special": (axis, special)})
    return replace(trace, sites=sites, meta={**trace.meta, "sinks": above})
