"""All heads of two-way attention as thumbnails, with their measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pandas as pd

from triattn_core.scenes import scene
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import CellSettings
from triattn_core.sources.explanation import Explanation, Reader, read_tokens
from triattn_core.trace.sites import drawn_sites, is_signed, map_array
from triattn_core.views import head_grid

Measure = Literal["entropy", "query_information", "context_information", "distance", "sink", "special"]


class Settings(CellSettings):
    """measure: below each thumbnail.  cell: layer and head that are framed, from 0."""

    measure: Measure = "query_information"


def build(explanations: Sequence[Explanation], settings: Settings, read: Reader = read_tokens) -> Scene:
    """The scene of the first; its table has a row for each head of weights, counted from 1.  Raises TraceError: no
    two-way attention."""
    from triattn_core.analysis.maps.head_measures import MEASURES, head_table

    trace = explanations[0].trace
    sites = drawn_sites(trace)
    none = pd.DataFrame(columns=["site", "layer", "head", *MEASURES])
    table = none if all(map(is_signed, sites)) else head_table(trace)
    positions = (range(len(sites)), range(max(map_array(trace, site).sizes.get("head", 1) for site in sites)))
    cell = scene.valid_cell(settings.cell, positions, (0, 0))
    return Scene(
        settings=settings.model_copy(update={"cell": cell}),
        draw=lambda: {"heads": head_grid.figure(trace, table, settings.measure, cell)},
        tabulate=lambda: table.assign(layer=table["layer"] + 1, head=table["head"] + 1),
        trace=trace,
        explanations=explanations,
        screen=head_grid.figure(trace, table, settings.measure, (0, 0)),
        axes=positions,
    )
