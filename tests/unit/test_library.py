"""The public names: their examples run, and each takes a name, a path or what is loaded."""

from __future__ import annotations

import doctest
import inspect
import re
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

import triattn_core
from triattn_core import (
    AttentionTrace,
    attribute,
    checkpoints,
    draw,
    evaluate,
    example,
    explain,
    intervene,
    load,
    trace_of,
)
from triattn_core.__main__ import main
from triattn_core.errors import CheckpointError, ConfigError, DataError, InputError, TraceError
from triattn_core.tasks import as_example
from triattn_core.trace.site import Site

ROW = {"text_a": "Is it red?", "text_b": "Is it blue?", "label": 0}
NAME = "quora-tri-living"
CUBE = np.random.default_rng(2).dirichlet(np.ones(15), (2, 4)).reshape(2, 4, 3, 5).astype(np.float32)
TRACE = trace_of(CUBE, tokens={"query": ["red", "car", "red", "."]}, source="mine.npy")


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
    assert draw("cube", bundle, ROW).table.equals(draw("cube", NAME, ROW).table)
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
        (lambda: draw("coin", TRACE), TraceError, "this trace is not one of COIN"),
        (lambda: draw("coin", TRACE, off="context"), ConfigError, "running the model, which a trace alone cannot"),
        (lambda: draw("tensor", TRACE), TraceError, "this trace is not one of MTSA"),
        (lambda: draw("mtsa", TRACE), TraceError, "this trace is not one of MTSA"),
        (lambda: explain(NAME, "Is it red?", device="cpu"), InputError, r"is 2 texts \(text_a, text_b\), got 1"),
        (lambda: explain(NAME, device="cpu"), InputError, "no example given"),
        (lambda: explain(NAME, 3, device="cpu"), InputError, "expected an example of pairs, .* got int"),
        (lambda: example("roles", {}), DataError, "'tokens' is absent"),
        (lambda: load("missing.nc"), DataError, "missing.nc: no such file"),
        (lambda: attribute(TRACE, ROW), ConfigError, "a trace alone cannot give gradients"),
        (lambda: TRACE[0], TraceError, "a site is a text, such as attention/weight"),
        (lambda: TRACE.sel(layer=0), TraceError, r'a layer is trace\["layer.0"\]'),
        (lambda: draw("cube", TRACE, ROW), InputError, "is a file"),
        (lambda: draw("cube", TRACE, head=9), TraceError, "no head 9: attention/weight has 2"),
        (lambda: draw(None, TRACE), ConfigError, "no view None"),
        (lambda: draw("map", b"x"), ConfigError, "got bytes"),
        (lambda: evaluate([], [ROW]), ConfigError, "no checkpoint given"),
        (lambda: evaluate(TRACE, [ROW]), ConfigError, "a trace cannot be run"),
        (
            lambda: evaluate(NAME, ROW, "cpu"),
            InputError,
            "rows: expected a file, or a list of examples or dicts, got dict",
        ),
        (lambda: evaluate(NAME, None, "cpu"), InputError, "rows: expected .* got NoneType"),
        (lambda: intervene(NAME, ROW, "mask", device="cpu"), ConfigError, "intervene by mask: missing .* 'names'"),
        (lambda: checkpoints("pair"), ConfigError, "no task 'pair'; did you mean 'pairs'"),
    ],
)
def test_a_mistake_is_one_line(call, error, reason):
    with pytest.raises(error, match=reason) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_a_unit_may_be_named_alone():
    one, several = (
        intervene(NAME, ROW, "mask", unit, unit="tokens", device="cpu") for unit in ("token 2", ["token 2"])
    )
    assert one.change == several.change != 0


def test_an_example_may_be_its_texts_alone():
    texts = ROW["text_a"], ROW["text_b"]
    assert explain(NAME, texts, device="cpu")[0] == replace(explain(NAME, ROW, device="cpu")[0], gold=None)
    assert as_example("sentences", "A fine film.").text == "A fine film."
    with pytest.raises(InputError, match="a dict with the fields of its row"):
        as_example("roles", ["a", "b"])
    for other in (("a b", "a b", 1), 3):
        with pytest.raises(InputError, match="expected an example of pairs"):
            as_example("pairs", other)


@pytest.mark.parametrize(
    ("view", "name", "texts"),
    [
        ("mtsa", "cr-mtsa", "A fine film."),
        ("tensor", "cr-mtsa", "A fine film."),
        ("coin", "quora-coin", ("Is it red?", "Is it blue?")),
    ],
)
def test_a_saved_trace_is_drawn_as_its_model_is(view, name, texts, tmp_path):
    _, trace = explain(name, texts, device="cpu")
    trace.save(tmp_path / "trace.nc")
    drawn, of_model = draw(view, tmp_path / "trace.nc"), draw(view, name, texts)
    assert drawn.table.equals(of_model.table) and drawn.settings == of_model.settings
    drawn.save(tmp_path / "card.zip")


def test_two_traces_stand_side_by_side(tmp_path):
    other = trace_of(CUBE[:, :, ::-1], tokens={"query": ["red", "car", "red", "."]}, source="other.npy")
    drawn = draw("side_by_side", [TRACE, other], head=2)
    assert [panel["title"] for panel in drawn.figure.payload["panels"][:2]] == ["mine.npy", "other.npy"]
    shown = drawn.table[drawn.table.columns[-1]]
    assert len(shown) and drawn.settings.head == 2 and drawn.settings.site == Site.of("attention/weight")
    for name, trace in (("a", TRACE), ("b", TRACE)):
        trace.save(tmp_path / f"{name}.nc")
    same = draw("side_by_side", [tmp_path / "a.nc", tmp_path / "b.nc"])
    assert [explanation.entry.name for explanation in same.explanations] == ["mine.npy, 1", "mine.npy, 2"]
    with pytest.raises(ConfigError, match="a case card holds one trace"):
        same.save(tmp_path / "card.zip")
    files = [str(tmp_path / f"{name}.nc") for name in "ab"]
    assert main(["card", "side_by_side", *files, "--set", "head=2", "--out", str(tmp_path / "two.svg")]) == 0
    caption = (tmp_path / "two.caption.txt").read_text("utf-8")
    assert "triattn card side_by_side a.nc b.nc --set" in caption and "head=2" in caption


@pytest.mark.parametrize(
    ("name", "begins"),
    [("a.html", b"<!DOCTYPE"), ("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.zip", b"PK")],
)
def test_a_view_is_saved_by_the_ending_of_its_name(name, begins, tmp_path):
    draw("cube", TRACE).save(tmp_path / name)
    assert (tmp_path / name).read_bytes()[: len(begins)].lower() == begins.lower()


def test_a_view_is_not_saved_as_what_it_is_not(tmp_path):
    with pytest.raises(ConfigError, match="ends in .zip, .html, .svg, .png, .pdf"):
        draw("cube", TRACE).save(tmp_path / "a.txt")
    assert len(repr(draw("cube", TRACE).figures)) < 2000


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ([TRACE], "side_by_side shows two traces, got 1"),
        ([TRACE] * 5, "side_by_side shows two traces, got 5"),
        ([TRACE, NAME], "mine.npy is no model"),
    ],
)
def test_other_than_two_traces_do_not(what, reason):
    with pytest.raises(ConfigError, match=reason):
        draw("side_by_side", what, ROW if NAME in what else None)


def test_the_version_is_known():
    assert re.fullmatch(r"\d+\.\d+\.\d+", triattn_core.__version__)


def test_a_token_that_some_sites_have_selects_those():
    _, trace = explain(NAME, {"text_a": "Is it red?", "text_b": "Is it blue?"}, device="cpu")
    assert {site.role for site in trace.sel(query="red")} == {"a_over_b"}
    assert {site.role for site in trace.sel(query="it")} == {"a_over_b", "b_over_a"}


def test_a_trace_is_read_like_a_mapping():
    assert dict(trace_of(CUBE[0], axes=("query", "key", "context"))).keys() == {Site.of("attention/weight")}
    assert list(TRACE.items()) == list(zip(TRACE.keys(), TRACE.values()))
    assert list(map(str, TRACE)) == ["attention/weight"] and len(TRACE) == 1 and "attention/weight" in TRACE
    np.testing.assert_array_equal(TRACE["attention/weight"].values, CUBE)
    below = TRACE["attention"]
    assert isinstance(below, AttentionTrace) and list(below) == list(TRACE) and below.meta == TRACE.meta
    assert "attention" in TRACE and "att" not in TRACE and 0 not in TRACE
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
    for positions, reason in (
        ({"head": 2}, "head 2 is outside 0…1"),
        ({"query": "blue"}, "no query has the token 'blue'; known: "),
    ):
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
