"""The maps of COIN's blocks for print: a row a block, with the context term, without it, and what that changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from triattn_core.views.coin.blocks import NEEDS, Block
from triattn_core.views.coin.scales import Scales
from triattn_core.views.lib.map_mark import MapMark
from triattn_core.views.lib.tokens import map_labels


def marks(
    all_blocks: Sequence[Block | None], scales: Scales, axes: Mapping[str, Mapping[str, list]], cell: Sequence[int]
) -> tuple[MapMark, ...]:
    """axes: query and key as `lib.tokens` gives them.  cell: see `coin.figure`."""
    rows, columns = (map_labels(axes[axis]) for axis in NEEDS)
    made: list[MapMark] = []
    for i, block in enumerate(all_blocks):
        if block is None:
            continue
        maps = {"weight": block.weight, "without context": block.plain, "difference": block.changed}
        for j, (name, array) in enumerate(maps.items()):
            if array is not None:
                scale = scales.change if name == "difference" else scales.weight
                levels = scale.levels(array.values.astype(np.float32))  # in the browser it is of float32 too
                place = ((cell[0], cell[1]), (i, j))
                made.append(MapMark(f"block {i + 1}: {name}", NEEDS, rows, columns, levels, scale, *place))
    return tuple(made)
