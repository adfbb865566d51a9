"""The figures of the page Intervene, through their own JSON."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import vl_convert

from tests.unit.test_views_questions import DRAW, KEYS, LABELS, grid, rows
from triattn_core.scenes import intervene_text
from triattn_core.views.charts import intervention
from triattn_core.views.charts.grids import cells_of


def test_maps_share_a_scale_and_their_difference_is_after_less_before():
    before, after = (DRAW.dirichlet(np.ones(5), 3) for _ in range(2))
    spec = intervention.maps(grid(before), grid(after), LABELS).to_dict()
    one, two, gap = spec["hconcat"]
    gap = gap["layer"][0]
    assert one["encoding"]["color"]["scale"] == two["encoding"]["color"]["scale"]
    data = pd.DataFrame(spec["datasets"][gap["data"]["name"]])
    np.testing.assert_allclose(data.pivot(index="query", columns="key", values="value"), after - before)
    scale = gap["encoding"]["color"]["scale"]
    assert scale["domain"][len(scale["domain"]) // 2] == 0 and scale["interpolate"] == "rgb"
    assert len(one["encoding"]["color"]["legend"]["values"]) in (3, 4)
    alone = [intervention.separate_map(i, grid(before), grid(after), LABELS).to_dict()["hconcat"] for i in range(3)]
    assert [[one["title"] for one in some] for some in alone] == [[chart["title"]] for chart in spec["hconcat"]]
    assert alone[1][0]["encoding"] == two["encoding"]  # nothing of a map depends on what stands beside it
    assert cells_of(grid(before), LABELS)["key_word"].tolist()[:5] == KEYS


def test_units_say_what_flips_and_which_are_chosen():
    table = pd.DataFrame({"unit": ["u 1", "u 2"], "change": [-1.25, 0.5], "flips": [True, False]})
    data = pd.DataFrame(rows(intervention.unit_bars(table, ["x", "y"], ["u 2"]).to_dict()))
    assert data["said"].tolist() == ["−1.25 flips", "+0.50"] and data["chosen"].tolist() == [False, True]


def test_the_number_of_the_first_unit_is_beside_the_axis_and_the_last_within_the_figure():
    """Of 60 units a bar is narrower than its number."""
    change = [0.09, *[0.001] * 58, 0.088]
    table = pd.DataFrame({"unit": [f"u {i}" for i in range(60)], "change": change, "flips": False})
    svg = vl_convert.vegalite_to_svg(intervention.unit_bars(table, table.unit.tolist(), [], width=900).to_json())
    centers = {said: float(x) for x, said in re.findall(r'translate\(([\d.]+),[\d.]+\)"[^>]*>([+][\d.]+)</text>', svg)}
    half = len("+0.090") * 5.5 / 2
    assert half <= centers["+0.090"] and centers["+0.088"] <= 900 - half


def test_how_far_attention_moved_has_two_figures_of_the_largest_and_no_sign():
    for bits, texts in (
        ([0.0083, 0.00004], ["0.0083", ""]),
        ([0.31, 0.0], ["0.31", ""]),
        ([0, 0], ["", ""]),
    ):
        table = pd.DataFrame({"unit": ["u 1", "u 2"], "change": [-1.0, 1.0], "moved": bits, "flips": [True, False]})
        spec = intervention.unit_bars(table, ["x", "y"], ["u 2"], measure="moved").to_dict()
        data = pd.DataFrame(rows(spec))
        assert data["said"].tolist() == texts and data["value"].tolist() == bits
        assert spec["layer"][0]["encoding"]["tooltip"][2]["title"] == "moved"


def test_a_change_below_the_numerical_resolution_has_no_bar_and_what_rounds_to_none_no_number():
    table = pd.DataFrame({"unit": ["a", "b", "c"], "change": [0.5, -2.4e-7, 3e-5], "moved": 0.1, "flips": False})
    drawn = rows(intervention.unit_bars(table, ["x", "y", "z"], []).to_dict())
    assert [row["value"] for row in drawn] == [0.5, 0, 3e-5] and [row["said"] for row in drawn] == ["+0.50", "", ""]
    known = {"a": "x", "b": "y", "c": "z"}
    assert "1 of 3 units have no bar" in intervene_text.describe_each(table, known)
    noise = table.assign(change=[1e-7, -2.4e-7, 0.0])
    assert not intervene_text.changes_answer(noise) and intervene_text.changes_answer(table)
    assert intervene_text.describe_each(noise, known).startswith(
        "No unit alone changes the log-odds by 0.00001 or more"
    )
    assert "Spearman" in intervene_text.describe_each_shift(table.assign(moved=[0.1, 0.2, 0.3]), known)
    assert "Spearman" not in intervene_text.describe_each_shift(noise.assign(moved=[0.1, 0.2, 0.3]), known)
    small = table.assign(change=[0.0057, -0.00036, 0.0])
    drawn = rows(intervention.unit_bars(small, ["x", "y", "z"], []).to_dict())
    assert [row["said"] for row in drawn] == ["+0.0057", "−0.0004", ""]


def test_what_is_said_of_how_far_each_moved_attention():
    def describe_shift(moved: list[float], change: tuple = (0.1, -0.5, 0.2)) -> str:
        table = pd.DataFrame({"unit": list("abc")[: len(moved)], "change": change[: len(moved)], "moved": moved})
        return intervene_text.describe_each_shift(table, {"a": "one", "b": "two", "c": "three"})

    assert describe_shift([0.1, 0.31, 0.2]) == (
        "Attention is moved most by “two” (0.31 bits), which also changes the answer most. "
        "Bits and size of the change rank the 3 units alike by +1.00 (Spearman)."
    )
    assert "“one” (0.02 bits), which is not what changes" in describe_shift([0.02, 0.01, 0.0])
    assert "alike by −0.50" in describe_shift([0.02, 0.01, 0.0])
    assert describe_shift([0.0, 1e-12, 0.0]).startswith("No unit moves the attention: ")
    assert describe_shift([0.02, 0.01]) == "Attention is moved most by “one” (0.02 bits)."
    assert describe_shift([0.02, 0.01, 0.0], (0.3, 0.3, 0.3)) == "Attention is moved most by “one” (0.02 bits)."


def test_labels_lean_where_there_is_no_room_and_the_lesser_of_two_neighbours_has_no_number():
    def lean(words: list[str], width: int) -> float:
        table = pd.DataFrame({"unit": words, "change": 0.5, "flips": False})
        layers = intervention.unit_bars(table, words, [], width=width).to_dict()["layer"]
        assert all("angle" not in layer["mark"] for layer in layers if layer["mark"]["type"] == "text")
        return layers[0]["encoding"]["x"]["axis"]["labelAngle"]

    assert lean(list("abcde"), 640) == 0
    assert lean(["medicine²"] * 11, 640) == -45
    assert lean(["a"] * 67, 1474) == -45
    table = pd.DataFrame({"unit": list("abcd"), "change": [0.5, 0.9, -0.7, 0.8], "flips": [False, False, False, True]})
    drawn = rows(intervention.unit_bars(table, list("wxyz"), []).to_dict())
    # “+0.50” stands one bar from “+0.90”; “+0.80 flips”, which ends at the edge, begins less than two from it; the
    # longest of each side has all the room.
    assert [round(row["room"], 3) for row in drawn] == [round(2 / 11, 3), 4, 4, round(2.5 / 14, 3)]


def test_among_several_answers_there_is_no_line_at_zero():
    both = [intervention.draws([-7.0, -5.0], -6.0, two=two).to_dict() for two in (True, False)]
    assert [len(one["layer"]) for one in both] == [4, 3]
    assert [one["layer"][-1]["encoding"]["x"]["scale"]["domain"][1] < 0 for one in both] == [False, True]


def test_draws_hold_the_original_and_zero():
    spec = intervention.draws([1.0, 2.0, 4.0], 3.0).to_dict()
    low, high = spec["layer"][1]["encoding"]["x"]["scale"]["domain"]
    assert low < 0 and high > 4
    values = [[row["odds"] for row in dataset] for dataset in spec["datasets"].values()]
    assert [1.0, 2.0, 4.0] in values and [3.0] in values and [pytest.approx(7 / 3)] in values
