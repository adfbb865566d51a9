"""Alignment of maps whose tokens differ: of two inputs, or of models with different tokenizers.

Two inputs are aligned by the diff of their tokens; tokens of only one input are gaps in the other (NaN).  For one text
and several tokenizers, maps are folded to the smallest parts that no tokenizer splits, often words:

    W[m,l] = mean over the tokens n of part m of the sum over the tokens i of part l of W[n,i]

Keys are summed and queries averaged, so that a row that summed to one still does.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import cast

import numpy as np
import xarray as xr

from triattn_core.analysis.maps.compare import AXES, require_same_tokens
from triattn_core.analysis.maps.special_parts import Part, pad_absent, special_labels, special_parts, text_order
from triattn_core.errors import TraceError
from triattn_core.trace.aggregation import fold

Pairs = list[tuple[int | None, int | None]]
EDITED = "edited "  # prefix of the names of texts whose tokens are only in the second input


def align_tokens(left: Sequence[str], right: Sequence[str]) -> Pairs:
    """The tokens of both in reading order: (i, j) if equal in the diff, (i, None) if deleted, (None, j) if inserted;
    deletions come first."""
    pairs: Pairs = []
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            pairs += zip(range(a, b), range(c, d))
        else:
            pairs += [(i, None) for i in range(a, b)] + [(None, j) for j in range(c, d)]
    return pairs


def align_maps(left: xr.DataArray, right: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Both maps [query, key] over the tokens of both, with NaN for tokens that an input lacks.

    Coordinates are those of `left`, or of `right` for tokens that only it has; their text is then named "edited b".
    """
    pairs = {axis: align_tokens(_strings(left, axis), _strings(right, axis)) for axis in AXES}
    coords = {
        name: (axis, values_) for axis in AXES for name, values_ in _coords(left, right, axis, pairs[axis]).items()
    }
    values = []
    for side, array in enumerate((left, right)):
        indices = [[pair[side] for pair in pairs[axis]] for axis in AXES]
        padded = np.full([len(axis_indices) for axis_indices in indices], np.nan)
        present = np.ix_(
            *([i for i, index in enumerate(axis_indices) if index is not None] for axis_indices in indices)
        )
        padded[present] = array.transpose(*AXES).values[
            np.ix_(*([index for index in axis_indices if index is not None] for axis_indices in indices))
        ]
        values.append(xr.DataArray(padded, coords, AXES, attrs=array.attrs))
    return values[0], values[1]


def _strings(array: xr.DataArray, axis: str) -> list[str]:
    return [str(token) for token in array[f"{axis}_token"].values]


def _coords(left: xr.DataArray, right: xr.DataArray, axis: str, pairs: Pairs) -> dict[str, list]:
    """The coordinates that both have; and `<axis>_twin_start` and `<axis>_twin_end`, the span of each token in the
    second input, -1 if only one input has it."""
    names = [str(name) for name in left.coords if left[name].dims == (axis,) and name in right.coords]
    coords: dict[str, list] = {}
    for name in names:
        a, b = left[name].values.tolist(), right[name].values.tolist()
        renamed = [EDITED + text if text else text for text in b] if name == f"{axis}_text" else b
        coords[name] = [a[i] if i is not None else renamed[cast(int, j)] for i, j in pairs]
    for bound in ("start", "end"):
        offsets = right[f"{axis}_{bound}"].values.tolist()
        coords[f"{axis}_twin_{bound}"] = [-1 if None in (i, j) else offsets[j] for i, j in pairs]
    return coords


def common_parts(spans: Sequence[Sequence[tuple[int, int]]]) -> list[list[int]]:
    """The part index of each token of each tokenizer: [tokenizers][tokens], from 0.

    A text is cut exactly where all tokenizers have a token boundary.  spans: offsets in one text, in order; a token
    without characters at its end, such as that of a space, belongs to the last part.
    Raises TraceError if one of them has read less of the text, or nothing.
    """
    positions, parts, number = [0] * len(spans), [[0] * len(row) for row in spans], 0
    while any(i < len(row) for i, row in zip(positions, spans)):
        if not all(i < len(row) for i, row in zip(positions, spans)):
            if number and not any(start < end for i, row in zip(positions, spans) for start, end in row[i:]):
                return [part[:i] + [number - 1] * len(part[i:]) for i, part in zip(positions, parts)]
            lengths = " and ".join(str(max((end for _, end in row), default=0)) for row in spans)
            raise TraceError(
                f"the checkpoints read a text to different ends, characters {lengths}: shorten it, and compare again"
            )
        ends = [row[i][1] for i, row in zip(positions, spans)]
        for i, row in zip(positions, parts):
            row[i] = number
        next_starts = [row[i + 1][0] if i + 1 < len(row) else np.inf for i, row in zip(positions, spans)]
        if max(ends) <= min(next_starts):
            positions, number = [i + 1 for i in positions], number + 1
        else:
            next_ends = [end if i + 1 < len(row) else np.inf for end, i, row in zip(ends, positions, spans)]
            positions[int(np.argmin(next_ends))] += 1
    return parts


def to_common_parts(maps: Sequence[xr.DataArray], texts: dict[str, str]) -> list[xr.DataArray]:
    """Weights [query, key] of one input under several tokenizers, folded to their common parts.

    Raises TraceError for relevances, which are not comparable between tokenizers, and as `common_parts`.
    """
    if any(array.attrs.get("quantity") != "weight" for array in maps):
        raise TraceError(
            "these checkpoints cut the texts into different tokens: their weights are compared in words, their "
            "relevances have no common unit; choose weight"
        )
    for axis in AXES:
        maps = _fold_to_parts(maps, axis, texts)
    require_same_tokens(maps)
    return list(maps)


def _fold_to_parts(maps: Sequence[xr.DataArray], axis: str, texts: dict[str, str]) -> list[xr.DataArray]:
    owners = [[str(name) for name in array[f"{axis}_text"].values] for array in maps]
    parts: list[dict[int, Part]] = special_parts(owners)
    for place, text in enumerate(text_order(owners)):
        positions = [[i for i, name in enumerate(row) if name == text] for row in owners]
        ends = [(array[f"{axis}_start"].values, array[f"{axis}_end"].values) for array in maps]
        spans = [[(int(a[i]), int(b[i])) for i in rows] for (a, b), rows in zip(ends, positions)]
        for part, rows, groups in zip(parts, positions, common_parts(spans)):
            part |= {i: (2 * place + 1, group) for i, group in zip(rows, groups)}
    names = [[part[i] for i in range(array.sizes[axis])] for array, part in zip(maps, parts)]
    folded_maps = [fold(array, axis, [str(part) for part in row]) for array, row in zip(maps, names)]
    folded_maps = pad_absent(folded_maps, axis, [list(dict.fromkeys(row)) for row in names])
    specials = special_labels(maps, axis, names)
    starts, ends = (
        reduce([array[f"{axis}_{field}"].values for array in folded_maps], axis=0)
        for field, reduce in (("start", np.min), ("end", np.max))
    )
    text_names = [str(name) for name in folded_maps[0][f"{axis}_text"].values]
    words = [
        specials.get(part) or texts.get(name, "")[start:end].strip() or "␣"
        for part, name, start, end in zip(sorted({part for row in names for part in row}), text_names, starts, ends)
    ]
    columns = {"start": starts, "end": ends, "token": words}
    coords = {f"{axis}_{field}": (axis, array) for field, array in columns.items()}
    dropped = [f"{axis}_{field}" for field in ("label", "tokens", "cells")]
    return [array.drop_vars(dropped).assign_coords(coords) for array in folded_maps]
