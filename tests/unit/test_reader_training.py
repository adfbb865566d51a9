"""Training of readers: which questions train and choose, what is on disk, and a small run from end to end."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.support.reader_world import make, make_rows, train
from tests.support.tiny import change, mark
from triattn_core.__main__ import main
from triattn_core.attention.qa_similarity import QA_SIMILARITIES
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.config import read_config
from triattn_core.checkpoint.registry import WEIGHTS
from triattn_core.inference.batch import collate
from triattn_core.inference.evaluate import evaluate
from triattn_core.inference.explain import explain
from triattn_core.inference.predict import predict
from triattn_core.inference.span_decoding import score_terms
from triattn_core.kinds import kind_of
from triattn_core.models.encoders import load_encoder
from triattn_core.models.systems import SYSTEMS
from triattn_core.models.tensors import read_tensors
from triattn_core.tasks import questions
from triattn_core.trace import AttentionTrace
from triattn_core.training import best_checkpoint, loop
from triattn_core.training.loop import LOG, Event
from triattn_core.training.reader.data import reader_splits
from triattn_core.training.reader.features import encode_questions

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("use_reader_world")]


def test_no_passage_is_on_two_sides(reader_world):
    parts = reader_splits(read_config(make(reader_world, "splits") / "config.json"), reader_world / "data")
    sides = *parts.train.items(), parts.dev, parts.test
    passages = {name: {parts.sets[name][i].passage for i in rows} for name, rows in sides}
    dev = {parts.sets["asked/train"][i].passage for i in parts.dev[1]}
    train = {parts.sets["asked/train"][i].passage for i in parts.train["asked/train"]}
    assert len(dev) == 3 and len(train) == 14 and not dev & train
    assert not passages["other/train"] & passages["asked/dev"] and len(passages["other/train"]) == 5
    assert len(parts.examples("dev")) == 9 and len(parts.examples("test")) == 21
    folder = make(reader_world, "splits")
    change(folder, data={"every": 4, "dev": "asked/dev", "test": None})
    fewer = reader_splits(read_config(folder / "config.json"), reader_world / "data")
    assert len(fewer.train["asked/train"]) == -(-51 // 4) and fewer.dev[0] == "asked/dev" and fewer.test is None


@pytest.mark.parametrize("vectors", ["embedding", "layer:1"])
def test_features_are_what_the_frozen_encoder_gives(reader_world, tmp_path, vectors):
    config = read_config(make(reader_world, "features", vectors=vectors) / "config.json")
    encoder, tokenizer = load_encoder("tiny", "cpu")
    words = kind_of(config).frozen(config, encoder)
    examples = list(questions.read(reader_world / "data" / "asked" / "train.jsonl"))
    features = encode_questions(tmp_path / "set", words, tokenizer, examples, config.limits)
    assert len(features) == len(examples) == 51
    seen = features.of(np.array([3, 4, 23, 50]))
    chosen = np.array([0, 2, 3])
    states, targets = seen.batch(chosen, "cpu")
    windows = [questions.roles([examples[i]], tokenizer, config.limits)[0] for i in (3, 23, 50)]
    assert any(len(example_roles) > 1 for example_roles in questions.roles(examples, tokenizer, config.limits))
    expected = words(collate([window[0] for window in windows], tokenizer))
    for ours, theirs in zip(states, expected, strict=True):
        assert torch.equal(ours.keep, theirs.keep)
        torch.testing.assert_close(ours.vectors[ours.keep], theirs.vectors[theirs.keep], rtol=0, atol=3e-3)
    assert seen.lengths[chosen].tolist() == [
        [len(role.runs) for role in window[0].roles.values()] for window in windows
    ]
    for row, number, (first, last) in zip(chosen.tolist(), (3, 23, 50), targets.tolist()):
        start, end = seen.span(row, first, last)
        assert examples[number].passage[start:end] == examples[number].answers[0][0]
    again = encode_questions(tmp_path / "set", words, tokenizer, (), config.limits)
    assert np.array_equal(again.rows, features.rows)


def test_two_readers_from_one_command_to_every_other(reader_world, capsys):
    folders = make(reader_world, "asked-trilinear"), make(reader_world, "asked-dot-o1", similarity="dot", output="O_1")
    assert train(reader_world, *folders) == 0
    assert len(list((reader_world / "runs" / "features").glob("*/asked-train*"))) == 1  # both train on the same
    dev = reader_world / "data" / "asked" / "dev.jsonl"
    for folder in folders:
        metrics, bundle = json.loads((folder / "metrics.json").read_text("utf-8")), load(folder)
        assert metrics["test"]["set"] == "asked/dev" and metrics["test"]["n"] == 21 and metrics["dev"]["n"] == 9
        (result,) = evaluate([bundle], questions.read(dev))
        assert result["metrics"] == {name: metrics["test"][name] for name in ("em", "f1")}
        assert metrics["history"][-1]["dev_f1"] >= 0 and metrics["seeds"][0]["test"] == metrics["test"]["em"]
        entry = (folder / "README.md").read_text("utf-8")
        assert bundle.config.model.similarity in entry and "exact match, %" in entry and "chance, %" in entry
        capsys.readouterr()
        assert main(["verify", str(folder)]) == 0
    assert main(["evaluate", *map(str, folders), str(dev), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [checkpoint["n"] for checkpoint in summary["checkpoints"]] == [21, 21] and len(summary["differences"]) == 1
    assert main(["list"]) == 0
    assert {"asked-trilinear", "asked-dot-o1"} <= set(capsys.readouterr().out.split())
    assert main(["cases", *map(str, folders), str(dev), "--out", str(reader_world / "cases.parquet")]) == 0
    mined = capsys.readouterr().out
    assert "21 rows" in mined and f"{folders[0].name} {summary['checkpoints'][0]['metrics']['em']:.2f} %" in mined


def test_an_answer_and_its_trace(reader_world, tmp_path, capsys):
    folder = make(reader_world, "asked-t", similarity="t_trilinear")
    assert train(reader_world, folder) == 0
    bundle, example = load(folder), questions.Example("the red cars watch a film", "what cars play ?")
    prediction, trace = explain(bundle, example)
    assert prediction.best == 0 and prediction.labels == tuple(example.passage[a:b] for a, b, *_ in prediction.spans)
    assert list(prediction.probabilities) == sorted(prediction.probabilities, reverse=True)
    assert all(len(text.split()) <= 3 for text in prediction.labels) and len(prediction.spans) == 5
    weights, scores = trace.site("attention/weight"), trace.site("attention/relevance")
    assert weights.dims == ("query", "key") and weights["query_token"].values.tolist() == example.passage.split()
    assert weights["key_token"].values.tolist() == example.question.split()
    np.testing.assert_allclose(weights.sum("key"), 1, atol=1e-5)
    start, end = trace.site("start/weight").values, trace.site("end/weight").values
    first = prediction.spans[0]
    i, j = (weights[f"query_{side}"].values.tolist().index(getattr(first, side)) for side in ("start", "end"))
    assert first.probability == pytest.approx(start[i] * end[j], rel=1e-4)
    terms = score_terms(bundle, example, 2, 1)
    assert list(terms) == ["w_p·h^t", "w_q·u^t", "w_pq·(h^t * u^t)"] and all(
        term.shape == (10,) for term in terms.values()
    )
    assert sum(term.sum() for term in terms.values()) == pytest.approx(scores.values[2, 1], abs=1e-5)
    trace.save(tmp_path / "trace.nc")
    assert set(AttentionTrace.load(tmp_path / "trace.nc").sites) == set(trace.sites)
    row = tmp_path / "row.json"
    row.write_text(json.dumps(questions.row(example)), "utf-8")
    capsys.readouterr()
    assert main(["explain", str(folder), str(row), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spans"][0][:2] == list(first[:2])


def test_fifty_thousand_words_are_read_in_windows(reader_world):
    folder = make(reader_world, "asked-long")
    assert train(reader_world, folder) == 0
    bundle = load(folder)
    example = questions.Example("the red cars watch a film ? " * 7200, "what cars watch ?")
    prediction, trace = explain(bundle, example)
    assert "50,400 words" in prediction.notes[0] and len(prediction.spans) >= 1
    first = prediction.spans[0]
    assert first.window == prediction.option and trace.meta["option"] == prediction.option
    site = trace.site("attention/weight")
    assert site["query_start"].values.min() <= first.start < first.end <= site["query_end"].values.max()
    assert example.passage[first.start : first.end] == prediction.labels[0]
    again, other = explain(bundle, example, option=3, known_scores=prediction.spans)
    assert again.spans == prediction.spans and other.site("attention/weight")["query_start"].values[0] > 0
    mixed = predict([bundle], [questions.Example("a film", "what ?"), example])[0]
    assert mixed[1][0][:2] == first[:2] and mixed[0][0].window == 0


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(reader_world, monkeypatch):
    from triattn_core.training.reader import trainer as training

    whole, stopped = make(reader_world, "asked-whole"), make(reader_world, "asked-stopped")
    assert train(reader_world, whole) == 0
    loss, calls = training.loss, []

    def killed(*given):
        calls.append(1)
        if len(calls) == 13:
            raise KeyboardInterrupt
        return loss(*given)

    monkeypatch.setattr(training, "loss", killed)
    assert train(reader_world, stopped) == 130
    monkeypatch.setattr(training, "loss", loss)
    assert train(reader_world, stopped, arguments=("--resume",)) == 0
    left, right = (read_tensors(folder / WEIGHTS) for folder in (whole, stopped))
    assert all(torch.equal(left[name], right[name]) for name in left)
    best = json.loads((whole / "metrics.json").read_text("utf-8"))["best_step"]
    state = torch.load(reader_world / "runs" / "asked-whole" / f"state-{best:08d}" / loop.WEIGHTS)
    for name, tensor in left.items():
        assert torch.equal(tensor.half(), state[f"average.{name}"].half())
    assert not torch.equal(left["start.weight"].half(), state["model.start.weight"].half())


@pytest.mark.parametrize(
    ("accuracies", "kept"),
    [([0.5, 0.4], 0), ([0.5, 0.5], 0), ([0.0, 0.0], 0), ([0.5, 0.6, 0.55], 1), ([0.5, 0.6, 0.6], 1), ([0.1, 0.2], 1)],
)
def test_the_first_of_the_best_epochs_is_kept(tmp_path, accuracies, kept):
    for step, value in enumerate(accuracies):
        best_checkpoint.keep_best(tmp_path, step, {"dev_accuracy": value}, {"step": torch.tensor([float(step)])})
        with open(tmp_path / LOG, "a", encoding="utf-8") as file:
            file.write(Event("metric", step, 9, {"dev_accuracy": value}).line() + "\n")
    assert read_tensors(tmp_path / best_checkpoint.BEST)["step"].item() == kept


def test_what_is_trained_on_here_is_measured_whole_there(reader_world, tmp_path):
    """Rows marked as duplicates are left out of training alone, also where both use one folder of features."""
    make_rows(reader_world / "data" / "own" / "rows.jsonl", 5, 4)
    mark(reader_world / "data" / "own" / "rows.jsonl", dup=(1, 3))
    first, second, alone = (make(reader_world, name) for name in ("own-trains", "own-chooses", "own-alone"))
    change(first, data={"train": ["own/rows"], "test": None}, training={"epochs": 1})
    for folder in (second, alone):
        change(folder, data={"train": ["other/train"], "dev": "own/rows", "test": None}, training={"epochs": 1})
    assert train(reader_world, first) == train(reader_world, second) == 0
    assert train(reader_world, alone, arguments=("--runs", str(tmp_path))) == 0
    metrics, expected = (json.loads((one / "metrics.json").read_text("utf-8")) for one in (second, alone))
    assert metrics["history"] == expected["history"] and metrics["dev"] == expected["dev"]


@pytest.mark.parametrize("mechanism", ["bidaf", "dcn", "qanet"])
def test_systems_are_trained_by_the_same_command_and_show_their_terms(reader_world, mechanism):
    folder = make(reader_world, f"asked-{mechanism}", mechanism=mechanism, similarity="t_trilinear")
    assert train(reader_world, folder) in (0, None)
    assert "without character embeddings" in (folder / "README.md").read_text("utf-8")
    bundle = load(folder.name)
    example = next(iter(questions.read(reader_world / "data" / "asked" / "dev.jsonl")))
    prediction, trace = explain(bundle, example)
    assert prediction.labels and trace.meta["mechanism"] == mechanism
    score = float(trace.site("attention/relevance")[1, 0])
    parts = score_terms(bundle, example, 1, 0, trace.meta.get("option", 0))
    assert sum(part.sum() for part in parts.values()) == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("mechanism", ["baseline", *SYSTEMS])
def test_the_full_size_config_trains_every_row_of_the_papers_tables(mechanism):
    path = Path(__file__).parents[2] / "checkpoints/full-size/squad-t-trilinear/config.json"
    outputs = ("O_1", "O_2") if mechanism == "baseline" else ("O_2",)
    for name, output in product(QA_SIMILARITIES, outputs):
        settings = {"model.mechanism": mechanism, "model.similarity": name, "model.output": output}
        with torch.device("meta"):
            config = read_config(path, settings)
            model = kind_of(config).model(config, 384)
        assert sum(parameter.numel() for parameter in model.parameters()) > 100_000
