"""The names at the ends of lines: their order, their distance, and how little they move."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest

from triattn_core.views.charts import line_labels


@pytest.mark.parametrize(
    "places, moved",
    [
        ([60.0, 5.0], [60.0, 5.0]),
        ([50.0, 50.0], [43.0, 57.0]),
        ([190.0, 199.0, 50.0], [186.0, 200.0, 50.0]),
        ([2.0, 1.0], [15.0, 1.0]),
        ([], []),
    ],
)
def test_names_move_as_little_as_needed(places, moved):
    assert line_labels.spread_out(places, 14.0, 1.0, 200.0) == pytest.approx(moved)


def test_no_other_places_on_a_grid_move_the_names_less():
    places = [3.0, 4.0, 4.5, 9.0]
    put = line_labels.spread_out(places, 2.0, 0.0, 10.0)
    grid = [c for c in product(np.arange(0, 10.01, 0.25), repeat=4) if all(b - a >= 2 for a, b in pairwise(c))]
    best = min(sum((a - b) ** 2 for a, b in zip(candidate, places)) for candidate in grid)
    assert sum((a - b) ** 2 for a, b in zip(put, places)) <= best + 1e-9
    assert all(b - a >= 2 - 1e-9 for a, b in pairwise(put))


def test_more_names_than_find_room_share_it():
    assert line_labels.spread_out([5.0] * 5, 14.0, 0.0, 20.0) == pytest.approx([0, 5, 10, 15, 20])


@pytest.mark.parametrize("log", [True, False])
def test_names_are_in_the_order_of_the_ends_and_those_of_other_lengths_stay(log):
    ends = pd.DataFrame({"name": list("abcde"), "x": [64, 64, 64, 64, 32], "y": [90.0, 88.0, 89.0, 20.0, 88.5]})
    placed = line_labels.place_labels(ends, "x", "y", (10.0, 100.0), 300, log).set_index("name")
    assert placed.sort_values("at").index[0] == "d" and list(placed.drop("e").sort_values("at").index) == list("dbca")
    pixels = 300 * (np.log10(placed["at"]) - 1 if log else (placed["at"] - 10) / 90)
    gaps = np.diff(sorted(pixels[list("abc")]))
    assert gaps == pytest.approx([line_labels.GAP] * 2)
    assert (
        not placed.loc["e", "moved"] and placed.loc["e", "at"] == pytest.approx(88.5) and not placed.loc["d", "moved"]
    )
    assert placed.loc["a", "moved"] and placed.loc["b", "moved"] and placed["dx"].nunique() == 2


def test_a_name_at_the_foot_of_the_axis_stands_above_it():
    ends = pd.DataFrame({"x": [1], "y": [0.0]})
    (at,) = line_labels.place_labels(ends, "x", "y", (0.0, 100.0), 100)["at"]
    assert at == pytest.approx(line_labels.GAP / 2)
