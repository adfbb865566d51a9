"""The maps of similarity functions for print: in one row, passage words down, a colour bar each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from triattn_core.views.lib.map_mark import MapMark
from triattn_core.views.lib.palette import Scale
from triattn_core.views.lib.tokens import map_labels
from triattn_core.views.similarity.panels import FunctionPanel


def marks(
    panels: Sequence[FunctionPanel],
    levels: Sequence[np.ndarray],
    scales: Sequence[Scale],
    title: str,
    axes: Mapping[str, Mapping[str, list]],
    cell: Sequence[int],
) -> tuple[MapMark, ...]:
    """levels, scales: of each panel; levels are uint8 [query, key].  title: what all panels show.  axes: query and key
    as `lib.tokens` gives them."""
    rows, columns = (map_labels(axes[axis]) for axis in ("query", "key"))
    made = []
    for i, (panel, panel_levels, scale) in enumerate(zip(panels, levels, scales)):
        titled_scale = replace(scale, title=f"{panel.title}: {title}")
        place = ((cell[0], cell[1]), (0, i))
        made.append(MapMark(panel.title, ("query", "key"), rows, columns, panel_levels, titled_scale, *place))
    return tuple(made)
