"""Small still maps with their words, as HTML tables: for the first page, where no script draws them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape

import numpy as np
import xarray as xr

from triattn_core.trace.axes import TRUE_CELLS
from triattn_core.views.lib.palette import SEQUENTIAL, LogScale, ink_on, ramp

NAMED = 16  # columns that carry their words: more would not be read
ROWS_NAMED, LOWEST = 20, 3  # rows that carry their words, of a row at least their size; pixels of one without
DENSE = 12  # columns, from which their words stand upright
LETTERS = 12  # of a row's word that have room
LETTER, LEAST_COLUMN, BESIDE = 6.7, 16, 54  # pixels: a letter, a column whose word leans, what is free beside a map
SPACING = 1  # pixels between rows, as in the page's style
FINEST = 64  # cells along an axis: of more each is the largest weight of several, or a page of them would be slow
BLOCKS = ", the largest of each {} × {} tokens"
PRINTED = 0.1  # the least weight that is printed in its cell


def maps(arrays: Mapping[str, xr.DataArray], height: int, theme: str = "light", numbers: bool = False) -> str:
    """HTML of weights [query, key] beside each other on one scale, queries down, under their titles.

    height: pixels of all rows of the longest map; those of the others are as high.  A cell tells its words and its
    weight on hover, with `numbers` the large ones in print; those in the attribute `TRUE_CELLS` are outlined.  Words
    are those of the coordinates `*_token`.
    """
    arrays = dict(_pooled(title, array.transpose("query", "key")) for title, array in arrays.items())
    values = [array.values.ravel() for array in arrays.values()]
    scale = LogScale.fit(np.concatenate(values), next(iter(arrays.values())).sizes["key"])
    counts = {array.sizes["query"] for array in arrays.values()}
    row_height = max((height - SPACING * (max(counts) + 1)) / max(counts), LOWEST)
    figures = (_map(title, array, scale, row_height, theme, numbers) for title, array in arrays.items())
    least = max(map(_least_width, arrays.values()))
    uneven = " t-uneven" * (len(counts) > 1)
    return f'<div class="t-maps{uneven}" style="--least: {least}px">{"".join(figures)}</div>'


def _pooled(title: str, array: xr.DataArray) -> tuple[str, xr.DataArray]:
    """Title and weights of at most FINEST queries by keys: a cell is the largest of a block, under its first and last
    word."""
    blocks = {axis: math.ceil(array.sizes[axis] / FINEST) for axis in ("query", "key")}
    if max(blocks.values()) == 1:
        return title, array
    values, names = array.values, dict[str, tuple[str, list[str]]]()
    for number, (axis, block) in enumerate(blocks.items()):
        starts = np.arange(0, array.sizes[axis], block)
        values, own = np.maximum.reduceat(values, starts, number), words(array, axis)
        ends = (own[start : start + block] for start in starts)
        names[f"{axis}_token"] = (axis, [" … ".join(dict.fromkeys((some[0], some[-1]))) for some in ends])
    return title + BLOCKS.format(*blocks.values()), xr.DataArray(values, names, ("query", "key"))


def legend(theme: str = "light", scope: str = "study") -> str:
    """HTML: what the colours of `maps` mean.  scope: what shares a scale."""
    colours = ", ".join(SEQUENTIAL[theme])
    bar = f'<i class="t-weight-ramp" style="background: linear-gradient(90deg, {colours})"></i>'
    return f"weight: less {bar} more, a log scale for each {scope}; point at a cell for its number"


def words(array: xr.DataArray, axis: str) -> list[str]:
    """What stands along an axis; numbers from 1 where the array does not say."""
    for name, coord in array.coords.items():
        if str(name).endswith("_token") and coord.dims == (axis,):
            return [str(token) for token in coord.values]
    return [str(i + 1) for i in range(array.sizes[axis])]


def scale_of(array: xr.DataArray) -> LogScale:
    """The colour scale of weights [query, key], for all of its rows."""
    return LogScale.fit(array.values[array.values > 0], array.sizes["key"])


def shaded_words(row: xr.DataArray, scale: LogScale, theme: str = "light") -> str:
    """HTML of the weights [key] of one query: its keys as running words, each on the colour of its weight, which it
    tells on hover."""
    colours = ramp(SEQUENTIAL[theme], scale.steps)[scale.levels(row.values)]
    parts = []
    for word, weight, colour in zip(words(row, "key"), row.values, colours):
        style = f"background:#{colour.tobytes().hex()};color:{ink_on(colour)};padding:1px 4px;border-radius:3px"
        parts.append(f'<span style="{style}" title="{escape(word, quote=True)}: {weight:.3f}">{escape(word)}</span>')
    return " ".join(parts)


def _least_width(array: xr.DataArray) -> int:
    """Pixels in which the words of a map can be told from each other."""
    down, across = words(array, "query"), array.sizes["key"]
    letters = min(LETTERS, max(map(len, down))) if len(down) <= ROWS_NAMED else 0
    return round(BESIDE + LETTER * letters + LEAST_COLUMN * min(across, NAMED))


def _map(title: str, array: xr.DataArray, scale: LogScale, row_height: float, theme: str, numbers: bool) -> str:
    down, across = words(array, "query"), words(array, "key")
    levels = scale.levels(array.values)
    colours = ramp(SEQUENTIAL[theme], scale.steps)[levels]
    true = {tuple(cell) for cell in array.attrs.get(TRUE_CELLS, ())}
    head = "".join(f'<th scope="col"><span>{escape(word)}</span></th>' for word in across)
    head = f"<thead><tr><td></td>{head}</tr></thead>" if len(across) <= NAMED else ""
    rows = []
    for i, word in enumerate(down):
        cells = []
        for j, other in enumerate(across):
            weight = array.values[i, j]
            about = escape(f"{word}, {other}: {weight:.3f}", quote=True)
            mark = ' class="t-true"' if (i, j) in true else ""
            ink = ink_on(colours[i, j])
            style = f"background:#{colours[i, j].tobytes().hex()};color:{ink}"
            text = f"{weight:.2f}" if numbers and weight >= PRINTED else ""
            cells.append(f'<td{mark} style="{style}" title="{about}">{text}</td>')
        name = escape(word) if len(down) <= ROWS_NAMED else ""
        rows.append(f'<tr style="height:{row_height:.1f}px"><th scope="row">{name}</th>{"".join(cells)}</tr>')
    longest = max(map(len, down)) if len(down) <= ROWS_NAMED else 0
    margin = f'<col style="width:{0.58 * min(LETTERS, longest) + 1:.1f}em">'
    body = f"<colgroup>{margin}</colgroup>{head}<tbody>{''.join(rows)}</tbody>"
    dense = ' class="t-dense"' if len(across) >= DENSE else ""
    return f"<figure{dense}><figcaption>{escape(title)}</figcaption><table>{body}</table></figure>"
