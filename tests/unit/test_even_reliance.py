"""Even weights for MTSA, COIN and readers: their maps are even, their answers move, nothing else stays replaced."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from tests.support import coin_checkpoints, reader_checkpoints, sentence_checkpoints
from triattn_core.__main__ import main
from triattn_core.analysis.maps.even_reliance import measure_even_reliance
from triattn_core.attention.weight_override import even_scores
from triattn_core.checkpoint.bundle import Bundle, load
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.errors import InputError
from triattn_core.inference.explain import explain
from triattn_core.tasks import pairs, questions

PAIRS = [
    pairs.Example("Which boats left?", "Which boat left the harbour today?", 1),
    pairs.Example("A cat eats fish.", "Can a dog eat fish too?", 0),
    pairs.Example("Is it raining?", "Will it rain?", 1),
]
QUESTIONS = [
    questions.Example("The red boat left. The blue boat stayed.", "Which boat stayed?", (("The blue boat", 20),)),
    questions.Example("Mary took the milk to the garden.", "Where is the milk?", (("the garden", 22),)),
]


KINDS = ("coin", "reader", "mtsa", "multi-head")
PLAIN = {"task": "sentences", "labels": ["person", "place", "thing"], "model": {"mechanism": "multi_head"}}
TEXTS = ("Who wrote the longest book?", "Where is the red boat now?", "What is not a fish, they ask?")


@pytest.fixture(scope="module")
def checkpoint_folders(tmp_path_factory) -> list[Path]:
    roots = [tmp_path_factory.mktemp(name) for name in ("sentences", "readers", "coin")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sentence_checkpoints.KINDS, "plain", PLAIN)
        sentence_checkpoints.make_checkpoints(roots[0], ("trec-mtsa", "plain"))
    reader_checkpoints.make_checkpoints(roots[1], ("dot", "t_trilinear"))
    coin_checkpoints.make_checkpoints(roots[2], ("quora-coin",))
    return roots


@pytest.fixture(autouse=True)
def use_checkpoints(checkpoint_folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, os.pathsep.join(map(str, checkpoint_folders)))
    monkeypatch.setenv("TRIATTN_DEVICE", "cpu")


def bundles() -> dict[str, tuple[Bundle, list]]:
    texts, plain = load("trec-mtsa"), load("plain")
    rows = [texts.task.Example.from_row({"text": text, "label": i}) for i, text in enumerate(TEXTS)]
    return {
        "coin": (load("quora-coin"), PAIRS),
        "reader": (load("squad-t-trilinear"), QUESTIONS),
        "mtsa": (texts, rows),
        "multi-head": (plain, rows),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_each_token_attends_evenly_to_what_it_may_see(kind):
    bundle, examples = bundles()[kind]
    _, own = explain(bundle, examples[0])
    with even_scores() as replaced:
        _, trace = explain(bundle, examples[0])
    assert replaced[0] > 0
    sites = [site for site in trace.sites if re.fullmatch(r"(layer\.\d+/(.*/)?|attention/)weight", str(site))]
    assert sites
    for site in sites:
        weights = trace.site(site)
        values = np.moveaxis(weights.values, weights.dims.index("key"), -1)
        seen = values > 0
        even = seen / np.maximum(seen.sum(-1, keepdims=True), 1)
        np.testing.assert_allclose(values, even, atol=1e-6)
    moved = [np.abs(own.site(site).values - trace.site(site).values).max() for site in sites]
    assert max(moved) > 1e-3  # and the model's own were not even
    again = explain(bundle, examples[0])[1]
    np.testing.assert_array_equal(again.site(sites[0]).values, own.site(sites[0]).values)


@pytest.mark.parametrize("kind", KINDS)
def test_reliance_is_the_metric_less_that_with_even_weights(kind):
    bundle, examples = bundles()[kind]
    report = measure_even_reliance(bundle, examples)
    judged = [[], []]
    for example in examples:
        judged[0].append(bundle.task.verdict(example, answer(bundle, example)))
        with even_scores():
            judged[1].append(bundle.task.verdict(example, answer(bundle, example)))
    own, evened = (bundle.task.metrics(rows)[report["metric"]] for rows in judged)
    assert report["score"] == own and report["n"] == len(examples)
    assert report["reliance"]["even"]["points"] == round(own - evened, 2)


def answer(bundle: Bundle, example):
    """What the model answers to one example alone."""
    from triattn_core.inference.evaluate import predictions

    ((_, (probabilities,)),) = predictions([bundle], [example])
    return probabilities


def test_a_model_whose_weights_cannot_be_replaced_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(
        sentence_checkpoints.KINDS,
        "recurrent",
        {
            "task": "sentences",
            "labels": ["no", "yes"],
            "model": {"mechanism": "bi_lstm", "heads": 8},
        },  # the default: it has none
    )
    monkeypatch.setenv(VARIABLE, str(sentence_checkpoints.make_checkpoints(tmp_path, ("recurrent",))))
    bundle = load("recurrent")
    rows = [bundle.task.Example.from_row({"text": text, "label": 1}) for text in ("A good film.", "A bad film.")]
    with pytest.raises(InputError, match="the weights of bi_lstm cannot be replaced"):
        measure_even_reliance(bundle, rows)


def test_the_command_prints_and_keeps_it(checkpoint_folders, tmp_path, capsys):
    rows = tmp_path / "rows.jsonl"
    lines = ({"text_a": example.text_a, "text_b": example.text_b, "label": example.label} for example in PAIRS)
    rows.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    assert main(["evaluate", "quora-coin", str(rows), "--attention", "--record", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["attention"]
    kept = json.loads((checkpoint_folders[2] / "quora-coin" / "metrics.json").read_text("utf-8"))["attention"]
    assert printed["reliance"] == kept["reliance"] and kept["n"] == 3
