"""Sentences and pairs of premise and hypothesis: what is read, how it is scored, and what a config may say."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.support.config_errors import check_config_error
from tests.support.tiny import make_encoder
from triattn_core.checkpoint.config import read_config
from triattn_core.errors import ConfigError, DataError, InputError
from triattn_core.inference.batch import collate
from triattn_core.models.encoders import load_encoder
from triattn_core.models.word_vectors import word_vectors
from triattn_core.tasks import TASKS, inference, sentences
from triattn_core.text.roles import Limits
from triattn_core.trace.site import Site

ONE = sentences.Example("who play the big film ?", 1)
TWO = inference.Example("the red car is small .", "who watch the car", 2)
CONFIG = {
    "format": 1,
    "kind": "sentence",
    "task": "sentences",
    "language": "en",
    "encoder": "tiny",
    "labels": ["bad", "good"],
    "model": {"mechanism": "mtsa"},
    "data": {"train": ["a/train"], "dev": "a/dev"},
    "training": {"epochs": 1, "rate": 0.01, "batch": 8},
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder") / "tiny"
    make_encoder(folder)
    return load_encoder(str(folder), "cpu")


@pytest.mark.parametrize(("task", "example"), [(sentences, ONE), (inference, TWO)])
def test_each_text_stands_alone(world, task, example):
    encoder, tokenizer = world
    ((row,),) = task.roles([example], tokenizer, Limits(30))
    texts = task.texts(example)
    assert list(row.roles) == list(texts) == list(task.TEXTS)
    for name, role in row.roles.items():
        assert "".join(texts[name][slice(*span)] for span in role.spans) == texts[name].replace(" ", "")
        assert set(role.texts) == {name} and not any(role.special)
        assert row.axes(Site.parse(f"{name}/layer.0/x"))["key"] is role
    assert row.length == max(map(len, row.roles.values())) and row.tokens == sum(map(len, row.roles.values()))
    shorter = replace(example, **{next(iter(texts)): "car"})
    batch = collate(
        [example_roles for (example_roles,) in task.roles([example, shorter], tokenizer, Limits(30))], tokenizer
    )
    for source in ("embedding", "layer:1", "layer:2"):
        read = word_vectors(encoder, source, 30)
        alone = read(collate([row], tokenizer))
        for both, single in zip(read(batch), alone):
            n = single.vectors.shape[1]
            assert both.keep[0, :n].all() and not both.keep[0, n:].any()
            assert (both.vectors[0, :n] - single.vectors[0]).abs().max() < 1e-5
            assert single.vectors.mean(-1).abs().max() < 1e-5


def test_word_vectors_are_those_of_the_layer(world):
    encoder, tokenizer = world
    batch = collate([sentences.roles([ONE], tokenizer, Limits(30))[0][0]], tokenizer)
    (text,) = batch.texts
    every = encoder.joint(input_ids=text.alone, output_hidden_states=True).hidden_states
    for k in (1, 2):
        states = every[k][:, 1:-1]
        states = (states - states.mean(-1, keepdim=True)) / states.std(-1, unbiased=False, keepdim=True)
        assert (word_vectors(encoder, f"layer:{k}", 30)(batch)[0].vectors - states).abs().max() < 1e-3
    with pytest.raises(ConfigError, match="layers 1 to 2"):
        word_vectors(encoder, "layer:3", 30)
    with pytest.raises(ConfigError, match="at most 62"):
        word_vectors(encoder, "layer:1", 63)
    assert word_vectors(encoder, "embedding", 2000) == word_vectors(encoder, "embedding", 30)


def test_a_text_of_several_examples_is_read_once(world):
    encoder, tokenizer = world
    shorter, rows = replace(ONE, text="car"), []
    asked = sentences.roles([ONE, shorter, ONE, shorter, ONE], tokenizer, Limits(30))
    batch = collate([one for (one,) in asked], tokenizer)
    read = word_vectors(encoder, "layer:2", 30)
    hook = read.lower.register_forward_pre_hook(
        lambda _, __, given: rows.append(len(given["input_ids"])), with_kwargs=True
    )
    (states,) = read(batch)
    hook.remove()
    assert rows == [2]
    each = [read(collate(sentences.roles([one], tokenizer, Limits(30))[0], tokenizer))[0] for one in (ONE, shorter)]
    for place in range(5):
        alone = each[place % 2].vectors[0]
        assert (states.vectors[place, : len(alone)] - alone).abs().max() < 1e-5


def test_a_long_text_is_cut_and_said(world):
    ((row,),) = sentences.roles([replace(ONE, text="car " * 40)], world[1], Limits(5))
    assert row.length == 5 and row.notes == ("The sentence is cut after 5 tokens: 139 characters are left out.",)


@pytest.mark.parametrize("task", [sentences, inference])
def test_examples_are_read_and_varied(world, task):
    examples = task.examples()
    assert len(examples) == 16 and len({one.id for one in examples}) == 16
    for example in examples:
        example.check()
        assert task.Example.from_row(task.row(example)) == replace(example, id="")
    assert {one.id.rpartition("-")[0] for one in examples} >= {"negation", "long-distance", "ambiguity"}
    if task is inference:
        assert {one.label for one in examples} == {0, 1, 2}


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_text_is_said(text):
    with pytest.raises(InputError, match="The sentence is empty"):
        replace(ONE, text=text).check()
    with pytest.raises(InputError, match="The hypothesis is empty"):
        replace(TWO, hypothesis=text).check()


@pytest.mark.parametrize(
    ("task", "row", "message"),
    [
        ("sentences", {"text": 3}, "'text' must be text"),
        ("sentences", {"text": "a", "label": -1}, "'label' must be"),
        ("inference", {"text_a": "a"}, "'text_b' is absent; there are text_a"),
        ("inference", {"text_a": "a", "text_b": "b", "label": 3}, "0 to 2"),
    ],
)
def test_a_bad_row_is_named(tmp_path, task, row, message):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n", "utf-8")
    with pytest.raises(DataError, match=rf"rows.jsonl:1: .*{message}"):
        list(TASKS[task].read(path))


def test_rows_are_chosen_by_their_fields(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [{"text_a": str(i), "text_b": "b", "label": 0, "src": "random" if i % 2 else "other"} for i in range(5)]
    rows[3]["dup"] = 1
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert [example.premise for example in inference.read(path, where={"src": "random"})] == ["1", "3"]
    assert [example.premise for example in inference.read(path, training=True, where={"src": "random"})] == ["1"]


def test_spaced_text_is_natural_again():
    row = {"text": "it -LRB- really -RRB- does n't work , sadly ."}
    assert sentences.from_file(row, "x").text == "it (really) doesn't work, sadly."


def test_what_is_right_and_what_a_blind_answer_reaches():
    verdicts = [sentences.verdict(replace(ONE, label=label), [0.2, 0.5, 0.3]) for label in (0, 1, 1, 2)]
    assert [right for right, *_ in verdicts] == [False, True, True, False]
    assert sentences.metrics(verdicts) == {"accuracy": 50.0}
    assert inference.baseline([replace(TWO, label=label) for label in (0, 2, 2)]) == {"majority": 66.67}
    with pytest.raises(DataError, match="label 4, but this checkpoint knows classes 0 to 2"):
        sentences.verdict(replace(ONE, label=4), [0.2, 0.5, 0.3])


@pytest.mark.parametrize(
    ("part", "settings", "message"),
    [
        ("model", {"mechanism": "mtsaa"}, "mechanism"),
        ("model", {"mask": []}, "unknown key 'model.mask'; did you mean 'masks'"),
        ("model", {"masks": ["forwards"]}, "unknown mask 'forwards'"),
        ("model", {"masks": ["forward", "none"]}, "2 masks for 8 heads"),
        ("model", {"heads": 7}, "`out` (600) must be divisible by `heads` (7)"),
        ("model", {"vectors": "layer:0"}, 'expected "embedding", or "layer:k"'),
        ("model", {"mechanism": "bi_lstm", "token2token": False}, "bi_lstm has no setting token2token"),
        ("model", {"mechanism": "disa", "out": 7}, "`out` must be even for two directions, got 7"),
        ("data", {"folds": 10}, "one set that is train and test"),
        ("data", {"dev": None, "folds": 2}, "at least 3"),
        ("data", {"dev": None, "folds": 5, "fold": 6}, "fold 6: there are 5"),
        ("data", {"test": "a/train"}, "different sets"),
        ("training", {"optimizer": "sgd"}, "optimizer"),
        ("training", {"rates": 1}, "unknown key 'training.rates'"),
        (None, {"labels": ["bad", "bad"]}, "name the classes"),
        (None, {"labels": []}, "name the classes"),
        (None, {"task": "inference"}, "labels are fixed by the task"),
        (None, {"task": "pairs"}, "task"),
        (None, {"kind": "sentences"}, "unknown kind 'sentences'; did you mean 'sentence'?"),
        (None, {"cells": [1, 2, 3]}, "unknown key 'cells'"),
    ],
)
def test_a_config_says_what_is_wrong_in_one_line(tmp_path, part, settings, message):
    check_config_error(tmp_path, CONFIG, part, settings, message)


def test_a_config_reads_what_it_wrote(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG), "utf-8")
    config = read_config(path)
    path.write_text(config.model_dump_json(exclude_none=True), "utf-8")
    assert read_config(path) == config
