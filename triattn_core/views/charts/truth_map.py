"""The weights of a laboratory model with the true cells outlined.

Every mechanism is drawn in one frame, keys down and context tokens across, so that one sees what each of them has a
cell for: Tri-Attention one for each pair; two-way attention only margins, one for each key and one for each context
token, and none for a pair.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from triattn_core.views.charts.grids import with_style
from triattn_core.views.lib.palette import SEQUENTIAL, THEMES

ACROSS, DOWN = 42, 30  # pixels of a cell
PRINTED = 0.1  # weights from which on the number is printed in the cell
LETTER, LABEL = 7, 180  # pixels of a letter, about, and of the longest label
MARGIN = "alone"  # what the margins are called on the axes
TRUE = "carries the answer"  # what is outlined


def cells(weights: np.ndarray, keys: Sequence[str], context: Sequence[str], truth: np.ndarray) -> pd.DataFrame:
    """A row for each cell: place, tokens, weight and whether it is true.

    weights, truth: [I, J], or of two-way attention [I], or [1 + I + J] over query, keys and context.  Margins stand in
    row I and column J, the query's own cell where they meet.
    """
    size, width = len(keys), len(context)
    if weights.ndim == 2:
        places = [(i, j) for i in range(size) for j in range(width)]
    elif len(weights) == size:
        places = [(i, width) for i in range(size)]
    else:
        places = [(size, width), *((i, width) for i in range(size)), *((size, j) for j in range(width))]
    names = [*keys, MARGIN], [*context, MARGIN]
    rows = [
        {"key": i, "context": j, "key_token": names[0][i], "context_token": names[1][j], "weight": w, "true": t}
        for (i, j), w, t in zip(places, weights.ravel().tolist(), truth.ravel().tolist())
    ]
    return pd.DataFrame(rows)


def figure(
    weights: np.ndarray,
    keys: Sequence[str],
    context: Sequence[str],
    truth: np.ndarray,
    theme: str = "light",
    outlined: str = TRUE,
    alone: bool = True,
) -> alt.LayerChart:
    """The map; arguments as of `cells`.

    outlined: what is true of the cells in `truth`.  alone: keep room for the margins, where there are none too, so that
    maps of all mechanisms stand in one frame.
    """
    rows, palette = cells(weights, keys, context, truth), THEMES[theme]
    margins = [len(names) in rows[axis].values for axis, names in (("context", context), ("key", keys))]
    x = _axis(alt.X, "context", _names(context, margins[0], alone), orient="top", labelAngle=-40,
              minExtent=int(0.64 * _extent(context)) + 10)  # fmt: skip
    y = _axis(alt.Y, "key", _names(keys, margins[1], alone), minExtent=_extent(keys))
    scale = alt.Scale(type="sqrt", domain=[0, 1], range=SEQUENTIAL[theme], clamp=True, interpolate="lab")
    colour = alt.Color("weight:Q", scale=scale, legend=None)
    tips = [
        alt.Tooltip("key_token:N", title="key"),
        alt.Tooltip("context_token:N", title="context"),
        alt.Tooltip("weight:Q", format=".3f"),
        alt.Tooltip("true:N", title=outlined),
    ]
    base = alt.Chart(rows).encode(x, y, tooltip=tips)
    grid = alt.Chart(_frame(len(keys), len(context))).encode(x, y, tooltip=alt.value(None))
    layers = [
        grid.mark_rect(fill=palette["faint"], stroke=palette["page"], strokeWidth=2, opacity=0.6),
        base.mark_rect(stroke=palette["page"], strokeWidth=2).encode(colour),
        base.transform_filter("datum.true").mark_rect(
            fillOpacity=0, stroke=palette["key"], strokeWidth=3, cornerRadius=3
        ),
        base.transform_filter(f"datum.weight >= {PRINTED}")
        .mark_text(fontSize=11.5)
        .encode(
            text=alt.Text("weight:Q", format=".2f"),
            color=alt.condition("datum.weight > 0.3", alt.value(palette["page"]), alt.value(palette["text"])),
        ),
    ]
    return with_style(alt.layer(*layers).properties(width=alt.Step(ACROSS), height=alt.Step(DOWN)), theme)


def legend(theme: str = "light", outlined: str = TRUE) -> str:
    """HTML: what the colours mean, and the outline."""
    colours = ", ".join(SEQUENTIAL[theme])
    bar = f'<i class="t-weight-ramp" style="background: linear-gradient(90deg, {colours})"></i>'
    outline = f'<i class="t-true-cell" style="border-color: {THEMES[theme]["key"]}"></i>'
    return f"weight: 0 {bar} 1, square-root scale; numbers from {PRINTED} on {outline} {outlined}"


def width(keys: Sequence[str], context: Sequence[str], alone: bool = True) -> int:
    """Pixels that a figure takes with its labels, those across being slanted; arguments as of `figure`."""
    return ACROSS * (len(context) + alone) + _extent(keys) + int(0.77 * _extent(context))


def _extent(names: Sequence[str]) -> int:
    """Pixels that labels take, the same for every mechanism."""
    return min(LABEL, LETTER * max(map(len, (*names, MARGIN))))


def _frame(keys: int, context: int) -> pd.DataFrame:
    """The cells of pairs, drawn empty behind the weights."""
    return pd.DataFrame([{"key": i, "context": j} for i in range(keys) for j in range(context)])


def _names(tokens: Sequence[str], margin: bool, alone: bool) -> list[str]:
    """What stands along an axis: the tokens, and the margin, whose place may be kept without a name."""
    return [*tokens, MARGIN if margin else ""] if margin or alone else list(tokens)


def _axis(kind: type, name: str, names: Sequence[str], **axis_options) -> alt.X | alt.Y:
    labels = f"({json.dumps(names)})[datum.value]"
    ticks = alt.Axis(labelExpr=labels, ticks=False, domain=False, labelOverlap=False, **axis_options)
    scale = alt.Scale(domain=list(range(len(names))), paddingInner=0, paddingOuter=0)
    return kind(f"{name}:O", title=None, axis=ticks, scale=scale)


def describe(measures: Mapping[str, float], true: str = "the truth") -> str:
    """A sentence: how much weight lies on the truth, and how many times an even share of the model's weights that is.

    measures: of `analysis.truth`, empty where no cell is true.  true: what the true cells are called.
    """
    if not measures:
        return "No cell is true: there is nothing to find."
    share, times, even = (measures[name] for name in ("mass", "mass_over_even", "even_share"))
    return f"{100 * share:.0f}\u202f% of its weight lies on {true}: {times:.2g}\u202f× even ({100 * even:.1f}\u202f%)."
