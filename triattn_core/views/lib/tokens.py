"""The tokens of an axis for the drawing scripts: what is drawn, what is said, and where each stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import xarray as xr

from triattn_core.trace.aggregation import cell_counts, continues_word
from triattn_core.views.lib.canvas import CellAxis
from triattn_core.views.lib.strongest import PIECE_MARK, brief, words

MARK = "▸ "  # before the label of a word that the model is asked about


def tokens(array: xr.DataArray, texts: dict[str, str], axis: str, positions: np.ndarray) -> dict[str, list]:
    """The shown tokens of an axis for label_text.js, as parallel lists.

    `label` is what is drawn, `name` what is said.  `joined` is 1 for a word piece that continues the word before it,
    `place` is "A4" for the fourth token of sentence A, `where` says the same of a long text, `position` is the position
    in the trace, `cells` how many cells of the model a folded one joins.
    """
    if f"{axis}_token" not in array.coords:
        return _numbered(array, axis, positions)
    coords = {name: array[f"{axis}_{name}"].values for name in ("text", "start", "end", "special")}
    tied, name = continues_word(array, axis), words(array, texts, axis)
    folded, cells = f"{axis}_label" in array.coords, cell_counts(array, axis)
    place, where = _places(array, axis)
    return {
        "label": [brief(name[i]) if folded else name[i] for i in positions],
        "name": [name[i] for i in positions],
        "joined": [int(tied[i]) for i in positions],
        "place": [place[i] for i in positions],
        "where": [where[i] for i in positions],
        "text": [str(coords["text"][i]) for i in positions],
        "start": [int(coords["start"][i]) for i in positions],
        "end": [int(coords["end"][i]) for i in positions],
        "special": [int(coords["special"][i]) for i in positions],
        "position": [int(i) for i in positions],
        "cells": [int(cells[i]) for i in positions],
    }


def _numbered(array: xr.DataArray, axis: str, positions: np.ndarray) -> dict[str, list]:
    """The same of an axis without tokens, such as features; its groups are `<axis>_segment`, where there are any."""
    name, count = words(array, {}, axis), len(positions)
    has = f"{axis}_segment" in array.coords
    groups = [str(array[f"{axis}_segment"].values[i]) if has else "" for i in positions]
    numbers = [str(i + 1) for i in positions]
    return named_axis(numbers) | {
        "name": [name[i] for i in positions],
        "where": [group or f"of {count}" for group in groups],
        "text": groups,
        "position": [int(i) for i in positions],
    }


def named_axis(names: Sequence[str]) -> dict[str, Any]:
    """An axis that is of no text, such as heads, as `tokens` gives one."""
    count = len(names)
    words = {name: list(names) for name in ("label", "name", "place")}
    none = {name: [""] * count for name in ("where", "text")}
    zeros = {name: [0] * count for name in ("joined", "start", "end", "special")}
    # flat: such labels never lean, and as many are drawn as fit
    return {**words, **none, "position": list(range(count)), "cells": [1] * count, "flat": True, **zeros}


def _places(array: xr.DataArray, axis: str) -> tuple[list[str], list[str]]:
    """Where each position of an axis stands, in few letters and in words."""

    def column(name: str, otherwise: list) -> list:
        return array[f"{axis}_{name}"].values.tolist() if f"{axis}_{name}" in array.coords else otherwise

    texts = column("text", [])
    counts = column("tokens", [1] * len(texts))
    if groups := column("label", []):
        cells = column("cells", counts)  # of the model, each of several tokens: an even share is shared among them
        pooled = [f" in {m} cell{'s' * (m > 1)}" if m != n else "" for n, m in zip(counts, cells)]
        return [brief(name) for name in groups], [
            f"{n} token{'s' * (n > 1)}{pooling_text}" for n, pooling_text in zip(counts, pooled)
        ]
    segments = column("segment", [text and "sentence " + text.upper() for text in texts])
    places, wheres = [], []
    seen: Counter[str] = Counter()
    read: Counter[str] = Counter()
    for i, (segment, count) in enumerate(zip(segments, counts)):
        seen[segment] += 1
        read[segment] += count
        first, last, short = read[segment] - count + 1, read[segment], brief(segment)
        places.append(f"{short}{'.' * short[-1].isdigit()}{seen[segment]}" if segment else f"{axis} {i + 1}")
        place = f"{segment}, token{f's {first}–{last}' if count > 1 else f' {first}'}"
        wheres.append(place if segment and short != texts[i].upper() else places[-1])
    return places, wheres


def read_ends(axes: Mapping[str, Mapping[str, list]]) -> dict[str, int]:
    """Of each text that has tokens on an axis the character where its last token ends: of a text that was cut, how far
    the model read.  axes: as `tokens` gives them, with all tokens of their texts."""
    ends: dict[str, int] = {}
    for axis in axes.values():
        for name, end in zip(axis["text"], axis["end"]):
            if name:
                ends[name] = max(end, ends.get(name, 0))
    return ends


def map_labels(axis: Mapping[str, list]) -> list[str]:
    """The labels of a map's rows or columns, of an axis as `tokens` gives it: PIECE_MARK ties a piece to its word, MARK
    stands before what is `marked`."""
    marked = axis.get("marked") or [0] * len(axis["label"])
    return [MARK * mark + PIECE_MARK * tied + label for mark, tied, label in zip(marked, axis["joined"], axis["label"])]


def cell_axes(
    axes: Mapping[str, Mapping[str, list]],
    sizes: Mapping[str, int] = MappingProxyType({}),
    roles: Mapping[str, str] = MappingProxyType({}),
) -> tuple[CellAxis, ...]:
    """The coordinates of a cell: axes as `tokens` gives them, then those that are numbers from 0 below a size.

    roles: the labels of axes that have labels of their own.
    """
    words = [CellAxis(roles.get(name, name), axis["position"], axis["name"]) for name, axis in axes.items()]
    return (*words, *(CellAxis(name, range(size)) for name, size in sizes.items()))


def text_names(texts: Iterable[str]) -> dict[str, dict[str, str]]:
    """What the texts of a trace are called, in few letters and in words: T4 and turn 4; an edited one T4′."""
    names = {}
    for name in texts:
        plain = name.removeprefix("edited ")
        long = f"sentence {plain.upper()}" if len(plain) == 1 else plain.replace(".", " ")
        edited = plain != name
        names[name] = {"short": brief(long) + "′" * edited, "long": "edited " * edited + long}
    return names
