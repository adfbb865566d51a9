"""Histograms, box plots and curves of scores, through their data."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from math import exp, log
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.support.similarity_traces import M, N, panels
from triattn_core.checkpoint.registry import Entry
from triattn_core.results import spreads
from triattn_core.results.run_records import Record
from triattn_core.views import similarity
from triattn_core.views.charts import distributions
from triattn_core.views.similarity import spread

# --- distributions ---


def test_bins_count_every_score_once():
    values = [spread.scores(panel) for panel in panels()]
    at = distributions.edges(values, 11)
    for scores in values:
        bins = distributions.counts(scores, at)
        expected = [0] * 11
        for value in scores:
            expected[min(int((value - at[0]) / (at[-1] - at[0]) * 11), 10)] += 1
        assert bins.cells.tolist() == expected and bins.share.sum() == pytest.approx(1)
    flat = distributions.edges([np.full(5, 2.0)])
    assert distributions.counts(np.full(5, 2.0), flat).cells.sum() == 5 and flat[0] < 2 < flat[-1]


def test_a_histogram_draws_its_bins_from_zero():
    rows = distributions.counts(spread.scores(panels()[0]), np.linspace(-5, 5, 8))
    spec = json.loads(distributions.histogram(rows).to_json())
    assert spec["encoding"]["y2"] == {"datum": 0} and spec["encoding"]["x"]["scale"]["domain"] == [-5, 5]
    assert sum(row["cells"] for row in next(iter(spec["datasets"].values()))) == M * N


def test_numbers_of_a_function_are_those_of_its_scores():
    first, _ = panels()
    row = spread.numbers([first]).iloc[0]
    scores = sorted(first.trace.site("attention/relevance").values.astype(float).ravel())
    assert (row["least"], row["greatest"], row["median"]) == (scores[0], scores[-1], scores[len(scores) // 2])
    mean = sum(scores) / len(scores)
    assert row["mean"] == pytest.approx(mean)
    assert row["deviation"] == pytest.approx((sum((score - mean) ** 2 for score in scores) / len(scores)) ** 0.5)
    weights = first.trace.site("attention/weight").values.astype(float)
    each = [exp(-sum(w * log(w) for w in line)) for line in weights]
    assert row["even"] == pytest.approx(sum(each) / M) and (row["of"], row["cells"]) == (N, M * N)
    assert row["beyond"] == pytest.approx(0, abs=1e-6)


def test_a_sentinels_share_is_told_and_weights_are_even_among_the_words():
    first, _ = panels()
    whole = first.trace.site("attention/weight").values.astype(float)
    left = np.linspace(0.1, 0.9, M)[:, None]  # of each row, what the words keep
    first.trace.site("attention/weight").values[:] = whole * left
    row = spread.numbers([first]).iloc[0]
    assert row["beyond"] == pytest.approx(0.5, abs=1e-6)
    assert row["even"] == pytest.approx(sum(exp(-sum(w * log(w) for w in line)) for line in whole) / M, rel=1e-6)


def test_the_sharpest_and_the_most_even_function_are_compared():
    rows = pd.DataFrame({"function": ["dot", "cosine", "fnn"], "even": [2.75, 9.9, 5.0], "of": 10})
    wide = rows.assign(deviation=[3.23, 0.175, 9.0])
    lead, widths = distributions.compare_scores(wide)
    assert lead == (
        "A passage word spreads its attention over 2.8 of 10 question words with dot, over 9.9 with cosine."
    )
    assert widths == "Wider scores, sharper attention: standard deviation 3.23 against 0.175."
    _, otherwise = distributions.compare_scores(rows.assign(deviation=[0.1, 0.2, 9.0]))
    assert otherwise.startswith("Here the wider scores are not the sharper ones")
    assert distributions.compare_scores(wide[:1]) == (
        "A passage word spreads its attention over 2.8 of 10 question words.",
        "",
    )


def record(similarity_: str, values: tuple[float, ...], width: int = 64, file: str = "", **more) -> Record:
    model = {"mechanism": "baseline", "similarity": similarity_, "output": "O_2", "vectors": "layer:4", "width": width}
    config = {"kind": "reader", "task": "questions", "encoder": "e", "model": model, "data": {"train": ["s/train"]}}
    each = [{"seed": i + 1, "test": {"em": value, "n": 70}} for i, value in enumerate(values)]
    metrics = {"each_seed": each, "test": {"n": 70}, **more}
    return Record(Entry(similarity_, Path(similarity_), config, metrics, "", 1), file)


def test_runs_are_rows_and_those_trained_otherwise_stand_apart():
    checkpoint_folder, sweep = record("dot", (40.0, 41.0, 40.0)), record("dot", (41.5, 41.0), file="sweep")
    all_ = [checkpoint_folder, sweep, record("fnn", (3.0,), width=32)]
    runs = spreads.seed_runs(all_, "test", "em")
    assert runs.value.tolist() == [40.0, 41.0, 40.0, 41.5, 3.0]  # seed 2 of the sweep is that of the checkpoint
    assert runs.recipe.nunique() == 2 and runs.seed.tolist() == ["1", "2", "3", "1", "1"] and set(runs.rows) == {70}
    assert spreads.seed_runs(all_, "dev", "em").empty and spreads.loss_curves(all_, "dev").empty
    history = [{"step": 100, "train_loss": 5.0}, {"step": 130, "dev_loss": 4.0}]
    losses = spreads.loss_curves([record("dot", (), history=history)], "train")
    assert losses[["step", "value"]].values.tolist() == [[100, 5.0]]


@pytest.mark.parametrize(
    ("part", "setting"),
    [
        *product(("training",), ("rate", "batch", "optimizer", "schedule", "average", "weight_decay", "epochs")),
        *product(("model",), ("dropout", "longest", "width", "hidden", "vectors")),
        *product((None,), ("max_tokens", "encoder")),
    ],
)
def test_a_recipe_is_another_where_anything_but_the_function_and_the_seed_is(part, setting):
    def run(seed: int, value: int) -> str:
        run_record = record("dot", ())
        config = {**run_record.entry.config, "training": {"seed": seed}}
        (config[part] if part else config)[setting] = value
        return spreads.training_recipe(replace(run_record, entry=replace(run_record.entry, config=config)))

    assert run(1, 17) == run(2, 17) != run(1, 19)


def test_a_short_recipe_is_just_enough_to_tell_it_apart():
    one, other = (
        "states 64; rate 0.1, batch 8; All available rows of s/train.",
        "states 64; rate 0.1, batch 9; One row in 6 of s/train.",
    )
    assert spreads.short_recipes([one, other]) == [
        "All available rows of s/train.",
        "One row in 6 of s/train.",
    ]
    more = "states 128; rate 0.1, batch 8; All available rows of s/train."
    assert spreads.short_recipes([one, other, more]) == [
        "states 64, All available rows of s/train.",
        "states 64, One row in 6 of s/train.",
        "states 128, All available rows of s/train.",
    ]
    assert spreads.short_recipes([one, f"{one}; 5 epochs"]) == [one, f"{one}; 5 epochs"]  # else one would be empty


def test_two_runs_of_a_function_are_two_curves_told_apart_by_what_differs():
    def run(name: str, ends: float, **training) -> Record:
        run_record = record("dot", (), history=[{"step": 9, "dev_loss": 7.0}, {"step": 19, "dev_loss": ends}])
        run_record.entry.config["training"] = {"seed": 1, "rate": 0.1} | training
        return Record(replace(run_record.entry, name=name))

    losses = spreads.loss_curves([run("one", 3.0), run("two", 2.0, seed=5)], "dev")
    assert losses[["checkpoint", "apart"]].drop_duplicates().values.tolist() == [["one", "seed 1"], ["two", "seed 5"]]
    table = losses.assign(function="dot, " + losses.apart)
    sentence = "Losses of 2 checkpoints end at 2.000 to 3.000; dot, seed 5 lowest, at step 19."
    assert distributions.describe_curves(table) == sentence
    spec = json.loads(distributions.curves(table, ["two"]).to_json())
    assert sorted(name["function"] for name in placed_names(spec)) == ["dot, seed 1", "dot, seed 5"]
    same = spreads.loss_curves([run("one", 3.0), run("two", 2.0)], "dev")
    assert list(same.apart.unique()) == ["one", "two"]
    assert set(spreads.loss_curves([run("one", 3.0)], "dev").apart) == {""}


def test_a_box_has_the_quartiles_of_its_runs():
    values = [3.0, 9.0, 4.0, 7.0, 5.0]
    runs = pd.DataFrame({"function": ["dot"] * 5 + ["fnn"], "value": [*values, 8.0], "seed": "1", "checkpoint": "x"})
    boxes = distributions.summary(runs).set_index("function")
    assert boxes.loc["dot"].tolist() == [3.0, 4.0, 5.0, 7.0, 9.0, 5.6, 5.0]
    spec = json.loads(distributions.box_plot(runs, ["fnn", "dot"], "EM, %").to_json())
    boxed = spec["datasets"][spec["layer"][1]["data"]["name"]]
    assert [row["function"] for row in boxed] == ["dot"]  # one run alone has no box
    marked = [spec["datasets"][spec["layer"][i]["data"]["name"]] for i in (3, 4)]
    assert [[row["function"] for row in rows] for rows in marked] == [["dot"], ["dot"]]  # one run is its own mean
    dots = spec["datasets"][spec["layer"][2]["data"]["name"]]
    assert sorted(row["value"] for row in dots) == sorted([*values, 8.0])


def test_an_axis_of_one_value_reaches_around_it():
    runs = pd.DataFrame({"function": ["dot"], "value": [22.56], "seed": "1", "checkpoint": "x"})
    spec = json.loads(distributions.box_plot(runs, ["dot"], "EM, %").to_json())
    assert spec["layer"][2]["encoding"]["x"]["scale"]["domain"] == pytest.approx([21.56, 23.56])


def placed_names(spec: dict) -> list[dict]:
    """The rows of the names at the ends of lines, once each."""
    used = {layer["data"]["name"] for layer in spec["layer"] if layer["mark"]["type"] == "text"}
    return [row for name in used for row in spec["datasets"][name]]


def test_the_chosen_curves_stand_out_and_each_has_its_name():
    rows = pd.DataFrame(
        {"function": ["dot", "dot", "fnn", "fnn"], "step": [1, 2, 1, 2], "value": [5.0, 3.0, 6.0, 3.01]}
    ).assign(checkpoint=lambda rows: "squad-" + rows.function)
    spec = json.loads(distributions.curves(rows, ["squad-fnn"]).to_json())
    grey, lit = (spec["datasets"][spec["layer"][i]["data"]["name"]] for i in (0, 1))
    assert {row["function"] for row in grey} == {"dot"} and {row["function"] for row in lit} == {"fnn"}
    names = {name["function"]: name for name in placed_names(spec)}
    assert names["fnn"]["bold"] and not names["dot"]["bold"]
    assert names["fnn"]["at"] - names["dot"]["at"] > 0.2  # of 3.24: the ends lie together, their names do not


def test_names_at_the_ends_of_lines_keep_apart_within_the_figure():
    rows = pd.DataFrame({"function": [str(i) for i in range(30)], "step": 1, "value": 3.0})
    spec = json.loads(distributions.curves(rows.assign(checkpoint=rows.function), []).to_json())
    assert spec["height"] >= 14 * 30


def test_a_function_that_no_table_names_has_its_row_too():
    runs = pd.DataFrame({"function": ["dot", "of my own", "BiDAF FNN"], "value": [3.0, 4.0, 5.0], "seed": 1})
    spec = json.loads(distributions.box_plot(runs.assign(checkpoint="x"), ["fnn", "dot"], "EM, %").to_json())
    rows = spec["layer"][2]["encoding"]["y"]["sort"]
    assert rows == ["dot", "of my own", "BiDAF FNN"] and spec["height"] > 3 * 24
    assert similarity.titles({"mine": {"similarity": "of_my_own"}}) == {"mine": "of my own"}
