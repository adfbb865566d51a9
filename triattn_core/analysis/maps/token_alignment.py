"""Alignment of maps whose tokens differ: of two inputs, or of models with different tokenizers.

Two inputs are aligned by the difference of their tokens; what only one of them has stays, as a gap in the other (NaN).
Of one text that several tokenizers have cut, the parts are taken that are whole in all of them, often words:

    W[m,l] = mean over the tokens n of part m of the sum over the tokens i of part l of W[n,i]

Keys are summed and queries averaged, so that a row that summed to one still does.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
import xarray as xr

from triattn_core.analysis.maps.compare import AXES, require_same_tokens
from triattn_core.errors import TraceError
from triattn_core.trace.aggregation import fold

Pairs = list[tuple[int | None, int | None]]
EDITED = "edited "  # before the names of texts that only the second input has so


def align_tokens(left: Sequence[str], right: Sequence[str]) -> Pairs:
    """The tokens of both in reading order, each once: (i, j) if kept by the difference, (i, None) if deleted, (None, j)
    if inserted; deletions come first."""
    pairs: Pairs = []
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            pairs += zip(range(a, b), range(c, d))
        else:
            pairs += [(i, None) for i in range(a, b)] + [(None, j) for j in range(c, d)]
    return pairs


def align_maps(left: xr.DataArray, right: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Both maps [query, key] over the tokens of both, with NaN for tokens that an input lacks.

    Coordinates are those of `left`, and of `right` where only that has a token: its text is then named "edited b".
    """
    pairs = {axis: align_tokens(_strings(left, axis), _strings(right, axis)) for axis in AXES}
    coords = {name: (axis, one) for axis in AXES for name, one in _coords(left, right, axis, pairs[axis]).items()}
    values = []
    for side, one in enumerate((left, right)):
        places = [[pair[side] for pair in pairs[axis]] for axis in AXES]
        padded = np.full([len(some) for some in places], np.nan)
        present = np.ix_(*([i for i, at in enumerate(some) if at is not None] for some in places))
        padded[present] = one.transpose(*AXES).values[
            np.ix_(*([at for at in some if at is not None] for some in places))
        ]
        values.append(xr.DataArray(padded, coords, AXES, attrs=one.attrs))
    return values[0], values[1]


def _strings(array: xr.DataArray, axis: str) -> list[str]:
    return [str(token) for token in array[f"{axis}_token"].values]


def _coords(left: xr.DataArray, right: xr.DataArray, axis: str, pairs: Pairs) -> dict[str, list]:
    """The coordinates that both have, and of each token that both have its span in the second input, as
    `<axis>_twin_start` and `<axis>_twin_end`: -1 where only one has it."""
    names = [str(one) for one in left.coords if left[one].dims == (axis,) and one in right.coords]
    coords: dict[str, list] = {}
    for name in names:
        a, b = left[name].values.tolist(), right[name].values.tolist()
        new = [EDITED + one if one else one for one in b] if name == f"{axis}_text" else b
        coords[name] = [a[i] if i is not None else new[j] for i, j in pairs]
    for what in ("start", "end"):
        at = right[f"{axis}_{what}"].values.tolist()
        coords[f"{axis}_twin_{what}"] = [-1 if None in (i, j) else at[j] for i, j in pairs]
    return coords


def common_parts(spans: Sequence[Sequence[tuple[int, int]]]) -> list[list[int]]:
    """The part index of each token of each tokenizer: [tokenizers][tokens], from 0.

    A text is cut where no token of any tokenizer goes on, and nowhere else.  spans: offsets in one text, in order.
    Raises TraceError where one of them has read less of the text, or nothing.
    """
    at, parts, number = [0] * len(spans), [[0] * len(row) for row in spans], 0
    while any(i < len(row) for i, row in zip(at, spans)):
        if not all(i < len(row) for i, row in zip(at, spans)):
            lengths = " and ".join(str(max((end for _, end in row), default=0)) for row in spans)
            raise TraceError(
                f"the checkpoints read a text to different ends, characters {lengths}: shorten it, and compare again"
            )
        ends = [row[i][1] for i, row in zip(at, spans)]
        for i, row in zip(at, parts):
            row[i] = number
        later = [row[i + 1][0] if i + 1 < len(row) else np.inf for i, row in zip(at, spans)]
        if max(ends) <= min(later):
            at, number = [i + 1 for i in at], number + 1
        else:
            next_ends = [end if i + 1 < len(row) else np.inf for end, i, row in zip(ends, at, spans)]
            at[int(np.argmin(next_ends))] += 1
    return parts


def to_common_parts(maps: Sequence[xr.DataArray], texts: dict[str, str]) -> list[xr.DataArray]:
    """Weights [query, key] of one input under several tokenizers, over the parts that all of them share.

    Raises TraceError for relevances, which have no unit that two tokenizers share, and as `common_parts`.
    """
    if any(one.attrs.get("quantity") != "weight" for one in maps):
        raise TraceError(
            "these checkpoints cut the texts into different tokens: their weights are compared in words, their "
            "relevances have no common unit; choose weight"
        )
    for axis in AXES:
        maps = _fold_to_parts(maps, axis, texts)
    require_same_tokens(maps)
    return list(maps)


def _fold_to_parts(maps: Sequence[xr.DataArray], axis: str, texts: dict[str, str]) -> list[xr.DataArray]:
    names: list[list[str]] = [[""] * array.sizes[axis] for array in maps]
    for text in dict.fromkeys(str(name) for array in maps for name in array[f"{axis}_text"].values):
        places = [np.flatnonzero(array[f"{axis}_text"].values == text).tolist() for array in maps]
        ends = [(array[f"{axis}_start"].values, array[f"{axis}_end"].values) for array in maps]
        spans = [[(int(a[i]), int(b[i])) for i in some] for (a, b), some in zip(ends, places)]
        for name, some, groups in zip(names, places, common_parts(spans)):
            for i, group in zip(some, groups):
                name[i] = f"{text} {group}"
    joined = [fold(array, axis, name) for array, name in zip(maps, names)]
    starts, ends = (
        how([array[f"{axis}_{what}"].values for array in joined], axis=0)
        for what, how in (("start", np.min), ("end", np.max))
    )
    named = [str(name) for name in joined[0][f"{axis}_text"].values]
    words = [texts.get(name, "")[start:end].strip() for name, start, end in zip(named, starts, ends)]
    merged = {"start": starts, "end": ends, "token": words}
    coords = {f"{axis}_{what}": (axis, array) for what, array in merged.items()}
    dropped = [f"{axis}_{what}" for what in ("label", "tokens", "cells")]
    return [array.drop_vars(dropped).assign_coords(coords) for array in joined]
