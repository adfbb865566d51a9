"""Folding the context of a trace to turns or sentences, and how much of the attention lies on each of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping

import xarray as xr

from triattn_core.errors import TraceError, choices
from triattn_core.text.cells import sentences
from triattn_core.trace import AttentionTrace, Choice, fold

WAYS = ("turns", "sentences", "tokens")
SPECIAL = "[CLS] [SEP]"


def folded(trace: AttentionTrace, way: str, axis: str = "context") -> AttentionTrace:
    """The trace with an axis folded to `turns` or `sentences`; `tokens` (the model's cells) leaves it as it is.

    All special tokens make one group.  Raises TraceError for another way.
    """
    if way not in WAYS:
        raise TraceError(f"cannot fold to {way!r}; {choices(way, WAYS)}")
    if way == "tokens":
        return trace
    return trace.fold(axis, lambda array: groups(array, axis, trace.texts, way))


def groups(array: xr.DataArray, axis: str, texts: Mapping[str, str], way: str) -> list[str]:
    """The group of each position: its segment; with `sentences`, of a turn with several, the sentence that it begins
    in: "turn 3.2"."""
    segments, of, starts = (array[f"{axis}_{what}"].values for what in ("segment", "text", "start"))
    return [name or SPECIAL for name in named(segments, of, starts, texts, way)]


def named(segments: Iterable, of: Iterable, starts: Iterable, texts: Mapping[str, str], way: str) -> list[str]:
    """The same from the segment, the text's name and the first character of each position; "" of special tokens."""
    names = [str(name) for name in segments]
    if way == "sentences":
        places = zip(names, of, starts)
        names = [_sentence(name, texts.get(str(text), ""), int(start)) for name, text, start in places]
    return names


def _sentence(segment: str, text: str, start: int) -> str:
    begins = [begin for begin, _ in sentences(text)]
    spoken = segment.startswith("turn ") or segment == "response"  # all else is cut into sentences already
    return f"{segment}.{bisect_right(begins, start)}" if spoken and len(begins) > 1 else segment


def shares(trace: AttentionTrace, choice: Choice) -> xr.DataArray:
    """[context]: the part of the mass on each turn or sentence, the mean over queries; all together 1.

    choice: weights, brought to query, key and context.  Raises TraceError for another.
    """
    weights = trace.pick(choice)
    if weights.attrs["quantity"] != "weight" or set(weights.dims) != {"query", "key", "context"}:
        raise TraceError(f"{choice.site}: shares are those of weights over query, key and context")
    weights = fold(weights, "context", groups(weights, "context", trace.texts, "turns"))
    return weights.sum("key").mean("query", keep_attrs=True)


def exchanged(site: xr.DataArray) -> xr.DataArray:
    """Key and context under each other's name: what sums over context now sums over keys.

    `compare.two_way` of it is the map query × context.
    """
    other = {"key": "context", "context": "key"}
    parts = {str(name): str(name).partition("_") for name in site.coords}
    coords = {name: f"{other[axis]}_{what}" for name, (axis, _, what) in parts.items() if axis in other}
    return site.rename({**other, **coords})
