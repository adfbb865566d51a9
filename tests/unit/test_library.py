"""The public names: their examples run, and each takes a name, a path or what is loaded."""

from __future__ import annotations

import doctest
import inspect
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import triattn_core
from triattn_core import AttentionTrace, draw, evaluate, example, explain, load, trace_of
from triattn_core.errors import CheckpointError, ConfigError, DataError, InputError, TraceError

ROW = {"text_a": "Is it red?", "text_b": "Is it blue?", "label": 0}
NAME = "quora-tri-living"
CUBE = np.random.default_rng(2).dirichlet(np.ones(15), (2, 4)).reshape(2, 4, 3, 5).astype(np.float32)
TRACE = trace_of(CUBE, query=["red", "car", "red", "."], source="mine.npy")


@pytest.mark.parametrize("name", triattn_core.__all__)
def test_the_examples_of_a_public_name_run(name):
    public = getattr(triattn_core, name)
    tests = doctest.DocTestFinder(recurse=False).find(public, name, globs={**vars(triattn_core), **every_name()})
    examples = [test for test in tests if test.examples]
    assert examples, f"{name} has no >>> example"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in examples:
        assert runner.run(test).failed == 0


def every_name() -> dict:
    return {name: getattr(triattn_core, name) for name in triattn_core.__all__}


def test_the_package_s_own_example_runs():
    assert doctest.testmod(triattn_core).failed == 0


@pytest.mark.parametrize("name", triattn_core.__all__)
def test_a_public_function_says_what_it_raises(name):
    public = getattr(triattn_core, name)
    if inspect.isfunction(public) and name not in ("checkpoints", "notes_of"):
        assert "Raises" in public.__doc__


def test_a_name_a_folder_and_a_model_say_the_same():
    bundle = load(NAME, "cpu")
    assert load(bundle) is bundle
    expected, trace = explain(bundle, ROW)
    for what in (NAME, bundle.path, str(bundle.path)):
        prediction, other = explain(what, example("pairs", ROW), device="cpu")
        assert prediction == expected
        np.testing.assert_array_equal(
            other.site("layer.0/a_over_b/weight").values, trace.site("layer.0/a_over_b/weight").values
        )
    assert evaluate(bundle, [ROW]) == evaluate(NAME, [ROW], "cpu")
    assert evaluate([NAME], [ROW], "cpu") == [evaluate(NAME, [ROW], "cpu")]


def test_rows_of_a_file_are_those_of_a_list(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"text_a": "Is it red?", "text_b": "Is it blue?", "label": 0}\n', "utf-8")
    assert evaluate(NAME, tmp_path / "rows.jsonl", "cpu") == evaluate(NAME, [ROW], "cpu")


@pytest.mark.parametrize(
    ("call", "error", "reason"),
    [
        (lambda: explain("quora-tri", ROW), CheckpointError, "no checkpoint 'quora-tri'"),
        (lambda: explain(NAME, {"text_a": "x"}, device="cpu"), DataError, "text_b"),
        (lambda: draw("cube", NAME), InputError, "no example given"),
        (lambda: example("pair"), ConfigError, "no task 'pair'"),
        (lambda: load(3), ConfigError, "expected a name, a path or a trace, got int"),
        (lambda: draw("attribute", TRACE), ConfigError, "no view 'attribute' of a trace alone"),
        (lambda: draw("cube", TRACE, ROW), InputError, "is a file"),
    ],
)
def test_a_mistake_is_one_line(call, error, reason):
    with pytest.raises(error, match=reason) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_a_trace_is_read_like_a_mapping():
    assert list(map(str, TRACE)) == ["attention/weight"] and len(TRACE) == 1 and "attention/weight" in TRACE
    np.testing.assert_array_equal(TRACE["attention/weight"].values, CUBE)
    below = TRACE["attention"]
    assert isinstance(below, AttentionTrace) and list(below) == list(TRACE) and below.meta == TRACE.meta
    with pytest.raises(TraceError, match="no site 'layer'"):
        TRACE["layer"]
    with pytest.raises(FrozenInstanceError):
        TRACE.texts = {}


def test_positions_and_tokens_are_selected():
    np.testing.assert_array_equal(TRACE.sel(head=1)["attention/weight"].values, CUBE[1])
    np.testing.assert_array_equal(TRACE.sel(query="red")["attention/weight"].values, CUBE[:, [0, 2]])
    np.testing.assert_array_equal(
        TRACE.sel(key=slice(1, 3), context=[4])["attention/weight"].values, CUBE[:, :, 1:3, 4:]
    )
    for positions, reason in (({"head": 2}, "head 2 is outside 0…1"), ({"query": "blue"}, "no query has this token")):
        with pytest.raises(TraceError, match=reason):
            TRACE.sel(**positions)
    with pytest.raises(TraceError, match="has an axis 'feature'"):
        TRACE.sel(feature=0)


def test_a_trace_shows_itself():
    assert repr(TRACE) == "AttentionTrace(mine.npy: attention/weight [head 2, query 4, key 3, context 5])"
    assert "4 query × 3 key × 5 context" in TRACE._repr_html_() and "iframe" in TRACE._repr_html_()
    two_way = trace_of(CUBE.sum(-1), axes=("head", "query", "key"))
    assert "iframe" in two_way._repr_html_()
    tree = TRACE.to_datatree()
    np.testing.assert_array_equal(tree["attention/weight/value"].values, CUBE)
