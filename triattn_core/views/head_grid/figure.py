"""All heads of a trace at once: a thumbnail each, layers down and heads across, on one scale; a click chooses a head.

What is sent is levels alone: of a long text a thumbnail shows the largest weight of each block of cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from triattn_core.trace import AttentionTrace
from triattn_core.views.head_grid.grid import MEASURE_NAMES, Grid
from triattn_core.views.lib import figure as described
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.figure import strongest_cells
from triattn_core.views.lib.marks import Thumbs
from triattn_core.views.lib.palette import Scale
from triattn_core.views.lib.panel import Panel, Values
from triattn_core.views.lib.readout import Case, Number, Readout, Row, Sentence
from triattn_core.views.lib.tokens import cell_axes, named_axis

OPENS = "query_information"  # the measure below each thumbnail, where nothing else is chosen
SHORT = {"query_information": "query (bits)", "context_information": "context (bits)"}  # in a strip
NAMES = 92  # pixels of the names at the left of a strip
LARGEST, LOW, HIGH, MANY = 60, 28, 44, 3  # pixels of a thumbnail of a strip: low where it has MANY rows
POOLED = "Of a text this long, a thumbnail shows the largest number of each block."
HEAD = ("layer", "head")


def strip(trace: AttentionTrace, measures: pd.DataFrame, rows: Sequence[str] = ()) -> Canvas:
    """The same small, to stand above another figure: query and context information below each thumbnail.

    rows: what the rows are called, where they are no layers.  See `figure`.
    """
    grid = Grid.of(trace, measures)
    names = list(rows) or [_row_name(title) for title in grid.titles]
    below = [name for name in SHORT if name in grid.values]
    small = {"names": tuple(SHORT[name] for name in below), "largest": (LARGEST, LOW if len(names) >= MANY else HIGH)}
    panel = _panel(grid, below, **small)
    drawn = _describe(trace, measures, grid, grid.measure(OPENS), names, panel, "{layer:plain}, head {head:plain}")
    drawn = replace(drawn, cell=(0, 0), strip=True, grid=described.Grid(labels=(NAMES, NAMES)))
    return replace(drawn.canvas(), height=100, cell=(), axes=(), maps=None)


def figure(trace: AttentionTrace, measures: pd.DataFrame, measure: str = OPENS, cell: Sequence[int] = (0, 0)) -> Canvas:
    """The canvas of all heads.

    measures: a row a head, as `head_measures.head_table` has it; measure: of MEASURE_NAMES, which stands below each
    thumbnail.  cell: place of the layer among the layers of the trace, and head, from 0.  Raises TraceError where there
    are no weights over query and key.
    """
    grid = Grid.of(trace, measures)
    measure = grid.measure(measure)
    name = "Layer {layer:plain}, head {head:plain}" if len(grid.sites) > 1 else "Head {head:plain}"
    drawn = _describe(trace, measures, grid, measure, grid.titles, _panel(grid, [measure]), name)
    said = ("Below each map:", MEASURE_NAMES[measure][0])
    drawn = replace(drawn, cell=(int(cell[0]), int(cell[1])), scale_lines=said, notes=POOLED * grid.pooled)
    return replace(drawn.canvas(), height=620, axes=cell_axes({}, drawn.sizes))


def _row_name(title: str) -> str:
    """What a row of a strip is called, which has room for some twelve letters: `1 encoder` stands for itself."""
    return "heads" if not title else title if " " in title else f"layer {title}"


def _describe(
    trace: AttentionTrace,
    measures: pd.DataFrame,
    grid: Grid,
    measure: str,
    rows: Sequence[str],
    panel: Panel,
    name: str,
) -> described.Figure:
    """The description.  rows: what they are called.  name: of the chosen head, a template."""
    title = MEASURE_NAMES[measure][0]
    heads = [str(i + 1) for i in range(grid.heads)]
    return described.Figure(
        title=f"All heads: {trace.meta.get('checkpoint', '')}",
        alt=_alt(measures, measure, len(grid.sites), grid.heads),
        texts=dict(trace.texts),
        axes={axis: named_axis(names) | {"ink": "accent"} for axis, names in zip(HEAD, (rows, heads))},
        counts={},
        cell=(0, 0),
        scales=dict(sorted(zip(map(_scale_name, grid.scales), grid.scales))),
        panels=[panel],
        readout=_readout(grid, name),
        walk=strongest_cells(grid.values[measure]),
        keys=": another layer up and down, another head left and right.",
        walks=f"Heads by {title}, the largest first",
        grid=described.Grid(labels=(22, NAMES)),
        caption=str(trace.meta.get("checkpoint", "")),
        mark=f"even 1/{grid.keys}" if grid.keys_agree else "",
    )


def _panel(grid: Grid, below: Sequence[str], **small: Any) -> Panel:
    """The thumbnails.  below: the measures below each."""
    levels = {f"levels {row}": Values((), thumbs) for row, thumbs in enumerate(grid.levels)}
    shapes = [thumbs.shape[1:] for thumbs in grid.levels]
    down, across = (tuple(int(shape[axis]) for shape in shapes) for axis in (0, 1))
    scales = list(map(_scale_name, grid.scales))
    own_scales = tuple(scales) if len(set(scales)) > 1 else ()
    gaps = tuple(grid.missing) if any(grid.missing) else ()
    return Panel(
        "",
        *HEAD,
        Thumbs(tuple(levels), scales[0], down, across, below=tuple(below), gaps=gaps, scales=own_scales, **small),
        levels | {name: Values(HEAD, values.astype(np.float32)) for name, values in grid.values.items()},
    )


def _scale_name(scale: Scale) -> str:
    """`main`, of weights, or `signed`."""
    return "main" if scale.kind == "log" else scale.kind


def _readout(grid: Grid, name: str) -> Readout:
    """Every known measure of the chosen head."""
    says = [MEASURE_NAMES[measure] for measure in grid.values]
    lines = [
        Sentence([Case("", when=measure, equals=None), Case(f"{title} {{{measure}}}")])
        for measure, (title, _) in zip(grid.values, says)
    ]
    return Readout(
        corner="",
        columns=says,
        rows=[Row(name, 0, [Number(measure) for measure in grid.values])],
        sentences=[],
        tip=[Sentence([Case(name)]), *lines],
    )


def _alt(measures: pd.DataFrame, measure: str, layers: int, heads: int) -> str:
    """What the figure shows in words: how many heads, and those with the most and the least of the measure."""
    name = MEASURE_NAMES[measure][0]
    order = measures.dropna(subset=[measure]).sort_values(measure)
    by_layer = measures.groupby("site")["head"].nunique()  # pruned heads leave layers with fewer
    fewest = int(by_layer.min()) if len(by_layer) else heads
    count = str(heads) if fewest == heads else f"{fewest} to {heads}"
    size = f"{layers} layer{'s' * (layers > 1)} of {count} head{'s' * (heads > 1)}"
    if order.empty:
        return f"Maps of query × key of {size}, without any weight."
    ends = [f"{_head(row, layers)}, {row[measure]:.3g}" for row in (order.iloc[-1], order.iloc[0])]
    return f"Maps of query × key of {size}. {name.capitalize()}: most in {ends[0]}; least in {ends[1]}."


def _head(row: pd.Series, layers: int) -> str:
    layer = f"layer {int(row['layer']) + 1}, " if layers > 1 else ""
    return f"{layer}head {int(row['head']) + 1}"
