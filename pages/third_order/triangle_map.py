"""Triangle attention on a row whose tokens are pairs: a map of pairs × third nodes, each row with its own softmax."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape

import streamlit as st

from pages.shared import figures, style
from pages.shared.models import MODELS
from triattn_core.analysis.truth import triangle_truth
from triattn_core.checkpoint.registry import Entry
from triattn_core.results.third_order import TRIANGLE
from triattn_core.tasks.laboratory import Example, LaboratoryTask
from triattn_core.trace.site import Site
from triattn_core.views.charts import score_maps

GRID = Site(layer=0, role="triangle", quantity="weight")


def show(entry: Entry, row: Example, task: LaboratoryTask, width: int) -> tuple[Callable, str]:
    """Shows what the pairs from the first node give each third node; the row of the pair asked for is marked.

    Returns what draws it in a theme and a width, and the sentence below it.
    """
    explanation = MODELS.explain(entry, row)
    start, end = task.ends(row.query)
    cube = explanation.trace.site(GRID).mean("head").values  # [from, to, third node]
    weights, truth = cube[start], triangle_truth(row, task)
    cell = end, int(weights[end].argmax())
    maps = [score_maps.ScoreMap(TRIANGLE.label, weights, each_row=True)]
    draw = partial(score_maps.figure, maps, task.NODES, task.NODES, truth, cell)
    prediction = explanation.prediction
    right = "" if row.label is None else " ✓" if prediction.best == row.label else " ✗"
    share = f"{weights[truth].sum():.0%}" if truth.any() else "none"
    sentence = (
        f"Triangle attention has no map of key and context: rows are pairs from {task.NODES[start]} to each city, "
        f"columns the cities where one may change, and each row is a softmax of its own. From {row.query}, the one row "
        f"that training asks for: {share} of the weight on the true change. It answers "
        f"{prediction.labels[prediction.best]}{right}."
    )
    figures.show(draw(width=width, theme=style.theme()), sentence, "triangle-map", width="content")
    figures.note(sentence)
    st.html(f'<p class="t-note">{TRIANGLE.equation}: {escape(TRIANGLE.source)}.</p>')
    return draw, sentence
