"""A figure as docs/extending.md shows it: a map, its rows' entropy and their dendrogram, one file without a script."""

from __future__ import annotations

import numpy as np
import xarray as xr
from scipy.cluster.hierarchy import linkage, to_tree
from scipy.stats import entropy

from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.figure import Figure, strongest_cells
from triattn_core.views.lib.marks import Bars, Cells, Lines
from triattn_core.views.lib.palette import LogScale
from triattn_core.views.lib.panel import Panel, Values
from triattn_core.views.lib.readout import Case, Number, Readout, Row, Sentence
from triattn_core.views.lib.tokens import tokens

PAIR = ("query", "key")


def figure(weights: xr.DataArray, texts: dict[str, str]) -> Canvas:
    """The canvas of a map of weights [query, key] whose rows stand by likeness, with the tree that says how alike."""
    tree = linkage(weights.values, "average")
    order = to_tree(tree).pre_order()
    ordered = weights.isel(query=order)
    scale = LogScale.fit(ordered.values, ordered.sizes["key"])
    axes = {axis: tokens(ordered, texts, axis, np.arange(ordered.sizes[axis])) | {"ink": axis} for axis in PAIR}
    arrays = {
        "levels": Values(PAIR, scale.levels(ordered.values)),
        "weights": Values(PAIR, ordered.values),
        "entropy": Values(("query",), entropy(ordered.values, base=2, axis=1)),
        "tree": Values((), branches(tree, order)),
    }
    beside = [Bars("entropy", "right", "Entropy", ["bits"], printed="bits"), Lines("tree", "likeness of rows")]
    said = "{query} gives {weights:percent} of its weight to {key}."
    return Figure(
        title="Rows by likeness",
        alt=f"A map of {len(order)} rows, those that are alike beside each other.",
        texts=texts,
        axes=axes,
        counts={},
        cell=(0, 0),
        scales={"main": scale},
        panels=[Panel("Weights", *PAIR, Cells("levels", "main"), arrays, marks=beside)],
        readout=Readout(
            corner="{query:plain} to {key:plain}",
            columns=[("weight", "The share of the row's attention")],
            rows=[Row("{title}", 0, [Number("weights")])],
            sentences=[Sentence([Case(said)])],
            tip=[Sentence([Case("{query} to {key}: {weights}")])],
        ),
        walk=strongest_cells(ordered.values),
        keys=": another row up and down, another column left and right.",
        walks="The largest weights",
    ).canvas()


def branches(tree: np.ndarray, order: list[int]) -> np.ndarray:
    """[lines, 4]: from (across, row) to (across, row); a leaf stands at 0 in its row, the root at 1."""
    at = {leaf: (0.0, float(row)) for row, leaf in enumerate(order)}
    top, lines = float(tree[:, 2].max()) or 1.0, []
    for i, (left, right, height, _) in enumerate(tree):
        ends, across = (at[int(left)], at[int(right)]), float(height) / top
        lines += [(x, row, across, row) for x, row in ends] + [(across, ends[0][1], across, ends[1][1])]
        at[len(order) + i] = across, (ends[0][1] + ends[1][1]) / 2
    return np.array(lines, np.float32)
