"""Comprehensiveness and sufficiency: a hand-worked example, tokens that are really gone, and a file of rows."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pandas as pd
import pytest

from tests.support.analysis_checkpoints import MECHANISMS, TASK_NAMES, examples, use_checkpoints
from tests.unit.test_interventions import slow
from triattn_core.analysis import measures
from triattn_core.analysis.attribution import faithfulness
from triattn_core.analysis.attribution.methods import Attributions, attribute
from triattn_core.analysis.intervention.batched_variants import run_query, word_positions
from triattn_core.checkpoint.bundle import load
from triattn_core.errors import DataError, InputError


@pytest.fixture(scope="module", autouse=True)
def world(tmp_path_factory):
    with use_checkpoints(tmp_path_factory.mktemp("world")) as root:
        yield root


GIVES = {3: 0.4, 5: 0.3, 2: 0.2, 7: 0.1}  # what each of four tokens adds to the probability


def hand(sets):
    return [sum(p for token, p in GIVES.items() if token not in removed_tokens) for removed_tokens in sets]


def test_a_hand_worked_example():
    """Of 4 tokens the shares name 0, 1, 1, 1, 1 and 2.  Best first: .4 four times and .7 are lost, 1, .6 and .3 kept
    back; worst first .1 and .3 are lost, 1, .9 and .7 kept back."""
    asked = []

    def m(sets):
        asked.append(len(sets))
        return hand(sets)

    curves = faithfulness.perturbation_curves({("best", 0): [3, 5, 2, 7], ("worst", 0): [7, 2, 5, 3]}, m)
    best = curves[curves["method"] == "best"]
    assert best["tokens"].tolist() == [0, 1, 1, 1, 1, 2]
    np.testing.assert_allclose(best["comprehensiveness"], [0, 0.4, 0.4, 0.4, 0.4, 0.7], atol=1e-12)
    np.testing.assert_allclose(best["sufficiency"], [1, 0.6, 0.6, 0.6, 0.6, 0.3], atol=1e-12)
    areas = faithfulness.aopc(curves)
    np.testing.assert_allclose(areas.loc[("best", 0)], [2.3 / 6, 3.7 / 6])
    np.testing.assert_allclose(areas.loc[("worst", 0)], [(4 * 0.1 + 0.3) / 6, (1 + 4 * 0.9 + 0.7) / 6])
    assert asked == [8]  # the two halves of one ranking are those of the other


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("task", TASK_NAMES)
def test_tokens_named_are_read_nowhere(task, mechanism):
    """m of an example: the answer's probability with the tokens dropped from tensors, as query, key and context."""
    asked = run_query(load(f"{task}-{mechanism}"), examples(task)[0])
    curves = faithfulness.example_curves(asked, ["attention"], draws=1)
    there = word_positions(asked.roles.context)
    scores = faithfulness.token_scores(asked, attribute(asked, ["attention"]), "attention")
    order = sorted(there, key=lambda at: -scores[at])
    row = curves[(curves["method"] == "attention") & (curves["share"] == 0.5)].iloc[0]
    assert row["tokens"] == -(-len(there) // 2)
    values = []
    for taken in ([], order[: row["tokens"]], order[row["tokens"] :]):
        roles = asked.roles
        by_role = {n: [i for i, at in enumerate(getattr(roles, n).positions) if at in taken] for n in ("query", "key")}
        outputs = slow(asked.bundle, roles, {"context": taken, **by_role}, False)
        values.append(float(asked.probability(outputs[None])))
    assert row["comprehensiveness"] == pytest.approx(values[0] - values[1], abs=1e-5)
    assert row["sufficiency"] == pytest.approx(values[0] - values[2], abs=1e-5)


def test_a_token_has_what_it_gives_as_query_or_key_and_as_context():
    asked = run_query(load("reading-tri"), examples("reading")[0])
    table = attribute(asked, ["rollout"]).table
    roles, cells = asked.roles, {role: of.reset_index() for role, of in table.groupby("role")}
    expected = np.zeros(len(roles.context))
    for name in ("query", "key", "context"):
        role = getattr(roles, name)
        for cell, (start, end) in enumerate(role.runs):
            for token in range(start, end):
                expected[role.positions[token]] += cells[name]["rollout"][cell] / (end - start)
    scores = faithfulness.token_scores(asked, Attributions(table, ("rollout",)), "rollout")
    np.testing.assert_allclose(scores, expected)
    assert scores.sum() == pytest.approx(1, abs=1e-5)


def test_the_control_is_drawn_anew_each_time_and_again_from_its_seed():
    asked = run_query(load("dialogue-tri"), examples("dialogue")[0])
    one, same, other = (faithfulness.example_curves(asked, ["attention"], draws=5, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, same)
    random = faithfulness.aopc(one).loc["random"]
    assert len(random) == 5 and random["comprehensiveness"].nunique() > 1
    assert not np.allclose(random, faithfulness.aopc(other).loc["random"])
    band = faithfulness.control_band(one)
    for measure in faithfulness.MEASURES:
        assert random[measure].min() <= band["low"][measure] < band["high"][measure] <= random[measure].max()
    with pytest.raises(InputError, match="one random ranking at least"):
        faithfulness.example_curves(asked, ["attention"], draws=0)


def test_a_file_can_be_stopped_and_keeps_what_it_has():
    bundle, (first, second) = load("pairs-bi"), examples("pairs")
    rows = [(1, first), (2, DataError("rows:2: no row")), (4, second), (5, first)]
    over = measures.faithful([bundle], {"methods": ["attention"], "draws": 3, "seed": 6})
    parts = list(islice(measures.measure_rows(over, rows), 3))
    assert [part.line for part in parts] == [1, 2, 4] and parts[1].aside == ("rows:2: no row",)
    table = pd.concat([part.table for part in parts])
    assert table["row"].tolist() == [1, 1, 4, 4] and table["method"].tolist() == ["attention", "random"] * 2
    alone = faithfulness.aopc(faithfulness.example_curves(run_query(bundle, second), ["attention"], 3, seed=10))
    row = table[(table["row"] == 4) & (table["method"] == "random")].iloc[0]
    assert row["sufficiency"] == pytest.approx(alone.loc["random"]["sufficiency"].mean(), abs=1e-6)
    with pytest.raises(InputError, match="unknown method 'attentions'"):
        faithfulness.measure_rows([bundle], rows[:1], ["attentions"])


def test_a_band_is_that_of_the_mean_and_of_its_gain_over_the_control():
    rng = np.random.default_rng(0)
    base, count = rng.normal(0, 1, 400), 400
    about = {"checkpoint": "one", "row": range(count), "sufficiency": 0.0}
    tables = [
        pd.DataFrame({**about, "method": name, "comprehensiveness": values})
        for name, values in (("a", base + 0.5), ("random", base))
    ]
    summary = faithfulness.summarize(pd.concat(tables)).set_index(["method", "measure"])
    row = summary.loc["a", "comprehensiveness"]
    assert row["mean"] == pytest.approx(base.mean() + 0.5) and row["rows"] == count
    error = base.std() / np.sqrt(count)  # of the mean; the band is 1.96 of it to each side
    assert row["high"] - row["low"] == pytest.approx(2 * 1.96 * error, rel=0.1)
    assert row["gain"] == row["gain_low"] == row["gain_high"] == pytest.approx(0.5)  # row by row the same
    assert summary.loc["random", "comprehensiveness"]["gain"] == 0
