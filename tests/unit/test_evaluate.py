"""Several checkpoints over a file of rows: each as if alone, the encoder once for all, memory flat."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path

import numpy as np
import pytest

from tests.support.evaluate_world import NAMES, make_stranger, use_world
from tests.support.tiny import make_checkpoint
from triattn_core.checkpoint.bundle import Bundle, load
from triattn_core.errors import ConfigError, DataError
from triattn_core.inference import evaluate as module
from triattn_core.inference.evaluate import evaluate, exclude_overlap, predictions, verdicts
from triattn_core.inference.explain import explain
from triattn_core.inference.predict import batch_by_length
from triattn_core.tasks import dialogue, pairs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with use_world(tmp_path_factory.mktemp("world")) as root:
        yield root


@pytest.fixture(scope="module")
def bundles(world) -> list[Bundle]:
    return [load(name) for name in NAMES]


@pytest.fixture(scope="module")
def examples(world) -> list[pairs.Example]:
    return list(pairs.read(world / "rows.jsonl"))


def test_together_each_says_what_it_says_alone_and_one_by_one(bundles, examples):
    results = list(predictions(bundles, examples, size=7))
    assert [example for example, _ in results] == examples
    for number, bundle in enumerate(bundles):
        alone = [one for _, (one,) in predictions([bundle], examples, size=7)]
        np.testing.assert_array_equal([probabilities[number] for _, probabilities in results], alone)
        for example, probabilities in results[::5]:
            np.testing.assert_allclose(probabilities[number], explain(bundle, example)[0].probabilities, atol=2e-6)


def test_the_checkpoints_differ(bundles, examples):
    """Twin of the above: had one answered for another, it would be seen."""
    probabilities = np.array([prediction for _, prediction in predictions(bundles, examples)])
    assert probabilities.shape == (75, len(NAMES), 2)
    for i in range(len(NAMES)):
        for j in range(i):
            assert (np.abs(probabilities[:, i] - probabilities[:, j]) > 1e-3).any(-1).mean() > 0.9


@pytest.mark.parametrize(("window", "size"), [(10, 64), (75, 10), (7, 3), (2048, 64), (1, 1)])
def test_neither_window_nor_batch_matters(bundles, examples, monkeypatch, window, size):
    expected = list(predictions(bundles[:2], examples))
    monkeypatch.setattr(module, "WINDOW", window)
    results = list(predictions(bundles[:2], examples, size))
    assert [example for example, _ in results] == [example for example, _ in expected]
    np.testing.assert_allclose(
        [probabilities for _, probabilities in results], [probabilities for _, probabilities in expected], atol=2e-6
    )


@pytest.mark.parametrize("count", [1, 3])
def test_the_encoder_reads_each_row_once_for_all(bundles, examples, read, count):
    list(predictions(bundles[:count], examples, size=30))
    assert sorted(read) == [15, 30, 30]


def test_a_long_row_is_not_padded_for_by_short_ones():
    """Every row once, few at a time, none much longer than another of its batch."""
    lengths = [9, 120, 7, 30, 8, 31, 7, 33, 10, 7]
    batches = list(batch_by_length(lengths, size=3))
    assert [[lengths[place] for place in batch] for batch in batches] == [[7, 7, 7], [8, 9, 10], [30, 31, 33], [120]]
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    assert list(batch_by_length([], 3)) == []


def test_a_window_is_held_and_no_more(bundles, monkeypatch):
    """Rows are read a window ahead of what is answered, and let go when they are."""
    monkeypatch.setattr(module, "WINDOW", 16)
    alive: list[weakref.ref] = []
    most = 0

    def rows():
        for number in range(160):
            example = pairs.Example(f"who {'blue ' * (number % 5)}car", "what movie", number % 2, str(number))
            alive.append(weakref.ref(example))
            yield example
            del example

    for answered, (example, _) in enumerate(predictions(bundles[:1], rows())):
        assert example.id == str(answered)
        assert answered < len(alive) <= 16 * (answered // 16 + 1)
        del example
        if answered % 10 == 0:
            gc.collect()
            most = max(most, sum(one() is not None for one in alive))
    assert len(alive) == 160
    assert 0 < most <= 16


def test_metrics_of_each_over_the_rows_that_have_a_label(bundles, examples):
    unjudged = [pairs.Example("who", "what"), *examples, pairs.Example("red", "car")]
    judged = verdicts(bundles, iter(unjudged))
    gold = [example.label for example in examples]
    answers = list(predictions(bundles, examples))
    for number, (bundle, result) in enumerate(zip(bundles, evaluate(bundles, unjudged))):
        answered = [int(answer[number][1] > answer[number][0]) for _, answer in answers]
        assert judged[number] == [(g == a, g, a) for g, a in zip(gold, answered)]
        right = sum(g == a for g, a in zip(gold, answered))
        assert result["task"] == "pairs" and result["n"] == 75
        assert result["metrics"]["accuracy"] == pytest.approx(100 * right / 75, abs=0.005)
        assert evaluate([bundle], unjudged) == [result]
    assert len({tuple(one) for one in judged}) > 1


def test_each_row_is_said(bundles, examples):
    progress: list[int] = []
    evaluate(bundles[:1], [*examples[:9], pairs.Example("who", "what")], progress.append)
    assert progress == [1] * 9


def test_rows_that_cannot_be_measured_are_named(bundles, examples):
    with pytest.raises(DataError, match="row 7f: Sentence B is empty"):
        evaluate(bundles, [*examples, pairs.Example("who", " ", 1, "7f")])
    for none in ([], [pairs.Example("who", "what")]):
        with pytest.raises(DataError, match="no row has a label"):
            evaluate(bundles, none)


@pytest.fixture
def stranger(world) -> Path:
    return make_stranger(world)


@pytest.mark.parametrize("order", [1, -1])
def test_checkpoints_of_different_encoders_are_refused(bundles, stranger, examples, order):
    with pytest.raises(ConfigError, match="differ in their encoder") as caught:
        evaluate([bundles[0], load(stranger)][::order], examples)
    assert "\n" not in str(caught.value) and "bi" in str(caught.value) and "stranger" in str(caught.value)


def test_checkpoints_that_cut_at_different_lengths_are_refused(world, bundles, examples):
    shorter = load(make_checkpoint(world, "shorter", "bi", 3, max_tokens=5))
    with pytest.raises(ConfigError, match="bi and shorter differ in their max_tokens"):
        evaluate([*bundles[:2], shorter], examples)


def test_rows_that_stand_elsewhere_too_are_left_out():
    """In whatever order, case, width and punctuation; not where only one of the texts does."""
    rows = [("Ａ 电影？", "B!", 1), ("a电影", "c", 1), ("b", "a 电影", 0), ("B", "b", 0)]
    rows = [pairs.Example(a, b, label, str(n)) for n, (a, b, label) in enumerate(rows)]

    def remaining(examples, others):
        return [example for _, example in exclude_overlap(enumerate(examples), others)]

    bad = DataError("rows.jsonl:5: not JSON")
    kept = remaining([*rows, bad], [pairs.Example("b?", "A电影。", 0, "0")])
    assert kept == [rows[1], rows[3], bad]  # a row that cannot be read is told of later
    talks = [dialogue.Example(("Hi.", "which one"), (text,), 0) for text in ("this", "that")]
    learnt = [dialogue.Example(("hi", "Which one?"), ("That!",), 0)]
    assert remaining(talks, learnt) == talks[:1]
    tested = [dialogue.Example(("Hi.", "which one"), ("this", "that", "none"), right) for right in (0, 1, 2)]
    assert remaining(tested, learnt) == [tested[0], tested[2]]


def test_a_stopped_measurement_goes_on_after_its_last_whole_row(bundles, examples, tmp_path):
    file = tmp_path / "kept.jsonl"
    whole = verdicts(bundles, examples, cache=file)
    lines = file.read_text().splitlines(keepends=True)
    assert len(lines) == 75 and verdicts(bundles, examples) == whole
    wrong = [[not right, *rest] for right, *rest in json.loads(lines[0])]
    file.write_text(json.dumps(wrong) + "\n" + "".join(lines[1:40]) + lines[40][:9])
    asked: list[int] = []
    again = verdicts(bundles, examples, asked.append, cache=file)
    assert asked == [40, *[1] * 35]
    assert [list(map(tuple, column)) for column in zip(*again)][1:] == [list(column) for column in zip(*whole)][1:]
    assert [one[0] for one in again] == [tuple(one) for one in wrong], "rows that are kept are not asked again"
    assert len(file.read_text().splitlines()) == 75


def test_an_example_that_the_model_cannot_read_leaves_the_answers_before(bundles, examples):
    asked = predictions(bundles[:1], [*examples[:9], pairs.Example("who", " ", 1, "7f")])
    results = []
    with pytest.raises(DataError, match="row 7f"):
        results.extend(one for one in asked)
    assert [example for example, _ in results] == examples[:9]
