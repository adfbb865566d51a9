"""Maps of laboratory models: which cells there are, and which are outlined."""

from __future__ import annotations

import json

import numpy as np
import pytest

from triattn_core.analysis.training_snapshots import load_snapshots
from triattn_core.analysis.truth import measures
from triattn_core.views.charts import truth_map, truth_methods, truth_quadrants, truth_scores

KEYS, CONTEXT = ("a", "b", "c"), ("x", "y")


@pytest.mark.parametrize("shape, true, places", [
    ((3, 2), [(1, 0)], [(1, 0)]),
    ((3,), [1], [(1, 2)]),  # a margin: the column after the context
    ((6,), [2, 5], [(1, 2), (3, 1)]),  # query, three keys, two contexts
])  # fmt: skip
def test_the_true_cells_stand_where_their_tokens_do(shape, true, places):
    truth, weights = np.zeros(shape, bool), np.arange(np.prod(shape)).reshape(shape) / 10
    for cell in true:
        truth[cell] = True
    rows = truth_map.cells(weights, KEYS, CONTEXT, truth)
    assert len(rows) == weights.size and sorted(rows["weight"]) == sorted(weights.ravel())
    assert list(zip(rows[rows["true"]]["key"], rows[rows["true"]]["context"])) == places
    spec = truth_map.figure(weights, KEYS, CONTEXT, truth).to_dict()
    assert "datum.true" in json.dumps(spec)
    labels = {axis: layer["encoding"][axis]["axis"]["labelExpr"] for layer in spec["layer"][:1] for axis in "xy"}
    assert [truth_map.MARGIN in labels[axis] for axis in "xy"] == [len(shape) == 1, shape == (6,)]


def test_a_map_of_pairs_alone_keeps_no_room_for_margins():
    weights = np.full((3, 2), 0.1)
    for alone, sizes in ((True, (3, 4)), (False, (2, 3))):
        spec = truth_map.figure(weights, KEYS, CONTEXT, weights > 1, alone=alone).to_dict()
        domains = [spec["layer"][0]["encoding"][axis]["scale"]["domain"] for axis in "xy"]
        assert tuple(map(len, domains)) == sizes
    narrow, wide = (truth_map.width(KEYS, CONTEXT, alone=alone) for alone in (False, True))
    assert wide - narrow == truth_map.ACROSS


def test_the_sentence_says_how_much_lies_on_the_truth():
    truth = np.array([[True, False], [False, False]])
    assert truth_map.describe(measures(np.array([[0.7, 0.1], [0.1, 0.1]]), truth, 2)) == (
        "70\u202f% of its weight lies on the truth: 1.4\u202f× even (50.0\u202f%)."
    )
    assert truth_map.describe(measures(np.array([0.2, 0.8]), np.array([True, False]), 2)) == (
        "20\u202f% of its weight lies on the truth: 0.4\u202f× even (50.0\u202f%)."
    )
    assert "nothing to find" in truth_map.describe({})


def test_quadrants_are_means_over_seeds_and_name_the_shortcut():
    test = dict.fromkeys(truth_quadrants.MEASURES, 50.0) | {"first_rank": 2.0}
    seeds = [
        test
        | {"quadrants": {"right, looked": a, "right, did not look": b, "wrong, looked": 0.0, "wrong, did not look": c}}
        for a, b, c in ((100.0, 0.0, 0.0), (80.0, 15.0, 5.0))
    ]
    rows = truth_quadrants.table({"Tri": ("tri", seeds), "Rule": ("muted", [test])})
    assert len(rows) == 3 and rows["Rank of first true cell"].tolist() == [2.0] * 3
    means = truth_quadrants.means(rows)
    assert means["model"].tolist() == ["Tri", "Rule"]
    assert means.loc[0, list(truth_quadrants.COLOURS)].tolist() == [90.0, 7.5, 0.0, 2.5]
    assert truth_quadrants.describe(rows) == ("Right without looking, of the rows with a true cell: Tri 7.5 %.")
    spec = truth_quadrants.figure(rows).to_dict()
    (drawn,) = spec["datasets"].values()
    assert {row["model"] for row in drawn} == {"Tri"} and sum(row["share"] for row in drawn) == 100


def test_methods_have_a_row_a_role_and_the_figure_those_of_pairs():
    shares = {"occlusion": {"key": 100.0, "context": 90.0, "pair": 90.0}, "attention": {"key": 40.0}}
    trained = shares | {"chance": {"key": 16.7, "context": 16.7, "pair": 2.8}}
    rows = truth_methods.table({"Tri": ("tri", {"trained": trained, "untrained": trained})})
    assert rows["role"].tolist() == ["key", "context", "pair", "key"] and rows["chance"].iloc[2] == 2.8
    (drawn,) = truth_methods.figure(rows, {"tri": "#000000"}).to_dict()["datasets"].values()
    assert [row["method"] for row in drawn] == ["occlusion"]
    assert truth_methods.describe(rows) == "True pair found in Tri: occlusion 90 % (chance 2.8 %)."
    assert truth_methods.describe(rows[rows["role"] == "key"]).startswith("No method scores")


def test_scores_have_a_row_a_seed_and_measure():
    test = {"accuracy": 50.0, "chance": 25.0, "mass": 90.0, "even_share": 2.78}
    rows = truth_scores.table({"Tri": ("tri", [test, test]), "C-Bi": ("cbi", [test])})
    assert len(rows) == 6 and rows[rows["measure"] == "mass"]["floor"].unique().tolist() == [2.78]
    assert "Tri 50.0 %" in truth_scores.describe(rows)
    assert truth_scores.figure(rows, "mass", {"tri": "#000000", "cbi": "#111111"}).to_dict()["layer"]


def test_a_film_is_read_back_as_weights(tmp_path):
    row = {"query": "q", "keys": ["a"], "context": ["x"], "label": 0, "truth": [[0, 0]]}
    frames = [{"step": step, "maps": [[[1000]]], "answers": [0]} for step in (1, 10)]
    (tmp_path / "film.json").write_text(json.dumps({"rows": [row], "frames": frames}), "utf-8")
    snapshots = load_snapshots(tmp_path)
    assert snapshots.steps == (1, 10) and snapshots.frame(9) == 1 and snapshots.maps[0][0].tolist() == [[1.0]]
    assert load_snapshots(tmp_path / "none") is None
