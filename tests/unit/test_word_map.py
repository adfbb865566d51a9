"""The small maps of the first page: right cells, right colours, their words, and what is known to be true."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import xarray as xr

from triattn_core.trace.axes import TRUE_CELLS
from triattn_core.views import word_map
from triattn_core.views.lib.palette import SEQUENTIAL


def weights(top: float = 0.2) -> xr.DataArray:
    values = np.full((3, 5), 0.2)
    values[0, 0] = top
    coords = {"query_token": ("query", ["<b>", "is", "not"]), "a_token": ("key", list("vwxyz"))}
    return xr.DataArray(values, coords, ("query", "key"))


def figures(*arrays: xr.DataArray, theme: str = "light", numbers: bool = False) -> list[ElementTree.Element]:
    html = word_map.maps({f"map {i}": array for i, array in enumerate(arrays)}, 90, theme, numbers)
    return ElementTree.fromstring(re.sub(r"<col [^>]*>", "", html)).findall("figure")


def fills(figure: ElementTree.Element) -> list[str]:
    return [re.match(r"background:(#\w+);", cell.get("style"))[1] for cell in figure.findall("table/tbody/tr/td")]


def test_maps_share_one_scale():
    for theme in ("light", "dark"):
        low, high = (fills(figure) for figure in figures(weights(), weights(0.9), theme=theme))
        assert len(low) == len(high) == 15
        assert high[0] == SEQUENTIAL[theme][-1] and (low + high).count(high[0]) == 1
        assert set(low) == set(high[1:])


def test_a_long_map_is_as_high_as_others_and_tells_its_words_on_hover():
    count = word_map.ROWS_NAMED + 1
    coords = {f"{axis}_token": (axis, [f"w{i}" for i in range(count)]) for axis in ("query", "key")}
    long = xr.DataArray(np.full((count, count), 1 / count), coords, ("query", "key"))
    (figure,) = figures(long)
    assert not any(name.text for name in figure.findall("table/tbody/tr/th"))
    assert figure.find("table/tbody/tr/td").get("title") == f"w0, w0: {1 / count:.3f}"
    (named,) = figures(long[:-1])
    assert [name.text for name in named.findall("table/tbody/tr/th")] == [f"w{i}" for i in range(count - 1)]


def test_words_stand_beside_rows_and_above_columns():
    (figure,) = figures(weights(0.9))
    assert figure.findtext("figcaption") == "map 0"
    assert [head.text for head in figure.findall("table/tbody/tr/th")] == ["<b>", "is", "not"]
    assert [head.text for head in figure.findall("table/thead/tr/th/span")] == list("vwxyz")
    assert figure.find("table/tbody/tr/td").get("title") == "<b>, v: 0.900"
    (wide,) = figures(xr.concat([weights()] * 4, "key"))
    assert wide.find("table/thead") is None


def test_rows_of_all_maps_are_as_high():
    heights = [
        {row.get("style") for row in figure.findall("table/tbody/tr")}
        for figure in figures(weights(), weights().isel(query=[0]))
    ]
    assert heights == [{"height:28.7px"}] * 2


def test_true_cells_are_outlined():
    (figure,) = figures(weights().assign_attrs({TRUE_CELLS: [(1, 3)]}))
    marks = [cell.get("class") for cell in figure.findall("table/tbody/tr/td")]
    assert marks.index("t-true") == 8 and marks.count("t-true") == 1


def test_large_weights_are_printed_where_they_are_asked_for():
    small = weights()
    small[1:] = 0.04
    (figure,) = figures(small, numbers=True)
    assert [cell.text for cell in figure.findall("table/tbody/tr/td")] == ["0.20"] * 5 + [None] * 10
    assert not any(cell.text for cell in figures(small)[0].findall("table/tbody/tr/td"))


def test_of_a_very_long_map_a_cell_is_the_largest_of_its_block():
    count = 2 * word_map.FINEST + 1
    coords = {"query_token": ("query", list("xyz")), "key_token": ("key", [f"w{i}" for i in range(count)])}
    long = xr.DataArray(np.full((3, count), 0.001), coords, ("query", "key"))
    long[1, 4] = 0.7
    (figure,) = figures(long)
    assert figure.findtext("figcaption") == "map 0, the largest of each 1 × 3 tokens"
    titles = [cell.get("title") for cell in figure.findall("table/tbody/tr/td")]
    assert len(titles) == 3 * 43 and titles[43 + 1] == "y, w3 … w5: 0.700" and titles[1] == "x, w3 … w5: 0.001"
