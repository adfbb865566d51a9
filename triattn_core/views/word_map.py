"""Small still maps with their words, as HTML tables: for the first page, where no script draws them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np
import xarray as xr

from triattn_core.trace.axes import TRUE_CELLS
from triattn_core.views.lib.palette import SEQUENTIAL, LogScale, ramp

NAMED = 16  # columns that carry their words: more would not be read
LETTERS = 12  # of a row's word that have room


def maps(arrays: Mapping[str, xr.DataArray], height: int, theme: str = "light") -> str:
    """HTML of weights [query, key] beside each other on one scale, queries down, under their titles.

    height: pixels of all rows together.  A cell tells its words and its weight on hover; those in the attribute
    `TRUE_CELLS` are outlined.  Words are those of the coordinates `*_token`.
    """
    arrays = {title: array.transpose("query", "key") for title, array in arrays.items()}
    values = [array.values.ravel() for array in arrays.values()]
    scale = LogScale.of(np.concatenate(values), next(iter(arrays.values())).sizes["key"])
    shown = (_map(title, array, scale, height, theme) for title, array in arrays.items())
    return f'<div class="t-maps">{"".join(shown)}</div>'


def words(array: xr.DataArray, axis: str) -> list[str]:
    """What stands along an axis; numbers from 1 where the array does not say."""
    for name, coord in array.coords.items():
        if str(name).endswith("_token") and coord.dims == (axis,):
            return [str(token) for token in coord.values]
    return [str(i + 1) for i in range(array.sizes[axis])]


def _map(title: str, array: xr.DataArray, scale: LogScale, height: int, theme: str) -> str:
    down, across = words(array, "query"), words(array, "key")
    colours = ramp(SEQUENTIAL[theme], scale.steps)[scale.levels(array.values)]
    true = {tuple(cell) for cell in array.attrs.get(TRUE_CELLS, ())}
    head = "".join(f'<th scope="col"><span>{escape(word)}</span></th>' for word in across)
    head = f"<thead><tr><td></td>{head}</tr></thead>" if len(across) <= NAMED else ""
    rows = []
    for i, word in enumerate(down):
        cells = []
        for j, other in enumerate(across):
            about = escape(f"{word} → {other}: {array.values[i, j]:.3f}", quote=True)
            mark = ' class="t-true"' if (i, j) in true else ""
            cells.append(f'<td{mark} style="background:#{colours[i, j].tobytes().hex()}" title="{about}"></td>')
        rows.append(
            f'<tr style="height:{height / len(down):.1f}px"><th scope="row">{escape(word)}</th>{"".join(cells)}</tr>'
        )
    margin = f'<col style="width:{0.58 * min(LETTERS, max(map(len, down))) + 1:.1f}em">'
    body = f"<colgroup>{margin}</colgroup>{head}<tbody>{''.join(rows)}</tbody>"
    return f"<figure><figcaption>{escape(title)}</figcaption><table>{body}</table></figure>"
