"""The strongest cells as points in space: never all of them, and always with the share of the mass that they hold."""

from __future__ import annotations

from html import escape

import numpy as np
import plotly.graph_objects as go

from triattn_core.trace import AttentionTrace
from triattn_core.trace.axis_labels import axis_labels
from triattn_core.trace.distribution import Distribution
from triattn_core.views.lib.palette import DIVERGING, FONTS, SEQUENTIAL, THEMES, LogScale, SignedScale, ramp
from triattn_core.views.lib.strongest import labels, shown_array, strongest, visible

TITLE = "The strongest cells in 3-D"
NEEDS = ("query", "key", "context")
CAMERA = {"eye": {"x": 1.2, "y": -1.6, "z": 0.7}, "center": {"z": -0.12}}
AXES = {"x": "key", "y": "context", "z": "query"}


def figure(shown: Distribution, *, hide_special: bool = False, theme: str = "light", n: int = 400) -> go.Figure:
    """The `n` strongest cells of a cube: key to the right, context into the depth, query downwards.

    Tokens are axis labels; positions are what is drawn, since sentences repeat words.
    """
    array = shown_array(shown, NEEDS)
    rows, colours = strongest(shown, n, hide_special), THEMES[theme]
    quantity = array.attrs["quantity"]
    values = rows[quantity].to_numpy(float)
    scale = LogScale.fit(array.values, shown.size) if quantity == "weight" else SignedScale.of(array.values)
    stops, level = (SEQUENTIAL if quantity == "weight" else DIVERGING)[theme], scale.levels(values)
    table = ramp(stops, scale.steps)
    marker = {
        "size": 4 + 12 * np.sqrt(np.abs(values) / max(np.abs(values).max(initial=0), 1e-30)),
        "color": ["rgb({},{},{})".format(*table[i]) for i in level],
        "line": {"width": 1, "color": colours["bar"]},
    }
    # Plotly reads a little HTML in what it shows on hover: tokens are escaped.
    words = [[escape(str(word)) for word in rows[axis]] for axis in NEEDS]
    hover = [f"{q} × {k} × {c}<br>{quantity} {v:.3g}" for q, k, c, v in zip(*words, values)]
    places = {letter: rows[f"{axis}_at"].to_numpy() for letter, axis in AXES.items()}
    points = go.Scatter3d(**places, mode="markers", marker=marker, text=hover, hoverinfo="text")
    positions = visible(array, hide_special)
    scene = {
        f"{letter}axis": _axis(array, shown.trace, axis, positions[axis], colours) for letter, axis in AXES.items()
    }
    return go.Figure(points, _layout(title(rows, array.isel(positions).size, hide_special), scene, colours))


def describe(shown: Distribution, *, hide_special: bool = False, n: int = 400) -> str:
    """A sentence: what is drawn of the cells, and the strongest of them."""
    array, rows = shown_array(shown, NEEDS), strongest(shown, n, hide_special)
    size, first = array.isel(visible(array, hide_special)).size, rows.iloc[0]
    words = " × ".join(f"“{first[axis]}”" for axis in NEEDS)
    return f"{title(rows, size, hide_special)} The first is {words}, {array.attrs['quantity']} " + (
        f"{first[array.attrs['quantity']]:.3g}.".replace("-", "\u2212")
    )


def title(rows, size: int, hidden: bool) -> str:
    """How many of the shown cells are drawn, what they hold of the whole mass, and whether something is hidden."""
    held = rows["share"].sum() if rows["share"].notna().all() else None
    tail = f" They hold {100 * held:.3g} % of the mass." if held is not None else ""
    tail += " Special tokens are hidden." if hidden else ""
    return f"The {len(rows):,} strongest of {size:,} cells.{tail}"


def _axis(array, trace: AttentionTrace, axis: str, positions: np.ndarray, colours: dict[str, str]) -> dict:
    names = labels(array, dict(trace.texts), axis)
    kept = positions[:: max(1, -(-len(positions) // 12))]
    ends = [positions[0] - 0.7, positions[-1] + 0.7]
    return {
        "title": {"text": escape(axis_labels(trace)[axis]), "font": {"color": colours[axis], "size": 14}},
        "tickvals": kept,
        # Tick texts in 3-D know tags but no entities: a space of no width keeps "<" from opening one.
        "ticktext": [names[i][:14].replace("<", "<\u200b") for i in kept],
        "range": ends[::-1] if axis == "query" else ends,
        "backgroundcolor": colours["page"],
        "gridcolor": colours["hairline"],
        "zeroline": False,
        "showspikes": False,
    }


def _layout(text: str, scene: dict, colours: dict[str, str]) -> dict:
    return {
        "title": {"text": text, "font": {"size": 14}, "x": 0, "xref": "paper"},
        "scene": {**scene, "aspectmode": "cube", "camera": CAMERA},
        "font": {"family": FONTS, "size": 12, "color": colours["text"]},
        "paper_bgcolor": colours["page"],
        "margin": {"l": 0, "r": 0, "t": 34, "b": 0},
        "height": 560,
        "showlegend": False,
    }
