"""Names at the ends of lines: in the order of the ends, kept apart, with a thin leader where moved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

GAP = 15.0  # pixels between two names
WITHOUT_LEADER, WITH_LEADER = 8, 19  # pixels from the end of a line to its name: without a leader, and with one
LEAST_MOVE = 3.0  # pixels: a name that moves less needs no leader


def spread_out(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The places moved until `gap` lies between neighbours and all are in [low, high], by the least sum of squares; in
    the order given.  Their order along the axis stays; of equal ones the first given stays lowest.  Where they do not
    fit, they share the room evenly.

    Least squares under the order is isotonic regression of place - rank * gap; the bounds then clip it.
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    gap = min(gap, (high - low) / (len(places) - 1)) if len(places) > 1 else gap
    blocks: list[list[float]] = []  # sum and count of neighbours that move as one
    for rank, i in enumerate(order):
        blocks.append([places[i] - rank * gap, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + count]
    fitted = [total / count for total, count in blocks for _ in range(int(count))]
    last = high - (len(places) - 1) * gap
    positions = [0.0] * len(places)
    for rank, (i, value) in enumerate(zip(order, fitted)):
        positions[i] = min(max(value, low), max(last, low)) + rank * gap
    return positions


def place_labels(
    ends: pd.DataFrame, x: str, y: str, domain: Sequence[float], height: int, log: bool = False, by: str = ""
) -> pd.DataFrame:
    """`ends` with `at`, where on the y-axis each name stands; `moved`, whether it is elsewhere than its end; and `dx`,
    its pixels to the right of `anchor`, the greatest x of the lines that end together.  Where one of these is moved,
    all have a leader.

    ends: a row a line, the columns x and y its last point.  domain: of the y-axis, which is `height` pixels long.  by:
    the column that is equal where lines end together, by default x.
    """
    to_axis, from_axis = (math.log10, lambda value: 10.0**value) if log else (float, float)
    low, high = map(to_axis, domain)
    pixel = (high - low) / height
    placed = ends.reset_index(drop=True).assign(
        at=ends[y].astype(float).to_numpy(), moved=False, dx=WITHOUT_LEADER, anchor=ends[x].astype(float).to_numpy()
    )
    for _, rows in placed.groupby(by or x, sort=False):
        originals = [to_axis(value) for value in rows[y]]
        positions = spread_out(
            originals, GAP * pixel, min(low + GAP / 2 * pixel, high), high
        )  # half a name above the axis
        moved = [abs(new - old) > LEAST_MOVE * pixel for new, old in zip(positions, originals)]
        placed.loc[rows.index, "at"] = [from_axis(value) for value in positions]
        placed.loc[rows.index, "moved"] = moved
        placed.loc[rows.index, "anchor"] = float(rows[x].max())
        placed.loc[rows.index, "dx"] = WITH_LEADER if any(moved) else WITHOUT_LEADER
    return placed


def draw_labels(
    placed: pd.DataFrame,
    text: str,
    x: alt.X,
    y: alt.Y,
    palette: Mapping[str, str],
    bold: bool = True,
    halo: bool = True,
) -> list[alt.Chart]:
    """The layers of the names: leaders, and the column `text` in the `colour` of each row.

    placed: of `place_labels`, with a column `colour`; `bold`, if it has such a column, says which names are bold.
    x, y: encodings of the lines' points.  halo: of the page, where other lines may pass behind a name; in print it is a
    second text under the first.
    """
    if "bold" not in placed:
        placed = placed.assign(bold=bold)
    at = alt.Y("at:Q", title=None, scale=y["scale"])
    anchor = x.copy()
    anchor["shorthand"] = "anchor:Q"
    base = alt.Chart(placed).encode(color=alt.Color("colour:N", scale=None, legend=None))
    leaders = base.properties(data=placed[placed["dx"] == WITH_LEADER]).encode(x, y, alt.X2("anchor"), alt.Y2("at"))
    layers = (
        [leaders.mark_rule(xOffset=4, x2Offset=WITH_LEADER - 3, strokeWidth=0.8)]
        if (placed["dx"] == WITH_LEADER).any()
        else []
    )
    for is_bold in sorted(set(placed["bold"])):
        for dx in sorted(set(placed["dx"])):
            mark: dict[str, Any] = {"align": "left", "dx": int(dx), "fontSize": 12, "clip": False}
            mark |= {"fontWeight": 600 if is_bold else 400}
            names = base.properties(data=placed[(placed["bold"] == is_bold) & (placed["dx"] == dx)])
            names = names.encode(anchor, at, text=alt.Text(f"{text}:N"))
            if names.data.empty:
                continue
            if halo:
                behind = names.encode(color=alt.value(palette["page"]))
                layers.append(behind.mark_text(**mark, stroke=palette["page"], strokeWidth=4, strokeJoin="round"))
            layers.append(names.mark_text(**mark))
    return layers
