"""Thumbnails of heads whose maps have other sizes in each direction of a pair."""

from __future__ import annotations

import base64

import numpy as np
import pytest
import xarray as xr

from triattn_core.analysis.maps.head_measures import head_table
from triattn_core.trace import AttentionTrace
from triattn_core.views import head_grid

SIZES = {"layer.0/a_over_b": (3, 5), "layer.0/b_over_a": (5, 3)}


def trace_of(sizes: dict[str, tuple[int, int]], heads: int = 2) -> AttentionTrace:
    draw, sites = np.random.default_rng(4), {}
    for name, shape in sizes.items():
        weights = draw.dirichlet(np.ones(shape[1]), (heads, shape[0])).astype(np.float32)
        coords = {
            f"{axis}_{column}": (axis, values)
            for axis, size in zip(("query", "key"), shape)
            for column, values in (
                ("token", [f"w{i}" for i in range(size)]),
                ("text", ["a"] * size),
                ("start", list(range(size))),
                ("end", [i + 1 for i in range(size)]),
                ("special", [0] * size),
            )
        }
        attrs = {"quantity": "weight", "sums_over": "key"}
        sites[f"{name}/weight"] = xr.DataArray(weights, coords, ("head", "query", "key"), attrs=attrs)
    return AttentionTrace(sites, {"a": "abcde"}, {"checkpoint": "own"})


@pytest.mark.parametrize("agree", [True, False])
def test_each_row_has_its_own_shape(agree):
    sizes = dict.fromkeys(SIZES, (3, 5)) if agree else SIZES
    trace = trace_of(sizes)
    payload = head_grid.figure(trace, head_table(trace)).payload
    assert [layer["shape"] for layer in payload["layers"]] == [list(shape) for shape in sizes.values()]
    for layer, (rows, columns) in zip(payload["layers"], sizes.values()):
        assert len(base64.b64decode(layer["levels"])) == 2 * rows * columns
    assert [layer["title"] for layer in payload["layers"]] == ["1a", "1b"]
    assert payload["keys"] == (5 if agree else 0)  # without it no mark of even weights is on the colour bar
