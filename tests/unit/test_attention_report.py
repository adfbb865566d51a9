"""The measures of a checkpoint's attention: `triattn evaluate --attention`, its records, and the worth of controls."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.oracles import living as oracle
from tests.support.tiny import HEADS, make_checkpoint, make_world
from triattn_core.__main__ import main
from triattn_core.analysis.maps.attention_report import describe, measure_attention
from triattn_core.attention.weight_override import replacing
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.config import read_config
from triattn_core.inference.evaluate import evaluate
from triattn_core.inference.explain import explain
from triattn_core.results.run_records import Entry, Record, config_variant
from triattn_core.results.worth import worth

LIVING = {
    "layers": 1, "width": 12, "heads": HEADS, "similarity": "dot", "token_comparison": "mlp", "pooling": "mean_max",
    "pooled": False, "context": "apart", "states": [1, 2], "attend_special": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    root = make_world(tmp_path_factory.mktemp("world"), ())
    for number, mechanism in enumerate(("bi", "bi_joint", "cbi", "tri")):
        make_checkpoint(root, f"living-{mechanism}", mechanism, number, model={"mechanism": mechanism, **LIVING})
    make_checkpoint(root, "published-tri", "tri", 9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        yield root


def examples(bundle, world):
    return list(bundle.task.read(world / "data" / "small" / "dev.jsonl"))


@pytest.mark.parametrize("name", ["living-bi", "living-bi_joint", "living-cbi", "living-tri", "published-tri"])
def test_information_is_that_of_the_traces(world, name):
    """Example by example through `explain`, whose traces hold real tokens alone."""
    bundle = load(name)
    rows = examples(bundle, world)
    report = measure_attention(bundle, rows, size=7)
    query, around, special = [], [], []
    for example in rows:
        _, trace = explain(bundle, example)
        for site, array in trace.sites.items():
            if site.quantity != "weight":
                continue
            real = torch.ones(array.sizes["query"], dtype=torch.bool).numpy()
            maps = array.transpose("head", "query", "key", ...).values.astype(float)
            if array.sizes["query"] >= 2:
                query.append([oracle.query_information(weight_map, real) for weight_map in maps])
            if maps.ndim == 4:
                around.append([oracle.context_information(weight_map, real) for weight_map in maps])
                special.append(array.values[..., array.context_special.values == 1].sum((2, 3)).mean())
    mean = sum(sum(one) for one in query) / len(query) / HEADS
    assert report["query_information"]["mean"] == pytest.approx(mean, rel=2e-3)
    assert report["query_information"]["best_head"] >= report["query_information"]["mean"]
    assert ("context_information" in report) == bool(around)
    if around:
        mean = sum(sum(one) for one in around) / len(around) / HEADS
        assert report["context_information"]["mean"] == pytest.approx(mean, rel=2e-3, abs=1e-6)
        assert report["special"] == pytest.approx(100 * sum(special) / len(special), rel=2e-3, abs=1e-6)


def test_the_redirected_share_is_that_of_the_traces(world):
    """By sums of squares about means, on each relevance cube of real tokens."""
    bundle = load("living-tri")
    rows = examples(bundle, world)
    shares = []
    for example in rows:
        _, trace = explain(bundle, example)
        for site, array in trace.sites.items():
            if site.quantity != "relevance" or array.sizes["query"] < 2:
                continue
            cube = array.transpose("head", "query", "key", "context").values.astype(float)
            seen = cube - cube.mean((2, 3), keepdims=True)
            fixed = cube.mean(3, keepdims=True) - cube.mean((2, 3), keepdims=True)
            around = cube.mean(2, keepdims=True) - cube.mean((2, 3), keepdims=True)
            moved = seen - fixed - around
            shares.append(np.square(moved).sum((1, 2, 3)) / np.square(seen).sum((1, 2, 3)))
    report = measure_attention(bundle, rows, size=7)
    assert report["redirected"]["mean"] == pytest.approx(100 * np.mean(shares), rel=2e-3)
    assert "redirected by context" in "\n".join(describe(report))
    assert "redirected" not in measure_attention(load("living-bi"), rows)


def test_reliance_is_the_metric_lost(world):
    bundle = load("living-tri")
    rows = examples(bundle, world)
    report = measure_attention(bundle, rows)
    own = evaluate([bundle], rows)[0]["metrics"]["accuracy"]
    assert report["score"] == own and report["metric"] == "accuracy" and report["n"] == len(rows)
    with replacing(lambda site, weights, keeps: (weights > 0) / (weights > 0).sum((3, 4), keepdim=True).clamp(min=1)):
        even = evaluate([bundle], rows)[0]["metrics"]["accuracy"]
    assert report["reliance"]["even"]["points"] == pytest.approx(own - even, abs=0.01)
    assert set(report["reliance"]) == {"even", "mean_over_queries", "product_of_marginals", "permuted_keys"}
    assert "product_of_marginals" not in measure_attention(load("living-bi"), rows)["reliance"]


@pytest.mark.parametrize("option", ["--rows", "--limit"])  # the older name
def test_only_the_first_rows_are_used(world, capsys, option):
    data = str(world / "data" / "small" / "dev.jsonl")
    assert main(["evaluate", "living-tri", data, "--attention", option, "8", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["n"] == result["attention"]["n"] == 8


def test_the_command_says_and_keeps_them(world, capsys):
    data = str(world / "data" / "small" / "dev.jsonl")
    file = world / "checkpoints" / "living-tri" / "metrics.json"
    file.write_text("{}", "utf-8")
    assert main(["evaluate", "living-tri", data, "--attention", "--record"]) == 0
    lines = capsys.readouterr().out
    assert "query information" in lines and "same-word alignment" in lines
    kept = json.loads(file.read_text("utf-8"))["attention"]
    assert kept["set"] == "small/dev" and kept["n"] == 20 and kept["reliance"]["even"]["p"] <= 1
    assert all(line in lines for line in describe(kept))


def record(config, scores: list[float]) -> Record:
    each = [{"seed": seed, "dev": {"accuracy": score}} for seed, score in enumerate(scores, config.training.seed)]
    return Record(Entry("control", Path("control"), {}, {"each_seed": each}, config_variant(config), 0), "controls")


def test_worth_is_over_controls_of_the_same_form(world):
    config = read_config(world / "checkpoints" / "living-tri" / "config.json")
    control = config.model_copy(update={"model": config.model.model_copy(update={"weights": "even"})})
    other = config.model_copy(update={"model": control.model.model_copy(update={"heads": 1})})
    records = [record(other, [10.0]), record(control, [70.0, 72.0, 71.0]), record(config, [1.0])]
    worth_by_control = worth(config, [74.0, 75.0, 76.0], "accuracy", records)
    assert worth_by_control == {"even": {"points": 4.0, "spread": 1.0, "seeds": 3}}


def test_worth_counts_the_seeds_that_a_sweep_adds(world):
    config = read_config(world / "checkpoints" / "living-tri" / "config.json")
    control = config.model_copy(update={"model": config.model.model_copy(update={"weights": "even"})})
    records = [record(control, [70.0, 72.0, 71.0]), record(config, [1.0, 76.0, 78.0])]  # the first seed is its own
    assert worth(config, [74.0], "accuracy", records) == {"even": {"points": 5.0, "spread": 2.0, "seeds": 3}}


def test_strassen_scores_are_a_control_of_the_scaled_dot_alone(world):
    def form(**changed):
        return config.model_copy(update={"model": config.model.model_copy(update=changed)})

    config = read_config(world / "checkpoints" / "living-tri" / "config.json")
    control, scaled = form(similarity="strassen"), form(similarity="scaled_dot")
    records = [record(control, [70.0, 72.0])]
    assert config.model.similarity == "dot" and worth(config, [90.0], "accuracy", records) == {}
    compared = worth(config, [90.0], "accuracy", [*records, record(scaled, [70.5, 71.5])])["strassen"]
    assert compared == {"points": 0.0, "spread": 1.414, "seeds": 2, "of": "scaled_dot"}
    assert worth(scaled, [74.0], "accuracy", records)["strassen"] == {"points": 3.0, "spread": 1.414, "seeds": 1}


def test_even_weights_read_no_score_so_that_both_dots_have_one_control(world):
    config = read_config(world / "checkpoints" / "living-tri" / "config.json")
    scaled = config.model_copy(update={"model": config.model.model_copy(update={"similarity": "scaled_dot"})})
    control = config.model_copy(update={"model": config.model.model_copy(update={"weights": "even"})})
    assert worth(scaled, [74.0], "accuracy", [record(control, [70.0])])["even"]["points"] == 4.0
    additive = config.model_copy(update={"model": config.model.model_copy(update={"similarity": "additive"})})
    assert worth(additive, [74.0], "accuracy", [record(control, [70.0])]) == {}


@pytest.mark.parametrize("seeds, says", [(1, "(1 seed)"), (3, "(3 seeds)")])
def test_the_worth_names_its_seeds(seeds: int, says: str) -> None:
    (line,) = describe({"worth": {"even": {"points": 10.25, "spread": None, "seeds": seeds}}})
    assert line == f"worth over even, from trained controls on dev, not on these rows: +10.25 points {says}"
