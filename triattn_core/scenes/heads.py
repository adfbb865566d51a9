"""All heads of two-way attention as thumbnails, with their measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from triattn_core.scenes import scene
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import CellSettings
from triattn_core.sources.explanation import Explanation, Reader, read_tokens
from triattn_core.views import head_grid

Measure = Literal["entropy", "query_information", "context_information", "distance", "sink", "special"]


class Settings(CellSettings):
    """measure: below each thumbnail.  cell: layer and head that are framed, from 0."""

    measure: Measure = "query_information"


def build(explanations: Sequence[Explanation], settings: Settings, read: Reader = read_tokens) -> Scene:
    """The scene of the first; its table has a row for each head, counted from 1.  Raises TraceError: no two-way
    weights."""
    from triattn_core.analysis.maps.head_measures import head_table

    trace = explanations[0].trace
    table = head_table(trace)
    positions = (range(table["site"].nunique()), range(int(table["head"].max()) + 1))
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
