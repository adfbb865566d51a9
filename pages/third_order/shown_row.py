"""A row with the maps of the chosen scores, the terms of a cell, and what can be taken away."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.laboratory import row_input
from pages.shared import figures, style
from pages.shared.errors import report_errors
from pages.third_order import cell_terms, export, pickers, triangle_map
from triattn_core.analysis.truth import truth_mask
from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes.printing import third_order_table
from triattn_core.tasks.laboratory import Example, LaboratoryTask
from triattn_core.views.charts import score_maps

LEGEND = (
    "Framed: the cells whose weights add up to 1 (Σ 1), here all of a map. Bars are sums over rows and columns. "
    "Outlined: the true cells; dashed: the cell written out below."
)


def show(row: Example, task: LaboratoryTask, models: Sequence[Entry], beside: DeltaGenerator) -> None:
    """Shows the row; beside: where the Export button stands.  Raises TriattnError where a model does not know it."""
    said, truth = task.say(row), row_input.truth(task, row)
    question, mark, _ = said.partition("? ")  # the fields say the rest
    st.html(f'<p class="t-truth">{escape(question + mark)}<b>{escape(truth)}</b></p>')
    if not models:
        st.info("Choose at least one score.")
        return
    triangles = [entry for entry in models if pickers.is_triangle(entry)]
    cubes = [entry for entry in models if entry not in triangles]
    figure_place, saved = st.container(), list[export.Saved]()
    if cubes:
        saved.append(_maps(row, task, cubes, figure_place))
    for entry in triangles:
        with figure_place, report_errors():
            shown = triangle_map.show(entry, row, task, pickers.WIDTH)
            saved.append(export.Saved("Map of triangle", "triangle", *shown))
    names = [(pickers.score(entry).name, entry.name) for entry in models]
    with beside:
        export.menu(saved, third_order_table.caption(f"{said} {truth}", names))


def _maps(row: Example, task: LaboratoryTask, models: Sequence[Entry], figure_place: DeltaGenerator) -> export.Saved:
    """Shows the maps of key and context, and below them the terms of a cell."""
    found = [cell_terms.of(entry, row) for entry in models]
    maps = [score_maps.ScoreMap(pickers.score(entry).label, part.weights[0]) for entry, part in zip(models, found)]
    truth = truth_mask(row, maps[0].weights.shape)
    cell = pickers.cell(row, [map_.weights for map_ in maps])
    draw = partial(score_maps.figure, maps, row.keys, row.context, truth, cell)
    sentence = score_maps.describe(maps, truth)
    with figure_place:
        figures.show(draw(width=pickers.WIDTH, theme=style.theme()), sentence, "score-maps", width="content")
        figures.folded("How to read the maps", LEGEND)
    cell_terms.table(models, found, row, task, cell, truth)
    return export.Saved("Figure", "third-order", draw, sentence)
