"""Similarity: what functions of the QA study make of one passage and question (the T-trilinear paper, Figure 8).

Question words stand across, passage words down: a few rows around the chosen one can be read, the rest are thin.
Beside the maps each word's probability to start and to end the answer.  What is sent are levels of 256; the exact
numbers of a chosen cell follow as `facts`, and an offline file has them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import Any

import numpy as np

from triattn_core.errors import InputError
from triattn_core.views.lib.canvas import Canvas, script, style
from triattn_core.views.lib.palette import Scale, pack, scale_payload
from triattn_core.views.lib.payload import map_payload
from triattn_core.views.lib.tokens import cell_axes, tokens
from triattn_core.views.similarity.marks import marks
from triattn_core.views.similarity.panels import OVER_PASSAGE, SCALES, FunctionPanel, first_cell, scales
from triattn_core.views.similarity.sentences import alt, describe_flow, fold_notes

MOST = 4  # functions side by side
SCRIPT = "similarity/similarity.js"
STYLE = ("lib/map_figure.css", "lib/linked_maps.css", "similarity/similarity.css")


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
    if any(panel.values_of(quantity).shape != first.shape for panel in panels):
        raise InputError("These readers cut the passage in different places: choose those with the same max_tokens.")
    texts, panel_scales = dict(panels[0].trace.texts), scales(panels, quantity, shared)
    levels = [scale.levels(panel.values_of(quantity).values) for panel, scale in zip(panels, panel_scales)]
    axes = {axis: tokens(first, texts, axis, np.arange(first.sizes[axis])) for axis in ("query", "key")}
    title = SCALES[quantity] + (", one scale" if shared and len(panels) > 1 else "")
    start_cell = tuple(cell or first_cell(panels))
    payload = map_payload(texts, axes, start_cell, caption) | {
        "quantity": quantity,
        "title": title,
        "panels": [_panel(*parts, exact) for parts in zip(panels, panel_scales, levels)],
        "counted": counted,
        "facts": list(facts or ()),
        "notes": fold_notes(panels, quantity),
        "folded": any(fold_notes([panel], "weight") for panel in panels),
        "flow": describe_flow(panels, quantity),
        "alt": alt(panels),
    }
    return Canvas(
        payload,
        script(SCRIPT),
        style(*STYLE),
        shorten(texts["question"], 90, placeholder=" …"),
        payload["alt"],
        caption=caption,
        texts=texts,
        cell=start_cell,
        axes=cell_axes(axes, {"function": len(panels)}),
        maps=marks(panels, levels, panel_scales, title, axes, start_cell),
    )


def _panel(panel: FunctionPanel, scale: Scale, levels: np.ndarray, exact: bool) -> dict:
    payload: dict[str, Any] = {
        "title": panel.title,
        "spans": [list(span) for span in panel.spans],
        "right": panel.right,
    }
    payload |= {"elsewhere": panel.elsewhere, "one_for_all": panel.is_one_for_all, "levels": pack(levels)}
    payload["scale"] = {**scale_payload(scale), "title": ""}
    for end in ("start", "end"):
        payload[end] = pack(panel.end(end).values.astype(np.float32))
    if exact:
        names = ["relevance", "weight", *([OVER_PASSAGE] if panel.has_over_passage else [])]
        payload |= {name: pack(panel.values_of(name).values.astype(np.float32)) for name in names}
    return payload
