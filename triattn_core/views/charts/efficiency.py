"""Memory and time against the length of the text, a line a block, as Figure 1 of "Tensorized Self-Attention"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from triattn_core.views.charts.axis_style import style_axes
from triattn_core.views.charts.line_labels import draw_labels, place_labels
from triattn_core.views.lib.palette import THEMES

DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
MANY = 1e4  # of an axis that spans more, only powers of ten are labelled
ROOM = 0.03  # beside the first and the last length, as a share of the axis
WIDTH, HEIGHT = 560, 380  # a page may draw it narrower
AXIS = 63  # pixels of the height that title and axis take
PADDING = {"left": 0, "top": 4, "right": 100, "bottom": 4}  # right: the names at the ends of lines
PANELS = {"memory": ("(a) Memory, MB", 1e-6), "seconds": ("(b) Time, ms", 1e3)}


def _ticks(low: float, high: float, log: bool) -> list[float]:
    """1, 2 and 5 of each power of ten, from below the least value to above the most; linear: even steps from 0."""
    powers = range(math.floor(math.log10(low)) - 1, math.floor(math.log10(high)) + 2)
    if log:
        candidates = [digit * 10.0**power for power in powers for digit in ((1,) if high / low > MANY else (1, 2, 5))]
        first, last = max(tick for tick in candidates if tick < low), min(tick for tick in candidates if tick > high)
        return [tick for tick in candidates if first <= tick <= last]
    step = min(digit * 10.0**power for power in powers for digit in (1, 2, 5) if digit * 10.0**power >= high / 5)
    return [step * i for i in range(math.floor(high / step) + 2)]


def _lengthwise(lengths: list[int], log: bool) -> list[float]:
    """The first and the last length with a little room beside them, so that no point stands on the frame."""
    low, high = lengths[0], lengths[-1]
    if log:
        room = (high / low) ** ROOM if high > low else 2**ROOM
        return [low / room, high * room]
    room = max(ROOM * (high - low), 1.0)
    return [low - room, high + room]


def describe(points: pd.DataFrame) -> str:
    """A sentence: at the longest text that all blocks have, which takes least and most time and memory."""
    counts = points.dropna(subset=["seconds"]).groupby("tokens")["name"].nunique()
    tokens = int(counts[counts == counts.max()].index.max())
    sentences = []
    for column, (title, unit) in reversed(PANELS.items()):
        measured = points[points.tokens == tokens].dropna(subset=[column]).sort_values(column)
        quantity, measure = title[4:].lower().split(", ")[0], title.split(", ")[1]
        ends = [(row["name"], f"{_short(row[column] * unit)} {measure}") for _, row in measured.iterrows()]
        if len(ends) == 1:
            sentences.append("{} takes {}".format(*ends[0]))
        elif ends:
            sentences.append(
                "{} takes the least {what} ({}) and {} the most ({})".format(*ends[0], *ends[-1], what=quantity)
            )
    return f"At {tokens} tokens {'; '.join(sentences)}."


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def figure(
    points: pd.DataFrame,
    families: Mapping[str, str],
    column: str,
    log: bool = True,
    theme: str = "light",
) -> alt.LayerChart | None:
    """points: rows `name, tokens, seconds, memory`, of which `column` is drawn; None where none has it.

    families: of each name that of its colour in the palette; those of one differ in their dash.
    """
    palette, dashes, names = THEMES[theme], {}, list(families)
    title, unit = PANELS[column]
    for i, name in enumerate(names):
        dashes[name] = DASHES[[families[name] for name in names[:i]].count(families[name]) % len(DASHES)]
    rows = points.assign(value=points[column].astype(float) * unit)
    rows = rows[rows.value > 0]
    if rows.empty:
        return None
    kind: dict[str, Any] = {"type": "log" if log else "linear", "nice": False}
    lengths = sorted(rows.tokens.unique().tolist())
    ticks = _ticks(float(rows.value.min()), float(rows.value.max()), log)
    lengthwise = alt.Scale(domain=_lengthwise(lengths, log), **kind, base=2 if log else alt.Undefined)
    along = alt.Axis(values=lengths, format=",d", labelOverlap="greedy", grid=False)
    x = alt.X("tokens:Q", title="tokens", scale=lengthwise, axis=along)
    scale = alt.Scale(domain=[ticks[0], ticks[-1]], **kind)
    y = alt.Y("value:Q", title=None, axis=alt.Axis(values=ticks, format=",~r"), scale=scale)
    colours = alt.Scale(domain=names, range=[palette[families[name]] for name in names])
    dash = alt.StrokeDash("name:N", legend=None, scale=alt.Scale(domain=names, range=[dashes[n] for n in names]))
    tips: list[Any] = ["name:N", "tokens:Q", alt.Tooltip("value:Q", format=".3~g", title=title)]
    base = alt.Chart(rows).encode(x, y, alt.Color("name:N", legend=None, scale=colours), tooltip=tips)
    line_width = alt.condition("datum.name == 'MTSA'", alt.value(3), alt.value(1.5))
    layers = [base.mark_line().encode(dash, strokeWidth=line_width), base.mark_point(size=26, filled=True, opacity=1)]
    ends = rows.groupby("name", sort=False).tail(1)
    ends = ends.assign(colour=[palette[families[name]] for name in ends["name"]])
    placed = place_labels(ends, "tokens", "value", (ticks[0], ticks[-1]), HEIGHT - AXIS, log)
    layers += draw_labels(placed, "name", x, y, palette)
    chart = alt.layer(*layers).properties(height=HEIGHT, width=WIDTH, title=title, padding=PADDING)
    chart = style_axes(chart, palette, background="transparent")
    return chart.configure_title(anchor="start", fontSize=13, fontWeight=600, color=palette["text"])
