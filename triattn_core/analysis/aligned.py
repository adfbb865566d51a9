"""Maps whose tokens differ, brought to the same ones: of two inputs, and of models that cut one text differently.

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

from triattn_core.analysis.compare import AXES, same_tokens
from triattn_core.errors import TraceError
from triattn_core.folding import fold

Pairs = list[tuple[int | None, int | None]]
EDITED = "edited "  # before the names of texts that only the second input has so


def align(left: Sequence[str], right: Sequence[str]) -> Pairs:
    """The tokens of both in reading order, each once: (i, j) where the difference keeps one, (i, None) and (None, j)
    where it takes one out or puts one in; what is taken out stands first."""
    found: Pairs = []
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            found += zip(range(a, b), range(c, d))
        else:
            found += [(i, None) for i in range(a, b)] + [(None, j) for j in range(c, d)]
    return found


def union(left: xr.DataArray, right: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Both maps [query, key] over the tokens of both, with NaN for what an input does not have.

    Coordinates are those of `left`, and of `right` where only that has a token: its text is then named "edited b".
    """
    pairs = {axis: align(_strings(left, axis), _strings(right, axis)) for axis in AXES}
    coords = {name: (axis, one) for axis in AXES for name, one in _coords(left, right, axis, pairs[axis]).items()}
    values = []
    for side, one in enumerate((left, right)):
        places = [[pair[side] for pair in pairs[axis]] for axis in AXES]
        found = np.full([len(some) for some in places], np.nan)
        there = np.ix_(*([i for i, at in enumerate(some) if at is not None] for some in places))
        found[there] = one.transpose(*AXES).values[np.ix_(*([at for at in some if at is not None] for some in places))]
        values.append(xr.DataArray(found, coords, AXES, attrs=one.attrs))
    return values[0], values[1]


def _strings(array: xr.DataArray, axis: str) -> list[str]:
    return [str(one) for one in array[f"{axis}_token"].values]


def _coords(left: xr.DataArray, right: xr.DataArray, axis: str, pairs: Pairs) -> dict[str, list]:
    """The coordinates that both have, and of each token that both have its span in the second input, as
    `<axis>_twin_start` and `<axis>_twin_end`: -1 where only one has it."""
    names = [str(one) for one in left.coords if left[one].dims == (axis,) and one in right.coords]
    found: dict[str, list] = {}
    for name in names:
        a, b = left[name].values.tolist(), right[name].values.tolist()
        new = [EDITED + one if one else one for one in b] if name == f"{axis}_text" else b
        found[name] = [a[i] if i is not None else new[j] for i, j in pairs]
    for what in ("start", "end"):
        at = right[f"{axis}_{what}"].values.tolist()
        found[f"{axis}_twin_{what}"] = [-1 if None in (i, j) else at[j] for i, j in pairs]
    return found


def parts(spans: Sequence[Sequence[tuple[int, int]]]) -> list[list[int]]:
    """The part of each token of each tokenizer: [tokenizers][tokens], numbered from 0.

    A text is cut where no token of any tokenizer goes on, and nowhere else.  spans: offsets in one text, in order.
    Raises TraceError where one of them has read less of the text, or nothing.
    """
    at, found, number = [0] * len(spans), [[0] * len(one) for one in spans], 0
    while any(i < len(one) for i, one in zip(at, spans)):
        if not all(i < len(one) for i, one in zip(at, spans)):
            told = " and ".join(str(max((end for _, end in one), default=0)) for one in spans)
            raise TraceError(
                f"the checkpoints read a text to different ends, characters {told}: shorten it, and compare again"
            )
        ends = [one[i][1] for i, one in zip(at, spans)]
        for i, one in zip(at, found):
            one[i] = number
        later = [one[i + 1][0] if i + 1 < len(one) else np.inf for i, one in zip(at, spans)]
        if max(ends) <= min(later):
            at, number = [i + 1 for i in at], number + 1
        else:
            more = [end if i + 1 < len(one) else np.inf for end, i, one in zip(ends, at, spans)]
            at[int(np.argmin(more))] += 1
    return found


def in_parts(maps: Sequence[xr.DataArray], texts: dict[str, str]) -> list[xr.DataArray]:
    """Weights [query, key] of one input under several tokenizers, over the parts that are whole in all of them.

    Raises TraceError for relevances, which have no unit that two tokenizers share, and as `parts`.
    """
    if any(one.attrs.get("quantity") != "weight" for one in maps):
        raise TraceError(
            "these checkpoints cut the texts into different tokens: their weights are compared in words, their "
            "relevances have no common unit; choose weight"
        )
    for axis in AXES:
        maps = _folded(maps, axis, texts)
    same_tokens(maps)
    return list(maps)


def _folded(maps: Sequence[xr.DataArray], axis: str, texts: dict[str, str]) -> list[xr.DataArray]:
    names: list[list[str]] = [[""] * one.sizes[axis] for one in maps]
    for text in dict.fromkeys(str(name) for one in maps for name in one[f"{axis}_text"].values):
        places = [np.flatnonzero(one[f"{axis}_text"].values == text).tolist() for one in maps]
        ends = [(one[f"{axis}_start"].values, one[f"{axis}_end"].values) for one in maps]
        spans = [[(int(a[i]), int(b[i])) for i in some] for (a, b), some in zip(ends, places)]
        for name, some, groups in zip(names, places, parts(spans)):
            for i, group in zip(some, groups):
                name[i] = f"{text} {group}"
    joined = [fold(one, axis, name) for one, name in zip(maps, names)]
    starts, ends = (
        how([one[f"{axis}_{what}"].values for one in joined], axis=0)
        for what, how in (("start", np.min), ("end", np.max))
    )
    named = [str(name) for name in joined[0][f"{axis}_text"].values]
    words = [texts.get(name, "")[start:end].strip() for name, start, end in zip(named, starts, ends)]
    told = {"start": starts, "end": ends, "token": words}
    coords = {f"{axis}_{what}": (axis, one) for what, one in told.items()}
    gone = [f"{axis}_{what}" for what in ("label", "tokens", "cells")]
    return [one.drop_vars(gone).assign_coords(coords) for one in joined]
