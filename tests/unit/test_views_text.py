"""The sentences of figures, each against numbers worked out by hand; and signs that need no hue."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from tests.unit.test_views_cube import WEIGHT, coords
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.distribution import Distribution
from triattn_core.views.charts import distributions, efficiency, history, intervention, layers
from triattn_core.views.points import figure as points


def test_layers_name_the_highest_mean_not_the_highest_run() -> None:
    rows = [("BiLSTM", 1, 1, 74), ("BiLSTM", 1, 2, 69), ("BiLSTM", 3, 1, 71), ("TAdd", 1, 1, 70), ("TAdd", 2, 1, 73.26)]
    points = pd.DataFrame(rows, columns=["line", "x", "run", "value"])
    sentence = layers.describe(points, {"x": "layers", "value": "accuracy"})
    best = "Highest mean accuracy of each line, against layers: TAdd 73.26 at 2; BiLSTM 71.50 at 1."
    assert sentence == f"{best} Thin dots bridge layers that were not run."
    tie = pd.DataFrame(
        [("TAdd", x, 1, value) for x, value in ((1, 84.0), (2, 84.22), (6, 84.221))], columns=points.columns
    )
    assert "TAdd 84.22 at 2 and 6." in layers.describe(tie, {"x": "layers", "value": "accuracy"})


def test_history_names_the_lowest_loss_on_dev_and_on_train_where_there_is_no_dev() -> None:
    histories = {
        "Bi": [
            {"step": 10, "train_loss": 0.11, "dev_loss": 0.7004},
            {"step": 1250, "train_loss": 0.1, "dev_loss": 0.6537},
            {"step": 1300, "train_loss": 0.05, "dev_loss": None},
        ],
        "Tri": [{"step": 20, "train_loss": 0.3}, {"step": 40, "dev_loss": 0.5}],
    }
    assert history.describe(histories) == "Lowest loss on dev: Tri 0.500 at step 40; Bi 0.654 at step 1,250."
    alone = {"Bi": [{"step": 10, "train_loss": 0.11}, {"step": 20, "train_loss": 0.2}]}
    assert history.describe(alone) == "Lowest loss on train: Bi 0.110 at step 10."


def test_efficiency_compares_at_the_longest_text_that_all_have() -> None:
    rows = [("MTSA", 16, 0.001, 5e6), ("MTSA", 32, 0.003, 2e7), ("MTSA", 64, 0.9, 9e9)]
    rows += [("DiSA", 16, 0.009, 1e6), ("DiSA", 32, 0.00812, 1.5e6), ("DiSA", 64, np.nan, np.nan)]
    rows += [("CNN", 16, 0.002, np.nan), ("CNN", 32, 0.005, np.nan)]
    table = pd.DataFrame(rows, columns=["name", "tokens", "seconds", "memory"])
    time = "At 32 tokens MTSA takes the least time (3 ms) and DiSA the most (8.12 ms)"
    memory = "DiSA takes the least memory (1.5 MB) and MTSA the most (20 MB)"
    assert efficiency.describe(table) == f"{time}; {memory}."
    assert efficiency.describe(table.assign(memory=np.nan)) == f"{time}."
    alone = table[table.name == "MTSA"].assign(memory=np.nan)
    assert efficiency.describe(alone) == "At 64 tokens MTSA takes 900 ms."


def test_distributions_say_quantiles_boxes_and_ends_of_curves() -> None:
    row = {"function": "dot", "5 %": -1.254, "median": -0.5, "95 %": 2.0, "cells": 1234, "even": 3.456, "of": 7}
    row["beyond"] = 1e-7
    assert distributions.describe_scores(row) == (
        "dot: of 1,234 scores nine in ten lie between −1.25 and 2, the median is −0.5; "
        "a passage word's weights are spread over 3.46 of 7 question words."
    )
    beyond = distributions.describe_scores(row | {"beyond": 0.25})
    assert beyond.endswith("words, after the sentinel took 25.0% of the weight.")
    runs = pd.DataFrame({"function": ["dot", "dot", "fnn"], "value": [60.0, 63.0, 62.0]})
    assert distributions.describe_boxes(runs, "EM, %") == (
        "EM, % of 2 functions: fnn is highest, mean 62.00 of 1 run; dot is lowest, 61.50."
    )
    even = distributions.describe_boxes(runs.assign(value=5.0), "EM, %")
    assert even == "EM, % of 2 functions: mean 5.00 of 2 runs, all of them."
    alone = distributions.describe_boxes(runs[:2], "EM, %")
    assert alone == "EM, % of dot: mean 61.50 of 2 runs."
    steps = [("dot", 2000, 0.5), ("dot", 10, 0.1), ("fnn", 30, 0.9), ("fnn", 3000, 0.25), ("cosine", 40, 0.75)]
    table = pd.DataFrame(steps, columns=["function", "step", "value"]).assign(checkpoint=lambda rows: rows.function)
    assert distributions.describe_curves(table) == (
        "Losses of 3 checkpoints end at 0.250 to 0.750; fnn lowest, at step 3,000."
    )
    sentence = distributions.describe_curves(table[:2])
    assert sentence == "The loss of dot ends at 0.500, at step 2,000."


def cube() -> AttentionTrace:
    """2 × 3 × 5: two queries whose mass is one each."""
    weights = np.zeros((2, 3, 5))
    for at, weight in {(0, 1, 2): 0.5, (0, 0, 4): 0.3, (0, 2, 0): 0.2, (1, 1, 3): 0.6, (1, 0, 0): 0.4}.items():
        weights[at] = weight
    texts = {"a": "red car", "b": "big blue car"}
    a = [("red", "a", 0, 3), ("car", "a", 4, 7)]
    b = [("big", "b", 0, 3), ("blue", "b", 4, 8), ("car", "b", 9, 12)]
    labels = coords("query", a) | coords("key", b) | coords("context", [("[CLS]", "", 0, 0), *a, *b[:2]])
    attrs = {"quantity": "weight", "sums_over": "key,context"}
    return AttentionTrace({WEIGHT: xr.DataArray(weights, labels, ("query", "key", "context"), attrs=attrs)}, texts, {})


def test_points_say_how_many_their_mass_and_the_first() -> None:
    first = "The first is “car” × “blue” × “big”, weight 0.6."
    two = "The 2 strongest of 30 cells. They hold 55 % of the mass. "  # (0.6 + 0.5) / 2
    assert points.describe(Distribution(cube(), Choice(WEIGHT)), n=2) == two + first
    hidden = "The 3 strongest of 24 cells. They hold 70 % of the mass. Special tokens are hidden. "
    assert points.describe(Distribution(cube(), Choice(WEIGHT)), hide_special=True, n=3) == hidden + first


def test_a_dash_stands_on_what_is_below_zero_and_on_nothing_else() -> None:
    before = xr.DataArray([[0.5, 0.25, 0.25], [0.9, 0.1, 0.0]], dims=("query", "key"))
    after = before + [[0.125, -0.125, 0.0], [-0.5, 0.25, 0.25]]
    drawn = intervention.maps(before, after, (["a", "b"], ["x", "y", "z"])).to_dict()
    first, second, last = drawn["hconcat"]
    assert "layer" not in first and "layer" not in second, "weights are never below zero"
    cells, dashes = last["layer"]
    assert dashes["mark"]["text"] == "\u2212" and len(drawn["datasets"][cells["data"]["name"]]) == 6
    at = {(row["query"], row["key"]) for row in drawn["datasets"][dashes["data"]["name"]]}
    assert at == {(0, 1), (1, 0)}
