"""The maps of side by side for print: in one row, their difference below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from triattn_core.views.lib.map_mark import MapMark
from triattn_core.views.lib.palette import Scale
from triattn_core.views.lib.tokens import map_labels
from triattn_core.views.side_by_side.panels import Panel, panel_titles
from triattn_core.views.side_by_side.scales import Difference


def share(panel: Panel) -> str:
    """The probability of what a panel's model says; empty where it says nothing."""
    return f"{panel.probability:.3f}" if panel.label else ""


def marks(
    panels: Sequence[Panel],
    levels: Sequence[np.ndarray],
    scale: Scale,
    difference: Difference | None,
    axes: Mapping[str, Mapping[str, list]],
    cell: tuple[int, int],
) -> tuple[MapMark, ...]:
    """levels: of each panel uint8 [query, key] on the scale.  axes: query and key as `lib.tokens` gives them."""
    sides = (("query", "key"), map_labels(axes["query"]), map_labels(axes["key"]))
    made = [
        MapMark(
            title,
            *sides,
            panel_levels,
            scale,
            cell,
            (0, i),
            ~np.isfinite(panel.map_values.values),
            answer=", ".join(filter(None, (panel.label, share(panel)))),
            score=panel.score,
            mechanism=panel.mechanism,
        )
        for i, (title, panel, panel_levels) in enumerate(zip(panel_titles(panels), panels, levels))
    ]
    if difference is not None:
        masked, colours = np.isnan(difference.values.values), (difference.levels, difference.scale)
        made.append(MapMark(difference.title, *sides, *colours, cell, (1, 0), masked, difference.within))
    return tuple(made)
