"""Several checkpoints over a file of rows: each as if alone, the encoder once for all, memory flat."""

from __future__ import annotations

import gc
import json
import weakref
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tests.support.tiny import make_checkpoint, make_encoder, make_rows, make_world
from triattn_core.__main__ import main
from triattn_core.analysis.significance import mcnemar
from triattn_core.checkpoint.bundle import Bundle, load
from triattn_core.errors import ConfigError, DataError
from triattn_core.inference import evaluate as module
from triattn_core.inference.evaluate import evaluate, exclude_overlap, judge, predictions, verdicts
from triattn_core.inference.explain import explain
from triattn_core.inference.predict import batch_by_length
from triattn_core.tasks import dialogue, pairs

pytestmark = pytest.mark.slow

NAMES = ("bi", "cbi", "tri", "tri-again")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Checkpoints with drawn weights on one encoder, and 75 rows."""
    root = make_world(tmp_path_factory.mktemp("world"), ())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        for seed, name in enumerate(NAMES, 3):
            make_checkpoint(root, name, name.partition("-")[0], seed)
        make_rows(root / "rows.jsonl", 75, seed=9)
        yield root


@pytest.fixture(scope="module")
def bundles(world) -> list[Bundle]:
    return [load(name) for name in NAMES]


@pytest.fixture(scope="module")
def examples(world) -> list[pairs.Example]:
    return list(pairs.read(world / "rows.jsonl"))


def test_together_each_says_what_it_says_alone_and_one_by_one(bundles, examples):
    found = list(predictions(bundles, examples, size=7))
    assert [example for example, _ in found] == examples
    for number, bundle in enumerate(bundles):
        alone = [one for _, (one,) in predictions([bundle], examples, size=7)]
        np.testing.assert_array_equal([told[number] for _, told in found], alone)
        for example, told in found[::5]:
            np.testing.assert_allclose(told[number], explain(bundle, example)[0].probabilities, atol=2e-6)


def test_the_checkpoints_differ(bundles, examples):
    """Twin of the above: had one answered for another, it would be seen."""
    told = np.array([one for _, one in predictions(bundles, examples)])
    assert told.shape == (75, len(NAMES), 2)
    for i in range(len(NAMES)):
        for j in range(i):
            assert (np.abs(told[:, i] - told[:, j]) > 1e-3).any(-1).mean() > 0.9


@pytest.mark.parametrize(("window", "size"), [(10, 64), (75, 10), (7, 3), (2048, 64), (1, 1)])
def test_neither_window_nor_batch_matters(bundles, examples, monkeypatch, window, size):
    expected = list(predictions(bundles[:2], examples))
    monkeypatch.setattr(module, "WINDOW", window)
    found = list(predictions(bundles[:2], examples, size))
    assert [example for example, _ in found] == [example for example, _ in expected]
    np.testing.assert_allclose([told for _, told in found], [told for _, told in expected], atol=2e-6)


@pytest.mark.parametrize("count", [1, 3])
def test_the_encoder_reads_each_row_once_for_all(bundles, examples, read, count):
    list(predictions(bundles[:count], examples, size=30))
    assert sorted(read) == [15, 30, 30]


def test_a_long_row_is_not_padded_for_by_short_ones():
    """Every row once, few at a time, none much longer than another of its batch."""
    lengths = [9, 120, 7, 30, 8, 31, 7, 33, 10, 7]
    found = list(batch_by_length(lengths, size=3))
    assert [[lengths[place] for place in batch] for batch in found] == [[7, 7, 7], [8, 9, 10], [30, 31, 33], [120]]
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
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
    told = list(predictions(bundles, examples))
    for number, (bundle, found) in enumerate(zip(bundles, evaluate(bundles, unjudged))):
        answered = [int(one[number][1] > one[number][0]) for _, one in told]
        assert judged[number] == [(g == a, g, a) for g, a in zip(gold, answered)]
        right = sum(g == a for g, a in zip(gold, answered))
        assert found["task"] == "pairs" and found["n"] == 75
        assert found["metrics"]["accuracy"] == pytest.approx(100 * right / 75, abs=0.005)
        assert evaluate([bundle], unjudged) == [found]
    assert len({tuple(one) for one in judged}) > 1


def test_each_row_is_said(bundles, examples):
    said: list[int] = []
    evaluate(bundles[:1], [*examples[:9], pairs.Example("who", "what")], said.append)
    assert said == [1] * 9


def test_rows_that_cannot_be_measured_are_named(bundles, examples):
    with pytest.raises(DataError, match="row 7f: Sentence B is empty"):
        evaluate(bundles, [*examples, pairs.Example("who", " ", 1, "7f")])
    for none in ([], [pairs.Example("who", "what")]):
        with pytest.raises(DataError, match="no row has a label"):
            evaluate(bundles, none)


@pytest.fixture
def stranger(world) -> Path:
    """A checkpoint on another encoder."""
    if not (world / "checkpoints" / "encoders" / "other").is_dir():
        make_encoder(world / "checkpoints" / "encoders" / "other", seed=6)
    return make_checkpoint(world, "stranger", "bi", 3, encoder="other")


@pytest.mark.parametrize("order", [1, -1])
def test_checkpoints_of_different_encoders_are_refused(bundles, stranger, examples, order):
    with pytest.raises(ConfigError, match="differ in their encoder") as caught:
        evaluate([bundles[0], load(stranger)][::order], examples)
    assert "\n" not in str(caught.value) and "bi" in str(caught.value) and "stranger" in str(caught.value)


def test_checkpoints_that_cut_at_different_lengths_are_refused(world, bundles, examples):
    shorter = load(make_checkpoint(world, "shorter", "bi", 3, max_tokens=5))
    with pytest.raises(ConfigError, match="bi and shorter differ in their max_tokens"):
        evaluate([*bundles[:2], shorter], examples)


# --- triattn evaluate ---


def test_rows_that_stand_elsewhere_too_are_left_out():
    """In whatever order, case, width and punctuation; not where only one of the texts does."""
    rows = [("Ａ 电影？", "B!", 1), ("a电影", "c", 1), ("b", "a 电影", 0), ("B", "b", 0)]
    rows = [pairs.Example(a, b, label, str(n)) for n, (a, b, label) in enumerate(rows)]
    assert [one.id for one in exclude_overlap(rows, [pairs.Example("b?", "A电影。", 0, "0")])] == ["1", "3"]
    talks = [dialogue.Example(("Hi.", "which one"), (text,), 0) for text in ("this", "that")]
    learnt = [dialogue.Example(("hi", "Which one?"), ("That!",), 0)]
    assert list(exclude_overlap(talks, learnt)) == talks[:1]
    tested = [dialogue.Example(("Hi.", "which one"), ("this", "that", "none"), right) for right in (0, 1, 2)]
    assert list(exclude_overlap(tested, learnt)) == [tested[0], tested[2]]


def test_the_command_line_measures_without_overlap(world, capsys):
    """A pair turned round is left out; a file that is not there is named."""
    rows = [json.loads(line) for line in (world / "rows.jsonl").read_text("utf-8").splitlines()]
    turned = [{"text_a": row["text_b"].upper(), "text_b": row["text_a"]} for row in rows[:20]]
    (world / "turned.jsonl").write_text("\n".join(map(json.dumps, turned)), "utf-8")
    asked = ["evaluate", "bi", str(world / "rows.jsonl"), "--exclude-overlap"]
    assert main([*asked, str(world / "turned.jsonl"), "--json"]) == 0
    left = sum({row["text_a"], row["text_b"]} not in [{r["text_a"], r["text_b"]} for r in rows[:20]] for row in rows)
    assert json.loads(capsys.readouterr().out)["n"] == left < len(rows)
    assert main([*asked, "nowhere.jsonl"]) == 1
    assert capsys.readouterr().err == "triattn: nowhere.jsonl: no such file\n"


def test_the_command_line_says_that_the_texts_look_foreign(world, capsys):
    """And nothing of the kind where they do not."""
    rows = [{"text_a": "哪些浏览器可以看电影", "text_b": "什么浏览器可以下电影", "label": 0}]
    (world / "zh.jsonl").write_text("\n".join(json.dumps(row) for row in 3 * rows), "utf-8")
    (world / "zh.json").write_text(json.dumps(rows[0]), "utf-8")
    for command in (["evaluate", "bi", str(world / "zh.jsonl")], ["explain", "bi", str(world / "zh.json")]):
        assert main(command) == 0
        assert "triattn: the texts look Chinese: bi reads English" in capsys.readouterr().err
    assert main(["evaluate", "bi", str(world / "rows.jsonl")]) == 0
    assert "look" not in capsys.readouterr().err


def test_the_command_line_compares_several(world, bundles, capsys, read):
    data = str(world / "rows.jsonl")
    assert main(["evaluate", "bi", "tri", "cbi", data, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sum(read) == 75
    assert [one["name"] for one in found["checkpoints"]] == ["bi", "tri", "cbi"]
    for one in found["checkpoints"]:
        assert main(["evaluate", one.pop("name"), data, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == one
    by = dict(zip(NAMES, bundles))
    judged = verdicts([by["bi"], by["tri"], by["cbi"]], pairs.read(Path(data)))
    right = [[right for right, *_ in one] for one in judged]
    assert found["differences"] == [vars(one) for one in mcnemar(["bi", "tri", "cbi"], right)]
    assert any(one["only_a"] != one["only_b"] for one in found["differences"])


def test_the_command_line_in_words(world, capsys):
    data = str(world / "rows.jsonl")
    assert main(["evaluate", "bi", "tri", data]) == 0
    first, second, difference = capsys.readouterr().out.splitlines()
    assert first.startswith("bi  75 rows  accuracy ") and second.startswith("tri  75 rows  accuracy ")
    assert difference.startswith("tri less bi: ") and "McNemar p " in difference
    assert main(["evaluate", "tri", data]) == 0
    assert capsys.readouterr().out.startswith("75 rows  accuracy ")


def test_the_command_line_refuses_strangers_in_one_line(world, stranger, capsys):
    assert main(["evaluate", "bi", "stranger", str(world / "rows.jsonl"), "--json"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = (line for line in said.err.splitlines() if line.startswith("triattn: "))
    assert "differ in their encoder" in line


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


@pytest.fixture
def broken(world, tmp_path) -> Path:
    """60 good rows, one without its second sentence, and the others."""
    lines = (world / "rows.jsonl").read_text("utf-8").splitlines(keepends=True)
    file = tmp_path / "broken.jsonl"
    file.write_text("".join([*lines[:60], '{"text_a": "who", "label": 1}\n', *lines[60:]]), "utf-8")
    (tmp_path / "before.jsonl").write_text("".join(lines[:60]), "utf-8")
    return file


def test_a_row_that_cannot_be_read_leaves_the_numbers_of_those_before(broken, bundles, capsys):
    assert main(["evaluate", "bi", "tri", str(broken), "--json"]) == 1
    said = capsys.readouterr()
    assert f"{broken}:61: " in said.err and "those of the 60 labelled rows before" in said.err
    assert main(["evaluate", "bi", "tri", str(broken.with_name("before.jsonl")), "--json"]) == 0
    assert json.loads(said.out) == json.loads(capsys.readouterr().out) | {"stopped": True}


def test_an_example_that_the_model_cannot_read_leaves_the_answers_before(bundles, examples):
    asked = predictions(bundles[:1], [*examples[:9], pairs.Example("who", " ", 1, "7f")])
    found = []
    with pytest.raises(DataError, match="row 7f"):
        found.extend(one for one in asked)
    assert [example for example, _ in found] == examples[:9]


def test_who_stops_it_has_the_numbers_so_far(world, bundles, capsys, monkeypatch):
    def stopped(bundles, rows, said, joined):
        yield from islice(judge(bundles, rows), 7)
        raise KeyboardInterrupt

    monkeypatch.setattr("triattn_core.inference.evaluate.judge", stopped)
    assert main(["evaluate", "bi", str(world / "rows.jsonl")]) == 130
    said = capsys.readouterr()
    assert said.out.startswith("7 rows  accuracy ") and "stopped after 7 rows" in said.err
