"""Any axis of a cube folded, against slow loops; words and phrases; sinks; and what the views then say."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from tests.oracles import aggregation as oracle
from tests.unit.test_text_units import SITE, coords
from triattn_core.text.segmentation import phrases
from triattn_core.trace import AttentionTrace, Choice, text_units
from triattn_core.trace.aggregation import fold, mean_mass, with_attrs
from triattn_core.trace.distribution import Distribution
from triattn_core.views import cube
from triattn_core.views.lib import cell
from triattn_core.views.lib.strongest import labels, strongest

A, B = "Unhappy cats, if any, nap", "do dogs nap?"
TEXTS = {"a": A, "b": B}
CUTS = {
    "a": [(0, 2), (2, 7), (8, 12), (12, 13), (14, 16), (17, 20), (20, 21), (22, 25)],
    "b": [(0, 2), (3, 7), (8, 11), (11, 12)],
}
WORDS_A = ["Unhappy", "cats", ",", "if", "any", ",", "nap"]


def rows(*names: str) -> list:
    tokens = []
    for name in names:
        for start, end in CUTS[name]:
            piece = "##" * (name == "a" and start == 2) + TEXTS[name][start:end]
            tokens.append((piece, name, start, end, f"sentence {name.upper()}", 1))
    return tokens


QUERY, KEY, CONTEXT = rows("a"), rows("b")[:3], [("[CLS]", "", 0, 0, "", 1), *rows("b"), ("[SEP]", "", 0, 0, "", 1)]


def trace() -> AttentionTrace:
    """Two heads, 8 × 3 × 6; the second key token draws most."""
    scores = np.random.default_rng(23).normal(0, 1.5, (2, len(QUERY), len(KEY), len(CONTEXT)))
    scores[:, :, 1] += 4
    powers = np.exp(scores)
    coordinates = {**coords("query", QUERY), **coords("key", KEY), **coords("context", CONTEXT)}
    axes = ("head", "query", "key", "context")
    weights = powers / powers.sum((2, 3), keepdims=True)
    sites = {
        f"{SITE}/relevance": xr.DataArray(scores, coordinates, axes, attrs={"quantity": "relevance", "sums_over": ""}),
        f"{SITE}/weight": xr.DataArray(
            weights, coordinates, axes, attrs={"quantity": "weight", "sums_over": "key,context"}
        ),
    }
    return AttentionTrace(sites, TEXTS, {"checkpoint": "tri", "digest": "d"})


def read(query: str, key: str, context: str, own: tuple = ()) -> AttentionTrace:
    folded_trace = trace()
    for axis, unit in (("query", query), ("key", key), ("context", context)):
        folded_trace = text_units.fold_axis(folded_trace, unit, axis, own)
    return folded_trace


def test_all_axes_folded_are_what_slow_loops_give():
    folded_trace, groups = (
        read("words", "phrases", "sentences"),
        ([0, 0, 1, 2, 3, 4, 5, 6], [0, 0, 0], [0, 1, 1, 1, 1, 0]),
    )
    weights = trace().site(f"{SITE}/weight").values
    expected = np.stack([oracle.folded(head, *groups) for head in weights])
    np.testing.assert_allclose(folded_trace.site(f"{SITE}/weight").values, expected, rtol=1e-12)
    np.testing.assert_allclose(expected.sum((2, 3)), 1, rtol=1e-12)  # each row still sums to one
    scores = folded_trace.site(f"{SITE}/relevance")
    powers = np.exp(scores)
    softmax = (powers / powers.sum(("key", "context"))).values
    np.testing.assert_allclose(softmax, expected, rtol=1e-10)


def test_the_order_of_folds_does_not_matter_and_a_fold_of_a_fold_counts_tokens():
    folded_trace = read("words", "tokens", "tokens")
    again = folded_trace.fold("query", lambda _: ["x", "x", "y", "y", "y", "y", "y"])
    whole = trace().fold("query", lambda _: ["x", "x", "x", *"yyyyy"])
    np.testing.assert_allclose(again.site(f"{SITE}/weight"), whole.site(f"{SITE}/weight"), rtol=1e-12)
    softmax = np.exp(again.site(f"{SITE}/relevance"))
    softmax = softmax / softmax.sum(("key", "context"))
    np.testing.assert_allclose(softmax.values, again.site(f"{SITE}/weight").values, rtol=1e-10)
    assert again.site(f"{SITE}/weight")["query_cells"].values.tolist() == [3, 5]


def test_rows_without_mass_stay_without_and_lower_the_mean():
    weights = trace().site(f"{SITE}/weight").isel(head=0).copy()
    weights[1] = 0
    folded_weights = fold(weights, "query", ["x", "x", *map(str, range(6))])
    assert mean_mass(folded_weights) == pytest.approx(7 / 8) == folded_weights.attrs["mass_before"]
    assert float(folded_weights[0].sum()) == pytest.approx(1 / 2)
    scores = trace().site(f"{SITE}/relevance").isel(head=0).copy()
    scores[0:2] = -np.inf
    masked = fold(scores, "query", ["x", "x", *map(str, range(6))], ("key", "context"))
    assert np.isneginf(masked[0]).all() and np.isfinite(masked[1:]).all()


def test_words_join_pieces_and_phrases_end_at_marks():
    array = trace().site(f"{SITE}/weight")
    words = read("words", "words", "phrases")
    assert labels(words.site(f"{SITE}/weight"), TEXTS, "query") == WORDS_A
    assert labels(words.site(f"{SITE}/weight"), TEXTS, "context") == ["[CLS]", "do dogs nap?", "[SEP]"]
    folded_weights = read("phrases", "tokens", "tokens").site(f"{SITE}/weight")
    assert labels(folded_weights, TEXTS, "query") == ["Unhappy cats,", "if any,", "nap"]
    own = text_units.unit_groups(array, "query", TEXTS, "phrases", ("CATS, if", "nap"))
    assert [own.index(one) for one in own] == [0, 0, 2, 2, 2, 5, 6, 7]
    assert text_units.missing_phrases(TEXTS, ("CATS, if", "birds", "c.ts")) == ["birds", "c.ts"]  # a dot is only a dot


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Well, it is 1,000.5 big (so they say): yes", ["Well, ", "it is 1,000.5 big ", "(so they say): ", "yes"]),
        ("浏览器，可以看；电影。好", ["浏览器，", "可以看；", "电影。", "好"]),
        ("no mark", ["no mark"]),
        ("", [""]),
        (", ,", [", ", ","]),
    ],
)
def test_phrases_touch_and_are_the_text(text: str, expected: list[str]):
    parts = [text[start:end] for start, end in phrases(text)]
    assert parts == expected and "".join(parts) == text


def test_a_folded_cell_says_what_part_of_the_mass_it_holds():
    choice, folded_trace = Choice(f"{SITE}/weight", index=(("head", 1),)), read("words", "tokens", "tokens")
    weights = trace().site(f"{SITE}/weight").values[1]
    facts = cell.numbers_of(Distribution(folded_trace, choice), {"query": 0, "key": 1, "context": 2})
    both = weights[:2, 1, 2].sum()
    assert facts["weight"] == pytest.approx(both / 2) and facts["share"] == pytest.approx(both / 8)
    table = strongest(Distribution(folded_trace, choice))
    assert table["share"].sum() == pytest.approx(1) and (np.diff(table["share"]) <= 1e-15).all()
    sentence = cell.fold_check(Distribution(read("words", "words", "sentences"), choice))
    assert sentence.startswith("Query is folded from 8 cells to 7, context")
    assert "over query averaged, mass before 1.000000 and after 1.000000" in sentence


def test_sinks_receive_more_than_their_share_and_hiding_them_keeps_the_numbers():
    choice, weights = Choice(f"{SITE}/weight", index=(("head", 0),)), trace().site(f"{SITE}/weight")
    for axis, at in (("key", 2), ("context", 3)):
        np.testing.assert_allclose(
            text_units.received_mass(weights, axis), oracle.received(weights.values, at), rtol=1e-12
        )
    times = np.array(oracle.received(weights.values, 2)) * 3
    assert times[1] > 2 > times[0]
    assert text_units.find_sinks(trace(), SITE, 2.0) == {"key": [1], "context": []}
    marked = text_units.mark_sinks(trace(), SITE, 2.0)
    payload = cube.figure(Distribution(marked, choice), hide_special=True).payload
    assert payload["axes"]["key"]["position"] == [0, 2] and payload["axes"]["context"]["position"] == [1, 2, 3, 4]
    hidden_share = 100 * (1 - weights.values[0][:, [0, 2]][:, :, 1:5].sum() / 8)
    assert (
        f"sinks (“dogs” as key) are hidden: they hold {hidden_share:.3g} % of the mass"
        in payload["inspector"]["hidden"]
    )
    np.testing.assert_array_equal(marked.site(f"{SITE}/weight").values, weights.values)
    assert trace().site(f"{SITE}/weight")["key_special"].values.tolist() == [0, 0, 0]  # what was given stays
    none = cube.figure(Distribution(text_units.mark_sinks(trace(), SITE, 5.0), choice), hide_special=True).payload
    assert none["inspector"]["hidden"].endswith("No other token receives more than 5 times an even share.")


def test_the_sentence_of_the_cube_is_made_of_its_numbers():
    choice = Choice(f"{SITE}/weight", index=(("head", 0),))
    weights, canvas = trace().site(f"{SITE}/weight").values[0], cube.figure(Distribution(trace(), choice))
    q, k, c = np.unravel_index(weights.argmax(), weights.shape)
    held = 100 * np.sort(weights.ravel())[::-1][:8].sum() / 8
    assert canvas.alt.startswith("Of 144 weights, 8 query × 3 key × 6 context, the strongest is ")
    assert f"weight {weights[q, k, c]:.3g}; the 8 strongest hold {held:.3g} % of the mass." in canvas.alt
    hidden = cube.figure(Distribution(trace(), choice), hide_special=True).alt
    assert hidden.startswith("Of 96 weights, 8 query × 3 key × 4 context, "), "the sizes of what is shown"
    relevance = cube.figure(Distribution(trace(), Choice(f"{SITE}/relevance", index=(("head", 0),)))).alt
    assert "relevance" in relevance and "nan" not in relevance


def test_other_attributes_cost_no_new_coordinates():
    """Maps are made by the hundred, and xarray takes longest to build coordinates."""
    array = xr.DataArray(np.ones((2, 3)), {"query": ["a", "b"]}, ("query", "key"), attrs={"quantity": "weight"})
    other = with_attrs(array, sums_over="key")
    assert other.attrs == {"sums_over": "key"} and array.attrs == {"quantity": "weight"}
    assert other.indexes["query"] is array.indexes["query"]
