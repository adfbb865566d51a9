"""The weights of one query over the patches of a picture, drawn over the picture; a click on a patch chooses it."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.views.charts.grids import with_titles
from triattn_core.views.lib.palette import SEQUENTIAL, THEMES, LogScale, ramp

WIDE = 330  # pixels of each of the two pictures
SHOWN = 0.72  # opacity of the map above the picture
SELECTS = "patch"


def patches(row: xr.DataArray) -> pd.DataFrame:
    """A row for each patch of weights [key]: its place, its name, its position among the keys, its weight.

    Raises TraceError where keys are no patches.
    """
    if "key_patch_row" not in row.coords:
        raise TraceError("the keys of this map are no patches of a picture")
    places = {name: row[f"key_patch_{name}"].values for name in ("row", "column")}
    at = np.flatnonzero(places["row"] >= 0)
    names = row["key_token"].values[at]
    columns = {"row": places["row"][at], "column": places["column"][at], "name": names, "at": at}
    return pd.DataFrame({**columns, "weight": row.values[at].astype(float)})


def figure(row: xr.DataArray, picture: str, query: int, theme: str = "light") -> Any:
    """The picture, and the weights [key] of a query over it.  picture: a data URI.  query: the position among the keys
    of the patch that asks, which is outlined; -1 or a token that is no patch has no outline."""
    rows = patches(row)
    scale = LogScale.fit(row.values, row.sizes["key"])
    colours = ramp(SEQUENTIAL[theme], scale.steps)
    rows["colour"] = ["#" + colours[level].tobytes().hex() for level in scale.levels(rows["weight"].to_numpy())]
    rows["row_end"], rows["column_end"] = rows["row"] + 1, rows["column"] + 1
    rows["outlined"] = rows["at"] == query
    size = int(rows["row_end"].max()), int(rows["column_end"].max())
    look = {"width": WIDE, "height": round(WIDE * size[0] / size[1])}
    plain, mapped = (_layers(rows, picture, size, theme, shown) for shown in (0.0, SHOWN))
    charts = [
        chart.properties(**look, title=title) for chart, title in ((plain, "what the model saw"), (mapped, "weight"))
    ]
    return with_titles(alt.hconcat(*charts), theme)


def _layers(rows: pd.DataFrame, picture: str, size: tuple[int, int], theme: str, shown: float) -> Any:
    across, down = (alt.Scale(domain=domain, nice=False) for domain in ([0, size[1]], [size[0], 0]))
    whole = pd.DataFrame([{"url": picture, "x": size[1] / 2, "y": size[0] / 2}])
    image = alt.Chart(whole).mark_image(width=WIDE, height=round(WIDE * size[0] / size[1]), aspect=False)
    image = image.encode(alt.X("x:Q", scale=across, axis=None), alt.Y("y:Q", scale=down, axis=None), url="url:N")
    chosen = alt.selection_point(name=SELECTS if shown else f"{SELECTS}_plain", fields=["at"])
    tooltip: list[Any] = [alt.Tooltip("name:N", title="row.column"), alt.Tooltip("weight:Q", format=".3g")]
    place = [
        alt.X("column:Q", scale=across, axis=None),
        alt.X2("column_end:Q"),
        alt.Y("row:Q", scale=down, axis=None),
        alt.Y2("row_end:Q"),
    ]
    cells = alt.Chart(rows).mark_rect(opacity=shown or 0.001)
    cells = cells.encode(*place, alt.Color("colour:N", scale=None), tooltip=tooltip)
    frame = alt.Chart(rows[rows["outlined"]])
    frame = frame.mark_rect(filled=False, stroke=THEMES[theme]["query"], strokeWidth=2.5).encode(*place)
    return alt.layer(image, cells.add_params(chosen), frame)


def describe(row: xr.DataArray, query: str) -> str:
    """A sentence: how much of a query's weight is on patches, and the patches with most."""
    rows = patches(row).sort_values("weight", ascending=False)
    most = ", ".join(f"{name} ({weight:.3g})" for name, weight in zip(rows["name"][:3], rows["weight"][:3]))
    total = float(row.values.sum())
    share = 100 * rows["weight"].sum() / total if total else 0.0
    return f"{query} has {share:.3g} % of its weight on patches of the picture; most on {most} (row.column, from 1)."
