"""Laboratory models: what their weights sum to, what they may read, and a small one trained by the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from triattn_core.__main__ import main
from triattn_core.analysis.truth import truth_mask
from triattn_core.checkpoint.bundle import load, save
from triattn_core.checkpoint.registry import laboratory_checkpoints
from triattn_core.configs.laboratory import LaboratoryCheckpoint, LaboratoryConfig
from triattn_core.errors import ConfigError, DataError
from triattn_core.inference.explain import explain
from triattn_core.inference.laboratory import evaluate_laboratory, rows_of, weights_of
from triattn_core.models.laboratory import LaboratoryModel, residue_features
from triattn_core.tasks.laboratory import LABORATORY

KINDS = [("tri", 1), ("cbi", 1), ("bi_joint", 1), ("bi_joint", 2)]
SHAPES = {"tri": (6, 6), "cbi": (6,), "bi_joint": (13,)}


def config(mechanism: str, layers: int = 1, task: str = "planted-sum", **training) -> dict:
    return {
        "format": 1,
        "kind": "laboratory",
        "task": task,
        "model": {"mechanism": mechanism, "layers": layers, "hidden": 8},
        "data": {"train_rows": 96, "dev_rows": 24, "test_rows": 30},
        "training": {"epochs": 1, "batch": 16, **training},
    }


@pytest.fixture
def checkpoint(tmp_path):
    """Makes a checkpoint whose weights are drawn, not trained."""

    def make(mechanism: str, layers: int = 1, task: str = "planted-sum"):
        plan = LaboratoryCheckpoint.model_validate(config(mechanism, layers, task))
        torch.manual_seed(1)
        save(tmp_path / f"{mechanism}-{layers}", plan, LaboratoryModel(plan.model, LABORATORY[task]))
        return load(tmp_path / f"{mechanism}-{layers}", "cpu")

    return make


@pytest.mark.parametrize("mechanism, layers", KINDS)
def test_the_answers_weights_sum_to_one(checkpoint, mechanism, layers):
    bundle = checkpoint(mechanism, layers)
    rows = list(bundle.task.generate(1, 5))
    logits, weights = weights_of(bundle, rows)
    assert logits.shape == (5, 4) and weights.shape == (5, *SHAPES[mechanism])
    np.testing.assert_allclose(weights.reshape(5, -1).sum(1), 1, atol=1e-5)


@pytest.mark.parametrize("mechanism, layers", KINDS)
def test_a_trace_names_the_tokens_of_each_axis(checkpoint, mechanism, layers):
    bundle = checkpoint(mechanism, layers)
    row = bundle.task.examples()[0]
    prediction, trace = explain(bundle, row)
    assert prediction.labels == bundle.task.LABELS and prediction.gold == row.label
    assert len(trace.sites) == 2 * layers
    weight = trace.site(sorted(trace.sites)[-1])
    keys = [row.query, *row.keys, *row.context] if mechanism == "bi_joint" else list(row.keys)
    assert weight["key_token"].values.tolist() == keys
    assert ("context_token" in weight.coords) == (mechanism == "tri")


@pytest.mark.parametrize("mechanism, layers", KINDS)
def test_the_order_of_cards_does_not_matter_but_of_sentences_it_does(checkpoint, mechanism, layers):
    for task, same in (("false-friends", True), ("two-facts", False)):
        bundle = checkpoint(mechanism, layers, task)
        row = bundle.task.examples()[0]
        turned = bundle.task.solve(row.query, row.keys[::-1], row.context[::-1])
        plain, other = (weights_of(bundle, [one])[0] for one in (row, turned))
        assert torch.allclose(plain, other, atol=1e-5) == same


def test_truth_of_two_way_weights_is_its_marginal():
    row = LABORATORY["planted-sum"].solve("1", ("2:0", "5:0", "3:1"), ("8:1", "10:1"))
    assert row.truth == ((0, 1),)
    assert truth_mask(row, (3, 2)).tolist() == [[False, True], [False, False], [False, False]]
    assert truth_mask(row, (3,)).tolist() == [True, False, False]
    assert np.flatnonzero(truth_mask(row, (6,))).tolist() == [1, 5]  # query, three keys, two contexts


def test_fourier_features_turn_sums_into_products():
    features = residue_features(["3", "<query>", "4", "7"], 11)
    cos, sin = features[:, :5], features[:, 5:10]
    torch.testing.assert_close(cos[4], cos[1] * cos[3] - sin[1] * sin[3])  # 3 + 4
    assert features[0].count_nonzero() == 0 and features[2].tolist() == [0.0] * 10 + [1.0]


def test_what_a_model_cannot_be_is_refused():
    with pytest.raises(ValueError, match="one layer"):
        LaboratoryConfig(mechanism="tri", layers=2)
    with pytest.raises(ValueError, match="scaled_dot"):
        LaboratoryConfig(mechanism="tri", similarity="scaled_dt")
    with pytest.raises(ValueError, match="residues"):
        plan = config("tri")
        LaboratoryCheckpoint.model_validate(plan | {"model": {"mechanism": "tri", "inputs": "fourier"}})
    with pytest.raises(DataError, match="planted-sum"):
        rows_of("planted-sun", 1, 1)


def test_a_model_that_looks_at_the_truth_is_told_from_one_that_does_not(checkpoint, monkeypatch):
    from triattn_core.inference import laboratory

    bundle = checkpoint("tri")
    rows = list(bundle.task.generate(1, 40))
    untrained = evaluate_laboratory(bundle, rows)["metrics"]
    assert untrained["even_share"] == pytest.approx(100 / 36, abs=0.01) and untrained["hit_at_1"] < 20

    def fake_weights(_, batch):
        answers = torch.nn.functional.one_hot(torch.tensor([row.label for row in batch]), 4).float()
        return answers, np.stack([truth_mask(row, (6, 6)).astype(float) for row in batch])

    monkeypatch.setattr(laboratory, "weights_of", fake_weights)
    result = evaluate_laboratory(bundle, rows)
    assert result["metrics"]["accuracy"] == result["metrics"]["mass"] == result["metrics"]["hit_at_1"] == 100
    assert result["quadrants"]["right, looked"] == 100


def test_where_pairs_are_of_distinct_tokens_the_diagonal_has_no_weight(checkpoint, monkeypatch):
    monkeypatch.setattr(type(LABORATORY["match3"]), "DISTINCT", True)
    bundle = checkpoint("tri", 1, "match3")
    rows = list(bundle.task.generate(1, 20))
    _, weights = weights_of(bundle, rows)
    assert not weights.diagonal(axis1=1, axis2=2).any() and weights.sum((1, 2)) == pytest.approx(1, abs=1e-5)
    metrics = evaluate_laboratory(bundle, rows)["metrics"]
    true = [len(row.truth) for row in rows if row.truth]
    assert metrics["even_share"] == pytest.approx(100 * np.mean(true) / (49 - 7), abs=0.01)


def test_train_and_evaluate_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(tmp_path / "checkpoints"))
    folder = tmp_path / "checkpoints" / "laboratory" / "sum-tri"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config("tri", more_seeds=[2])), "utf-8")
    assert main(["train", str(folder / "config.json"), "--runs", str(tmp_path / "runs")]) == 0
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    assert [seed_run["seed"] for seed_run in metrics["each_seed"]] == [1, 2] and metrics["best_step"] == 6
    assert metrics["test"]["n"] == 30 and metrics["test"]["chance"] == 25
    assert not (tmp_path / "checkpoints" / "results").exists()  # its record is its own
    film = json.loads((folder / "film.json").read_text("utf-8"))
    assert film["frames"][-1]["step"] == 6 and np.shape(film["frames"][0]["maps"]) == (3, 6, 6)
    assert "laboratory:planted-sum" in (folder / "README.md").read_text("utf-8")
    capsys.readouterr()
    command = ["evaluate", "sum-tri", "laboratory:planted-sum", "--seed", "1", "--rows", "30", "--json"]
    assert main(command) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["metrics"] == {name: metrics["test"][name] for name in result["metrics"]}
    assert main(["verify", "sum-tri"]) == 0
    assert main(["evaluate", "sum-tri", "laboratory:match3"]) == 1
    assert "is a model of planted-sum" in capsys.readouterr().err


def test_another_kind_of_checkpoint_is_refused(checkpoint):
    bundle = checkpoint("tri")
    other = bundle.config.model_copy(update={"kind": "tan"})
    with pytest.raises(ConfigError, match="no laboratory model"):
        evaluate_laboratory(type(bundle)(**{**vars(bundle), "config": other}), [])


@pytest.mark.parametrize("name", [name for name in LABORATORY if name != "match2"])
def test_the_page_opens_on_a_row_that_tells_one_layer_of_two_way_attention_from_tri(name):
    task = LABORATORY[name]
    row, right = task.examples()[task.OPENING_ROW], {}
    for entry in laboratory_checkpoints():
        if entry.config["task"] == name:
            logits, _ = weights_of(load(entry.name), [row])
            right[entry.name] = int(logits[0].argmax()) == row.label
    assert row.truth and not right[f"{name}-bi-joint-1"]
    assert any(good for model, good in right.items() if "-tri-" in model)
