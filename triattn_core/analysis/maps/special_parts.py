"""Special tokens of several tokenizers on one axis: which of them belong together, and gaps for what a model lacks.

[CLS] a [SEP] b [SEP] of BERT, <s> a </s></s> b </s> of RoBERTa and a b of GPT-2 are aligned by the texts between which
the special tokens stand.  Where their numbers differ, those of one place are one part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

Part = tuple[int, int]  # the place on the axis: that of a text is odd, that of special tokens even; its part, from 0


def text_order(owners: Sequence[Sequence[str]]) -> list[str]:
    """The texts of all models in reading order.  owners: the text of each token of each model, "" of a special one."""
    return list(dict.fromkeys(name for row in owners for name in row if name))


def special_parts(owners: Sequence[Sequence[str]]) -> list[dict[int, Part]]:
    """The part of each special token, by its position, of each model."""
    order = text_order(owners)
    places: list[dict[int, list[int]]] = []
    for row in owners:
        after, members = 0, dict[int, list[int]]()
        for i, name in enumerate(row):
            if name:
                after = 2 * order.index(name) + 2
            else:
                members.setdefault(after, []).append(i)
        places.append(members)
    shared_places = {
        place for row in places for place in row if len({len(other[place]) for other in places if place in other}) == 1
    }
    return [
        {
            i: (place, number if place in shared_places else 0)
            for place, tokens in row.items()
            for number, i in enumerate(tokens)
        }
        for row in places
    ]


def special_labels(maps: Sequence[xr.DataArray], axis: str, parts: Sequence[Sequence[Part]]) -> dict[Part, str]:
    """What each part of special tokens is called, such as "[SEP] or </s></s>".  parts: of each token of each model."""
    labels: dict[Part, dict[str, None]] = {}
    for array, row in zip(maps, parts):
        tokens: dict[Part, str] = {}
        for token, part in zip(array[f"{axis}_token"].values, row):
            if part[0] % 2 == 0:
                tokens[part] = tokens.get(part, "") + str(token)
        for part, label in tokens.items():
            labels.setdefault(part, {})[label] = None
    return {part: " or ".join(names) for part, names in labels.items()}


def pad_absent(maps: Sequence[xr.DataArray], axis: str, parts: Sequence[Sequence[Part]]) -> list[xr.DataArray]:
    """The same maps over the parts of all, with NaN for those that a model lacks.  parts: of each position.

    Coordinates of an absent part are those of the first map that has it.
    """
    all_parts = sorted({part for row in parts for part in row})
    sources = [next((m, row.index(part)) for m, row in enumerate(parts) if part in row) for part in all_parts]
    names = [str(name) for name in maps[0].coords if maps[0][name].dims == (axis,)]
    coords = {name: (axis, [maps[m][name].values[i] for m, i in sources]) for name in names}
    padded = []
    for array, row in zip(maps, parts):
        positions = [row.index(part) if part in row else -1 for part in all_parts]
        taken = array.drop_vars(names).isel({axis: positions}).assign_coords(coords)
        padded.append(taken.where(xr.DataArray(np.array(positions) >= 0, dims=axis)).assign_attrs(array.attrs))
    return padded
