"""Thumbnails of heads whose maps have other sizes in each direction of a pair."""

from __future__ import annotations

import base64

import numpy as np
import pytest
import xarray as xr

from tests.support.figure_arrays import sent_array
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
    (panel,) = payload["panels"]
    cells = panel["cells"]
    assert list(zip(cells["down"], cells["across"])) == list(sizes.values())
    for name, (rows, columns) in zip(cells["levels"], sizes.values()):
        assert len(base64.b64decode(panel["arrays"][name]["data"])) == 2 * rows * columns
    assert payload["axes"]["layer"]["label"] == ["1a", "1b"] and payload["coordinates"] == [["layer", 2], ["head", 2]]
    assert payload["mark"] == "even 1/5" * agree  # without it no mark of even weights is on the colour bar


@pytest.mark.parametrize(
    ("layers", "without", "lines"),
    [
        ((3,), "0,1,2", ["layers 1–3: no attention", ""]),  # as in a hybrid that attends in each fourth layer
        ((0, 2, 5), "1,3,4", ["", "layer 2: no attention", "layers 4–5: no attention", ""]),
        ((1, 1), "0,2,3", ["layer 1: no attention", "", "layers 3–4: no attention"]),
        ((0, 1), "", ["", "", ""]),
    ],
)
def test_layers_without_attention_have_a_line_in_their_place(layers, without, lines):
    sizes = {f"layer.{layer}/{'ab'[i % 2]}_over_{'ba'[i % 2]}": (3, 5) for i, layer in enumerate(layers)}
    trace = trace_of(sizes)
    trace = AttentionTrace(trace.sites, trace.texts, {**trace.meta, "without_attention": without})
    for canvas in (head_grid.figure(trace, head_table(trace)), head_grid.strip(trace, head_table(trace))):
        assert canvas.payload["panels"][0]["cells"].get("gaps", [""] * len(lines)) == lines


def test_a_row_of_fewer_heads_has_no_numbers_beyond_them():
    trace = trace_of({"layer.0/a_over_b": (3, 5)}, heads=3)
    trace = AttentionTrace(trace.sites | trace_of({"layer.1/a_over_b": (3, 5)}).sites, trace.texts, trace.meta)
    payload = head_grid.strip(trace, head_table(trace)).payload
    numbers = sent_array(payload, 0, "query_information")
    assert (
        payload["strip"]
        and numbers.shape == (2, 3)
        and np.isnan(numbers).tolist() == [[False] * 3, [False, False, True]]
    )


def test_the_rows_of_an_encoder_decoder_have_names_that_a_strip_has_room_for():
    sizes = {f"layer.{layer}/{role}": (3, 5) for layer in range(2) for role in ("encoder", "decoder", "cross")}
    trace = trace_of(sizes)
    names = head_grid.strip(trace, head_table(trace)).payload["axes"]["layer"]["label"]
    assert names == [f"{layer} {role}" for layer in (1, 2) for role in ("encoder", "decoder", "cross")]


@pytest.mark.parametrize(
    ("heads", "said"),
    [
        ((4, 1, 3), "3 layers of 1 to 4 heads"),
        ((2, 3), "2 layers of 2 to 3 heads"),
        ((1, 1), "2 layers of 1 head"),
        ((2, 2), "2 layers of 2 heads"),
    ],
)
def test_the_words_say_that_layers_have_other_numbers_of_heads(heads, said):
    sites = {}
    for layer, count in enumerate(heads):
        [array] = trace_of({f"layer.{layer}/attention": (5, 5)}, count).sites.values()
        sites[f"layer.{layer}/attention/weight"] = array
    trace = AttentionTrace(sites, {"a": "abcde"}, {"checkpoint": "own"})
    assert f"Maps of query × key of {said}. " in head_grid.figure(trace, head_table(trace)).payload["alt"]
