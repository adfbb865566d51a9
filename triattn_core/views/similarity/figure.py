"""Similarity: what functions of the QA study make of one passage and question (the T-trilinear paper, Figure 8).

Question words stand across, passage words down: a few rows around the chosen one can be read, the rest are thin.
Beside the maps each word's probability to start and to end the answer.  What is sent are levels of 256; the exact
numbers of a chosen cell follow as `blocks`, and an offline file has them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import shorten

import numpy as np

from triattn_core.errors import InputError
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.figure import Figure, Grid, strongest_cells
from triattn_core.views.lib.reading import Above, Blocks
from triattn_core.views.lib.tokens import tokens
from triattn_core.views.similarity.function_panels import panel, readout
from triattn_core.views.similarity.panels import SCALES, FunctionPanel, first_cell, scales
from triattn_core.views.similarity.sentences import PARTS, alt, describe_flow, fold_notes
from triattn_core.views.similarity.terms import blocks

MOST = 4  # functions side by side
CORNERS = ("terms of {query} × {key}", "the cell {query} × {key}")  # of blocks; where words are joined
KEYS = (
    ": another passage word up and down, another question word left and right. A click in a map chooses its function."
)


def figure(
    panels: Sequence[FunctionPanel],
    quantity: str = "relevance",
    shared: bool = False,
    cell: Sequence[int] | None = None,
    caption: str = "",
    facts: Sequence[Mapping] | None = None,
    exact: bool = False,
    counted: str = "",
) -> Canvas:
    """The canvas.  cell: (passage word, question word, panel) that is chosen at first; counted: of the passage's words.

    facts: of each panel what `span_decoding.cell_facts` says of that cell.  exact: send all numbers, for a file that
    stands alone.  Raises InputError where the panels are not of the same words.
    """
    first = panels[0].values_of(quantity)
    if any(one.values_of(quantity).shape != first.shape for one in panels):
        raise InputError("These readers cut the passage in different places: choose those with the same max_tokens.")
    texts, count, one_scale = dict(panels[0].trace.texts), len(panels), shared or len(panels) == 1
    title = SCALES[quantity] + (", one scale" if shared and count > 1 else "")
    fitted = [replace(scale, title=title) for scale in scales(panels, quantity, shared)]
    names = ["main" if one_scale else str(i) for i in range(count)]
    levels = [scale.levels(one.values_of(quantity).values) for one, scale in zip(panels, fitted)]
    folded = any(fold_notes([one], "weight") for one in panels)
    return Figure(
        title=shorten(texts["question"], 90, placeholder=" …"),
        alt=alt(panels),
        texts=texts,
        axes={axis: tokens(first, texts, axis, np.arange(first.sizes[axis])) | {"ink": axis} for axis in PARTS},
        counts={"function": count},
        cell=tuple(cell or first_cell(panels)),
        scales=dict(zip(names, fitted)),
        panels=[
            panel(one, i, count, quantity, levels[i], name, exact) for i, (one, name) in enumerate(zip(panels, names))
        ],
        readout=readout(exact),
        walk=[(query, key, index) for index, query, key in strongest_cells(np.stack(levels))],
        keys=KEYS,
        walks="The highest of all functions, each on its scale",
        grid=_grid(folded),
        caption=caption,
        notes=" ".join(filter(None, (describe_flow(panels, quantity), fold_notes(panels, quantity)))),
        above=Above("passage", counted),
        blocks=Blocks(CORNERS[folded], blocks(panels, facts or (), quantity)),
    ).canvas()


def _grid(folded: bool) -> Grid:
    """Room for words, and for a few rows that can be read."""
    names = (88, 200 if folded else 112)
    return Grid(least=120, widest=420, cell=(34, 180), row=(15, 15, 0), labels=names, gutter=24, focus=(17, 210))
