"""From the arrays of a figure to its printed maps: every level, every masked cell, every sign, view by view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from tests.support import mtsa_traces, similarity_traces
from triattn_core.analysis.maps import compare
from triattn_core.analysis.maps.head_measures import head_table
from triattn_core.analysis.maps.mtsa_tensor import head_tensor
from triattn_core.errors import TraceError
from triattn_core.scenes.printing.from_canvas import GREY, sheet_from_canvas
from triattn_core.scenes.printing.paper import paper_figure
from triattn_core.scenes.printing.settings import PrintSettings
from triattn_core.scenes.printing.sheet import Plate
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.distribution import Distribution
from triattn_core.trace.from_array import trace_of
from triattn_core.views import attention_maps, coin, cube, head_grid, side_by_side, similarity, tensor
from triattn_core.views.attention_maps.maps import maps
from triattn_core.views.coin.blocks import Answer
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.palette import DIVERGING, SEQUENTIAL, THEMES, Scale, ramp, rgb
from triattn_core.views.side_by_side.panels import Gap, Panel

SHAPE = (3, 4, 5)
BASE = "layer.0/attention"
BELOW, ZERO, ABOVE = 0, 127, 254  # levels of a signed scale


def colour(level: int, kind: str = "log", theme: str = "light") -> np.ndarray:
    """The colour of a level, from the stops of its ramp."""
    stops, steps = {"log": (SEQUENTIAL, 256), "signed": (DIVERGING, 255)}[kind]
    return ramp(stops[theme], steps)[level]


def colours(values: np.ndarray, scale: Scale, theme: str = "light") -> np.ndarray:
    """The colours of exact values on a scale, cell by cell."""
    levels = scale.levels(values)
    painted = np.zeros((*values.shape, 3), np.uint8)
    for place in np.ndindex(values.shape):
        painted[place] = colour(int(levels[place]), scale.kind, theme)
    return painted


def changed(before: Sequence[Plate], after: Sequence[Plate], what: str = "colours") -> list[tuple[int, ...]]:
    """(plate, row, column) of each cell that is printed otherwise."""
    places = []
    for i, (old, new) in enumerate(zip(before, after, strict=True)):
        other = getattr(old, what) != getattr(new, what)
        places += [(i, *map(int, at)) for at in np.argwhere(other.any(-1) if other.ndim == 3 else other)]
    return places


def cube_trace(at: tuple[int, int, int] = (0, 0, 0), value: float | None = None) -> AttentionTrace:
    """Weights of 3 × 4 × 5 cells and their scores; the score of one cell is set, and no weight follows it."""
    scores = np.random.default_rng(3).normal(size=SHAPE)
    weights = np.exp(scores) / np.exp(scores).sum((1, 2), keepdims=True)
    if value is not None:
        scores[at] = value
    arrays = {"weight": (weights, "key,context"), "relevance": (scores, "")}
    trace = trace_of(weights, axes=("query", "key", "context"))
    site = next(site for site in trace.sites if site.quantity == "weight").attention
    coords = trace.site(f"{site}/weight").coords
    sites = {
        f"{BASE}/{name}": xr.DataArray(values, coords, ("query", "key", "context")).assign_attrs(
            quantity=name, sums_over=over
        )
        for name, (values, over) in arrays.items()
    }
    return AttentionTrace(sites, trace.texts, trace.meta)


def draw_cube(quantity: str, at: tuple[int, int, int], trace: AttentionTrace | None = None) -> Canvas:
    return cube.figure(Distribution(trace or cube_trace(), Choice(f"{BASE}/{quantity}")), start_cell=at)


def test_the_slices_of_a_cube_are_those_of_its_cell():
    weights, at = cube_trace().site(f"{BASE}/weight").values, (2, 1, 3)
    canvas = draw_cube("weight", at)
    sheet, scale = sheet_from_canvas(canvas, "dark"), canvas.maps[0].scale
    assert [(plate.axes, plate.cell) for plate in sheet.plates] == [
        (("query", "key"), (2, 1)), (("query", "context"), (2, 3)), (("key", "context"), (1, 3))
    ]  # fmt: skip
    for plate, values in zip(sheet.plates, (weights[:, :, 3], weights[:, 1], weights[2])):
        np.testing.assert_array_equal(plate.colours, colours(values, scale, "dark"))
        assert not plate.below.any() and not plate.out.any()
    assert [bar.title for bar in sheet.bars] == [scale.title]


def test_a_score_of_a_cube_moves_its_cell_in_each_slice_through_it():
    """Of the cell's own slices; scores are centred per query, so that its row moves a little too."""
    at, spread = (1, 2, 4), float(np.abs(cube_trace().site(f"{BASE}/relevance").values).max())
    low, high = (sheet_from_canvas(draw_cube("relevance", at, cube_trace(at, value))).plates for value in (-9, 9))
    assert spread < 9
    for before, after in zip(low, high):
        np.testing.assert_array_equal(before.colours[before.cell], colour(BELOW, "signed"))
        np.testing.assert_array_equal(after.colours[after.cell], colour(ABOVE, "signed"))
        assert before.below[before.cell] and not after.below[after.cell]


def test_a_pair_that_a_mask_leaves_out_is_out_in_all_slices():
    head = 0  # forward: a query sees earlier tokens alone
    trace = head_tensor(mtsa_traces.make_trace(), mtsa_traces.LAYER, head)
    choice = Choice(f"{mtsa_traces.LAYER}/tensor/weight")
    canvas = tensor.figure(Distribution(trace, choice), [4, 2, 0, 1, 3], [0, 0, 1, 1, 2], start_cell=(3, 1, 2))
    pairs, query, key = sheet_from_canvas(canvas).plates
    shut = ~mtsa_traces.open_pairs(mtsa_traces.MASKS[head], mtsa_traces.N)
    np.testing.assert_array_equal(pairs.out, shut)
    np.testing.assert_array_equal(query.out, np.repeat(shut[:, [1]], 5, 1))
    np.testing.assert_array_equal(key.out, np.repeat(shut[3][:, None], 5, 1))
    assert [*query.columns.texts] == ["5", "3", "1", "2", "4"] and query.cell == (3, 1)


def side_panel(values: np.ndarray, name: str) -> Panel:
    trace = trace_of(np.full(values.shape, 1 / values.shape[1]), axes=("query", "key"))
    drawn = next(iter(trace.sites.values())).copy(data=values).assign_attrs(quantity="weight")
    numbers = (compare.entropy(drawn), compare.rank(drawn))
    return Panel(name, "tri", "additive", drawn, drawn, *numbers, "yes", 0.75, True, score="accuracy 85.1 %")


def draw_sides(noise: np.ndarray | None = None) -> Canvas:
    """0.5 is nowhere but in one cell; the second input does not have the last key."""
    left, right = (np.full((2, 4), 0.25) for _ in range(2))
    left[0] = 0.5, 0.1, 0.2, 0.2
    right[:, 3] = np.nan
    panels = [side_panel(values, name) for name, values in (("one", left), ("two", right))]
    gap = Gap(0, 1, panels[0].map_values - panels[1].map_values, np.zeros(2), noise=noise)
    return side_by_side.figure(panels, gap, {"a": "w"}, (0, 1))


def test_sides_have_their_levels_gaps_and_signs():
    one, two, difference = sheet_from_canvas(draw_sides()).plates
    assert [plate.place for plate in (one, two, difference)] == [(0, 0), (0, 1), (1, 0)]
    assert {plate.cell for plate in (one, two, difference)} == {(0, 1)}
    assert np.argwhere((one.colours == colour(255)).all(-1)).tolist() == [[0, 0]]
    assert not one.out.any() and two.out.tolist() == difference.out.tolist() == [[False, False, False, True]] * 2
    np.testing.assert_array_equal(difference.colours[0, 0], colour(ABOVE, "signed"))
    np.testing.assert_array_equal(difference.colours[1, 0], colour(ZERO, "signed"))
    assert difference.below.tolist() == [[False, True, True, False], [False] * 4]
    assert (one.answer, one.score, one.badge) == ("yes, 0.750", "accuracy 85.1 %", THEMES["light"]["tri"])
    assert not difference.badge and sheet_from_canvas(draw_sides(), "dark").plates[0].badge == THEMES["dark"]["tri"]


def test_what_seeds_explain_is_grey_and_has_no_sign():
    noise = np.zeros((2, 4))
    noise[0, 1] = 0.2  # of −0.15
    before, after = (sheet_from_canvas(draw_sides(seeds)).plates for seeds in (None, noise))
    grey = (255 * rgb(GREY)).round()
    assert (after[2].colours[0, 1] == grey).all() and not after[2].below[0, 1] and after[2].below[0, 2]
    equal = [(2, 1, i) for i in range(3)]  # no difference is within no spread
    assert changed(before, after) == [(2, 0, 1), *equal] and changed(before, after, "below") == [(2, 0, 1)]


@pytest.mark.parametrize("quantity", ["weight", "relevance"])
def test_heads_are_out_where_their_mask_is_and_source2token_stands_below(quantity):
    trace, orders = mtsa_traces.make_trace(), [[4, 2, 0, 1, 3], [1, 0, 2, 3, 4]]
    drawn = maps(trace, mtsa_traces.LAYER, [0, 2], quantity)
    canvas = attention_maps.figure(drawn, trace.texts, orders, cell=(5, 2, 0, 1))
    sheet, scale = sheet_from_canvas(canvas), attention_maps.scale_of(drawn)
    assert [plate.place for plate in sheet.plates] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    for i, (head, map_) in enumerate(zip((0, 2), drawn)):
        above, below = sheet.plates[2 * i : 2 * i + 2]
        np.testing.assert_array_equal(above.out, ~mtsa_traces.open_pairs(mtsa_traces.MASKS[head], mtsa_traces.N))
        assert (
            above.cell == (5, 2) and below.cell == (2, 1) and [*below.columns.texts] == [str(j + 1) for j in orders[i]]
        )
        values = map_.source.transpose("key", "feature").values[:, orders[i]]
        np.testing.assert_array_equal(below.colours, colours(values, scale))
        negative = map_.map_values.values < -scale.limit / 1000 if quantity == "relevance" else np.zeros((7, 7), bool)
        assert above.below[negative & ~above.out].all() and not above.below[above.out].any()
        assert above.below.any() == (quantity == "relevance")


def coin_trace(weight: np.ndarray, plain: np.ndarray) -> AttentionTrace:
    site = next(iter(trace_of(np.full(weight.shape, 1 / weight.shape[1]), axes=("query", "key")).sites.values()))
    arrays = {"weight": weight, "without_context/weight": plain}
    sites = {f"layer.1/a_over_b/{name}": site.copy(data=values) for name, values in arrays.items()}
    return AttentionTrace(sites, {"a": "one two", "b": "one two three"}, {"mechanism": "coin", "layers": 2})


def test_a_block_of_coin_is_a_row_with_what_context_changed():
    weight, plain = np.full((2, 3), 1 / 3), np.full((2, 3), 1 / 3)
    weight[0], plain[1] = (0.5, 0.1, 0.4), (0.2, 0.2, 0.6)
    trace = coin_trace(weight, plain)
    canvas = coin.figure(trace, trace, "a_over_b", [Answer("", "nothing", 0.7)], "yes", cell=(1, 2, 1, 0, 0, 0))
    with_context, without, difference = sheet_from_canvas(canvas).plates
    assert [plate.place for plate in sheet_from_canvas(canvas).plates] == [(1, 0), (1, 1), (1, 2)]  # block 1 is off
    assert {plate.cell for plate in sheet_from_canvas(canvas).plates} == {(1, 2)}
    assert np.argwhere((without.colours == colour(255)).all(-1)).tolist() == [[1, 2]]
    assert difference.below.tolist() == [[False, True, False], [False, False, True]]
    np.testing.assert_array_equal(difference.colours[1, 2], colour(BELOW, "signed"))
    moved = coin_trace(np.where(np.arange(6).reshape(2, 3) == 1, 0.12, weight), plain)
    after = coin.figure(trace, moved, "a_over_b", [], "yes", cell=(1, 2, 1, 0, 0, 0))
    assert changed((with_context, without, difference), sheet_from_canvas(after).plates) == [(0, 0, 1), (2, 0, 1)]
    assert [bar.title for bar in sheet_from_canvas(canvas).bars] == [
        "weight, log scale, one for all", "what context changed, power 0.7 scale"
    ]  # fmt: skip


@pytest.mark.parametrize("quantity", ["weight", "centred"])
def test_functions_of_similarity_have_a_scale_each(quantity):
    panels = similarity_traces.panels()
    sheet = sheet_from_canvas(similarity.figure(panels, quantity, cell=(4, 2, 1)))
    for plate, panel, scale in zip(sheet.plates, panels, similarity.scales(panels, quantity, False)):
        values = panel.values_of(quantity).values
        np.testing.assert_array_equal(plate.colours, colours(values, scale))
        assert plate.cell == (4, 2) and plate.rows.texts[1] == "red"
        sure = np.abs(values) > np.abs(values).max() / 1000
        assert (plate.below[sure] == ((values < 0) & (quantity == "centred"))[sure]).all()
    assert [bar.title.partition(",")[0] for bar in sheet.bars] == [
        f"{panel.title}: {similarity.SCALES[quantity].partition(',')[0]}" for panel in panels
    ]


def test_thumbnails_stand_layer_by_layer_with_their_measure():
    weights = np.full((2, 3, 2, 4), 0.25)
    weights[1, 2, 0] = 0.7, 0.1, 0.1, 0.1
    trace = trace_of(weights, axes=("layer", "head", "query", "key"))
    table = head_table(trace)
    sheet = sheet_from_canvas(head_grid.figure(trace, table, "entropy"))
    assert [plate.place for plate in sheet.plates] == [(row, column) for row in range(2) for column in range(3)]
    assert [len(np.argwhere((plate.colours == colour(255)).all(-1))) for plate in sheet.plates] == [0, 0, 0, 0, 0, 1]
    assert [plate.answer for plate in sheet.plates] == [f"{value:.2g}" for value in table["entropy"]]
    assert all(plate.thumb for plate in sheet.plates) and sheet.plates[5].title == "2.3"


def test_layers_without_attention_are_printed_in_their_place():
    """As in a hybrid that attends in each fourth layer: the page has a line for those between."""
    weights = np.full((1, 2, 3, 3), 1 / 3)
    array = trace_of(weights, axes=("layer", "head", "query", "key")).site("layer.0/attention/weight")
    sites = {"layer.3/attention/weight": array, "layer.7/attention/weight": array}
    trace = AttentionTrace(sites, {}, {"checkpoint": "hybrid", "without_attention": "0,1,2,4,5,6,8"})
    sheet = sheet_from_canvas(head_grid.figure(trace, head_table(trace)))
    told = [(plate.before, plate.after) for plate in sheet.plates]
    last = ("layers 5–7: no attention", "layer 9: no attention")
    assert told == [("layers 1–3: no attention", ""), ("", ""), last, ("", "")]
    printed = paper_figure(sheet, PrintSettings(width=4.0), "svg").decode()
    assert all(f">{words}</text>" in printed for words in (told[0][0], *last))


def test_thumbnails_of_both_directions_keep_their_shapes():
    forth, back = (
        trace_of(np.random.default_rng(1).dirichlet(np.ones(size[1]), (2, size[0])), axes=("head", "query", "key"))
        for size in ((2, 4), (4, 2))
    )
    sites = [next(iter(trace.sites.values())) for trace in (forth, back)]
    trace = AttentionTrace({"layer.0/a/weight": sites[0], "layer.1/b/weight": sites[1]}, forth.texts, forth.meta)
    printed = sheet_from_canvas(head_grid.figure(trace, head_table(trace))).plates
    assert [(len(plate.rows), len(plate.columns)) for plate in printed] == [(2, 4)] * 2 + [(4, 2)] * 2
    assert all(plate.colours.shape == (len(plate.rows), len(plate.columns), 3) for plate in printed)


def test_a_figure_without_maps_is_not_printed():
    canvas = draw_sides()
    for nothing in (None, ()):
        with pytest.raises(TraceError, match="this figure has no maps to be printed"):
            sheet_from_canvas(replace(canvas, maps=nothing))
