"""The app's measures tell a model that looks at a planted truth from the same model untrained."""

from __future__ import annotations

import json
import shutil
from collections import Counter

import numpy as np
import pytest
import torch

from triattn_core.__main__ import main
from triattn_core.analysis.attribution import known_truth
from triattn_core.analysis.attribution.known_truth import METHODS, accuracy_with_replaced, hits_truth, truth_found
from triattn_core.analysis.intervention.null_replacement import redistribute, shuffle
from triattn_core.analysis.maps.anova import variance_shares
from triattn_core.analysis.maps.batch_information import context_information
from triattn_core.attention.weight_override import replacing
from triattn_core.checkpoint.bundle import Bundle, load
from triattn_core.checkpoint.registry import laboratory_checkpoints
from triattn_core.inference.explain import explain
from triattn_core.inference.laboratory import evaluate_laboratory, weights_of
from triattn_core.inference.laboratory_references import constructed_xor, counts_alone, reference_measures
from triattn_core.results.laboratory import laboratory_records, seed_tests
from triattn_core.tasks.laboratory import LABORATORY

NAME, ROWS = "planted-sum-tri-scaled-dot", 4
pytestmark = pytest.mark.skipif(not any(entry.name == NAME for entry in laboratory_checkpoints()), reason="not trained")


@pytest.fixture(scope="module")
def trained() -> Bundle:
    return load(NAME, "cpu")


@pytest.fixture(scope="module")
def untrained(trained) -> Bundle:
    return trained.untrained(seed=1)


def three_way_share(bundle: Bundle) -> float:
    """The third-order share of the relevance over all 13 queries of the same keys and contexts."""
    shares = []
    for row in bundle.task.examples()[:ROWS]:
        asked = [bundle.task.solve(str(query), row.keys, row.context) for query in range(13)]
        cubes = [explain(bundle, one)[1].site("layer.0/a_over_b/relevance").values[0, 0] for one in asked]
        shares.append(float(variance_shares(np.stack(cubes))["three_way"]))
    return float(np.mean(shares))


def found_by_leaving_out(bundle: Bundle) -> int:
    """In how many rows the key whose absence costs the right answer most is the planted one."""
    count = 0
    for row in bundle.task.examples()[:ROWS]:
        rest = [bundle.task.solve(row.query, row.keys[:i] + row.keys[i + 1 :], row.context) for i in range(6)]
        left = [explain(bundle, one)[0].probabilities[row.label] for one in rest]
        count += int(np.argmin(left)) == row.truth[0][0]
    return count


def test_the_third_order_part_is_forced_by_the_planted_triple(trained, untrained):
    assert three_way_share(trained) > 0.6
    assert three_way_share(untrained) < 0.4


def test_leaving_one_out_finds_the_planted_key(trained, untrained):
    assert found_by_leaving_out(trained) == ROWS
    assert found_by_leaving_out(untrained) < ROWS


def test_recorded_numbers_are_those_of_the_rows(trained, untrained):
    rows = list(trained.task.generate(1, 200))
    metrics = evaluate_laboratory(trained, rows)["metrics"]
    assert metrics["accuracy"] >= 99 and metrics["mass"] >= 90 and metrics["hit_at_1"] >= 99
    assert evaluate_laboratory(untrained, rows)["metrics"]["accuracy"] < 40


def test_a_method_finds_a_row_where_its_highest_scores_are_true():
    row = trained_task().solve("1", ("2:0", "3:1"), ("9:1", "10:2"))  # 1 + 2 + 10 and 1 + 3 + 9
    assert row.truth == ((0, 1), (1, 0))
    high, low = np.array([0.5, 0.2]), np.array([-2.0, 0.1])
    assert hits_truth({"key": high, "context": low}, row) == {"key": True, "context": True, "pair": True}
    assert hits_truth({"key": high, "context": -low}, row) == {"key": True, "context": True, "pair": False}
    assert hits_truth({"key": high}, row) == {"key": True}
    alone = trained_task().solve("1", ("2:0", "4:1"), ("9:1", "10:2"))
    assert hits_truth({"key": -high, "context": low}, alone) == {"key": False, "context": True, "pair": False}


def trained_task():
    return LABORATORY["planted-sum"]


@pytest.fixture(scope="module")
def truth_scores(trained, untrained) -> dict:
    rows = list(trained.task.generate(1, 30))
    return {"trained": truth_found(trained, rows), "untrained": truth_found(untrained, rows)}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_planted_pair_and_not_untrained(method, truth_scores):
    """Gradient times input is the weakest: local to a point where a sharp softmax is flat."""
    assert truth_scores["trained"][method]["pair"] >= (35 if method == "gradient × input" else 85)
    assert truth_scores["untrained"][method]["pair"] <= 20
    assert truth_scores["trained"]["chance"] == {"key": 16.67, "context": 16.67, "pair": 2.78}


@pytest.mark.parametrize("method", METHODS)
def test_a_broken_method_is_seen(method, trained, monkeypatch):
    """Twin: the same scores, moved by one token, find nothing."""
    right = METHODS[method]

    def broken(row):
        return {role: np.roll(scores, 1) for role, scores in right(row).items()}

    monkeypatch.setitem(known_truth.METHODS, method, broken)
    assert truth_found(trained, list(trained.task.generate(1, 15)))[method]["pair"] <= 20


@pytest.mark.parametrize("name", ["false-friends-tri-scaled-dot", "two-facts-tri-additive", "match2-bi-joint-1"])
def test_methods_find_the_truth_of_other_tasks(name):
    """Of Match2 occlusion finds the number in less than half of the rows: it is left out."""
    bundle = load(name, "cpu")
    rows = [row for row in bundle.task.generate(1, 40) if row.truth][:20]
    scores, untrained = truth_found(bundle, rows), truth_found(bundle.untrained(seed=1), rows)
    for method in ("attention", "rollout", "integrated gradients" if name == "match2-bi-joint-1" else "occlusion"):
        assert scores[method]["key"] >= 90
        assert scores[method]["key"] > untrained[method]["key"] + 15


def test_attention_of_cbi_says_nothing_of_the_context():
    bundle = load("planted-sum-cbi", "cpu")
    scores = truth_found(bundle, list(bundle.task.generate(1, 3)))
    assert set(scores["attention"]) == {"key"} and set(scores["occlusion"]) == {"key", "context", "pair"}


def test_a_trained_model_needs_its_weights_and_an_untrained_one_does_not(trained, untrained):
    rows = list(trained.task.generate(1, 200))
    accuracy = accuracy_with_replaced(trained, rows)
    assert accuracy["as trained"] == 100 and max(accuracy[how] for how in ("even", "shuffled", "untrained")) < 45
    assert accuracy["product of marginals"] == 100  # of a cube on one cell it is that cube
    assert np.ptp(list(accuracy_with_replaced(untrained, rows).values())) < 10


@pytest.mark.slow
def test_the_command_reports_the_instruments_and_keeps_them(trained, tmp_path, capsys):
    folder = tmp_path / NAME
    shutil.copytree(trained.path, folder)
    before = json.loads((folder / "metrics.json").read_text("utf-8"))
    command = ["evaluate", str(folder), "laboratory:planted-sum", "--rows", "12", "--attention", "--record"]
    assert main([*command, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    after = json.loads((folder / "metrics.json").read_text("utf-8"))
    assert after.pop("instruments") == printed["instruments"] | {"seed": 1} and printed["instruments"]["n"] == 12
    assert after.pop("references") == printed["references"] == reference_measures(trained)
    assert {name: value for name, value in before.items() if name not in ("instruments", "references")} == after
    assert main(command) == 0
    assert "occlusion  key 100.0 (" in capsys.readouterr().out


def test_the_information_measure_tells_a_cube_from_its_marginals(trained, untrained):
    """Sharp attention on one cell is a product of its marginals too: softened, the planted cube is not."""
    rows, bits = trained.task.examples()[:ROWS], []
    for bundle in (trained, untrained):
        with torch.inference_mode():
            cubes = [explain(bundle, row)[1].site("layer.0/a_over_b/relevance").values for row in rows]
        relevance = torch.tensor(np.stack(cubes))
        weights = (relevance / relevance.flatten(3).std(3)[..., None, None]).flatten(3).softmax(3).view_as(relevance)
        bits.append(float(context_information(weights, torch.ones(len(rows), 1, dtype=torch.bool)).mean()))
    assert bits[0] > 1.5 * bits[1]


@pytest.mark.parametrize("null", ["shuffled", "uniform"])
def test_null_models_break_the_planted_case_and_not_the_untrained_one(null, trained, untrained):
    rows = list(trained.task.generate(1, 100))
    labels = torch.tensor([row.label for row in rows])

    def change(site, weights, keeps):
        keep = torch.ones_like(weights, dtype=torch.bool)
        if null == "uniform":
            return redistribute(weights, keep.to(weights.dtype), 3)
        return shuffle(weights, keep[:, :1, :1, :, :1], 3, torch.Generator().manual_seed(1))

    def lost(bundle):
        before = weights_of(bundle, rows)[0].softmax(-1)
        with replacing(change):
            after = weights_of(bundle, rows)[0].softmax(-1)
        places = torch.arange(len(rows)), labels
        return float((before[places] - after[places]).mean())

    assert lost(trained) > 0.4
    assert abs(lost(untrained)) < 0.05


def test_the_constructed_xor_looks_at_the_truth_alone():
    xor = load("planted-xor-tri-scaled-dot", "cpu")
    for row in xor.task.examples():
        answer, weights = constructed_xor(row)
        assert answer == row.label and weights[row.truth[0]] > 0.99
    measures = reference_measures(xor)
    assert measures["Constructed"]["accuracy"] == 100 and measures["Constructed"]["mass"] > 99
    assert measures["Tri, untrained"]["accuracy"] < 40 and measures["Tri, untrained"]["mass"] < 6


@pytest.mark.parametrize("name", ["planted-sum", "planted-xor"])
def test_counts_of_payloads_are_a_floor_above_chance(name):
    """Of the answers that the 36 pairs of a row would have, the most frequent: right for a third of the rows."""
    bundle = load(f"{name}-tri-scaled-dot", "cpu")
    for row in bundle.task.examples():
        keys, context = ([int(text[-1]) for text in texts] for texts in (row.keys, row.context))
        votes = Counter((a + b) % 4 for a in keys for b in context)
        answer, weights = counts_alone(row)
        assert votes[answer] == max(votes.values()) and weights.sum() == pytest.approx(1)
        assert np.ptp(weights) == 0
    floor = reference_measures(bundle)["Counts of payloads"]
    assert 30 < floor["accuracy"] < 36 and floor["mass"] == floor["even_share"] and floor["n"] == 4000
    two_way = [entry for entry in laboratory_checkpoints() if entry.name.startswith((f"{name}-bi", f"{name}-cbi"))]
    assert len(two_way) == 3
    for entry in two_way:
        assert all(test["accuracy"] < floor["accuracy"] for test in seed_tests(entry, laboratory_records()).values())
