"""Two inputs aligned by their difference, and one text that several tokenizers cut."""

from __future__ import annotations

import random

import numpy as np
import pytest
import xarray as xr

from tests.oracles import compare as oracle
from triattn_core.analysis.maps import compare, token_alignment
from triattn_core.errors import TraceError

TEXTS = {"a": "unhappy cats sleep", "b": "they nap often"}


def cut(text: str, *at: int) -> list[tuple[int, int]]:
    """Spans of a text cut at these places; spaces belong to nobody."""
    ends = [0, *at, len(text)]
    return [(a + (text[a] == " "), b) for a, b in zip(ends, ends[1:])]


def drawn(query: list[tuple[int, int]], key: list[tuple[int, int]], seed: int = 0, texts=TEXTS) -> xr.DataArray:
    values = np.random.default_rng(seed).dirichlet(np.ones(len(key)), len(query))
    coords = {}
    for axis, text, spans in (("query", "a", query), ("key", "b", key)):
        coords[f"{axis}_token"] = (axis, [texts[text][a:b] for a, b in spans])
        coords[f"{axis}_text"] = (axis, [text] * len(spans))
        coords[f"{axis}_start"], coords[f"{axis}_end"] = ((axis, [span[i] for span in spans]) for i in (0, 1))
        coords[f"{axis}_special"] = (axis, [0] * len(spans))
    return xr.DataArray(values, coords, ("query", "key"), attrs={"quantity": "weight", "sums_over": "key"})


def words(text: str) -> list[tuple[int, int]]:
    return cut(text, *(i for i, letter in enumerate(text) if letter == " "))


@pytest.mark.parametrize("seed", range(20))
def test_each_token_of_both_stands_once_in_order(seed):
    draw = random.Random(seed)
    left, right = (["abcd"[draw.randrange(4)] for _ in range(draw.randrange(9))] for _ in range(2))
    pairs = token_alignment.align_tokens(left, right)
    for side, tokens in enumerate((left, right)):
        assert [pair[side] for pair in pairs if pair[side] is not None] == list(range(len(tokens)))
    both = [(i, j) for i, j in pairs if i is not None and j is not None]
    assert all(left[i] == right[j] for i, j in both)
    assert bool(both) == bool(set(left) & set(right))
    assert (None, None) not in pairs


def test_one_word_for_another_is_taken_out_and_put_in():
    assert token_alignment.align_tokens("which films play".split(), "which movies play".split()) == [
        (0, 0),
        (1, None),
        (None, 1),
        (2, 2),
    ]


def test_maps_of_two_inputs_have_gaps_where_one_has_no_token():
    after = {"a": TEXTS["a"], "b": "they rarely nap often indeed"}
    left, right = drawn(words(TEXTS["a"]), words(TEXTS["b"])), drawn(words(after["a"]), words(after["b"]), 1, after)
    a, b = token_alignment.align_maps(left, right)
    assert a["key_token"].values.tolist() == ["they", "rarely", "nap", "often", "indeed"]
    assert a["key_text"].values.tolist() == ["b", "edited b", "b", "b", "edited b"]
    assert a["key_start"].values.tolist() == [0, 5, 5, 9, 22]
    assert a["key_twin_start"].values.tolist() == [0, -1, 12, 16, -1]
    np.testing.assert_array_equal(a.values[:, [0, 2, 3]], left.values)
    np.testing.assert_array_equal(b.values, right.values)
    assert np.isnan(a.values[:, [1, 4]]).all()
    gap = compare.difference(b, a)
    np.testing.assert_allclose(gap.values[:, [0, 2, 3]], right.values[:, [0, 2, 3]] - left.values)
    assert np.isnan(gap.values[:, [1, 4]]).all()
    for n in range(3):  # what lies on the new words is mass that the other does not have
        p = [left.values[n, 0], 0, *left.values[n, 1:], 0]
        assert compare.jensen_shannon(a, b)[n] == pytest.approx(oracle.jensen_shannon(p, list(right.values[n])))


def test_a_cell_of_two_words_that_never_met_is_a_gap():
    before, after = {"a": "red cat", "b": "old"}, {"a": "cat naps", "b": "new"}
    pair = [drawn(words(one["a"]), words(one["b"]), 0, one) for one in (before, after)]
    a, b = token_alignment.align_maps(*pair)
    assert a.shape == (3, 2) and np.isnan(compare.difference(a, b).values).all()


@pytest.mark.parametrize("seed", range(20))
def test_parts_agree_with_the_oracle(seed):
    draw = random.Random(seed)
    text = "".join(draw.choice("abc ") for _ in range(17)).replace("  ", "ab").strip()
    spans = [cut(text, *sorted(draw.sample(range(1, len(text)), draw.randrange(6)))) for _ in range(3)]
    spans = [[(a, b) for a, b in one if a < b] for one in spans]
    assert token_alignment.common_parts(spans) == oracle.parts(spans, len(text))


def test_words_join_what_two_tokenizers_cut():
    text = TEXTS["a"]
    parts = token_alignment.common_parts([cut(text, 2, 7, 12), cut(text, 4, 7, 12, 15)])
    assert parts == [[0, 0, 1, 2], [0, 0, 1, 2, 2]]


def test_what_one_tokenizer_drops_belongs_to_its_neighbour():
    assert token_alignment.common_parts([[(0, 1), (4, 5)], [(0, 1), (2, 3), (4, 5)]]) == [[0, 1], [0, 1, 1]]


def test_a_space_at_the_end_belongs_to_the_last_word():
    assert token_alignment.common_parts([[(0, 3), (4, 6)], [(0, 3), (4, 6), (7, 7)]]) == [[0, 1], [0, 1, 1]]


@pytest.mark.parametrize("spans", [[[(0, 3)], [(0, 3), (4, 7)]], [[], [(0, 3)]]])
def test_texts_that_are_cut_short_elsewhere_are_refused(spans):
    with pytest.raises(TraceError, match=r"different ends, characters \d+ and \d+: shorten it"):
        token_alignment.common_parts(spans)


def test_weights_are_compared_in_words_and_lose_no_mass():
    a, b = TEXTS.values()
    maps = [
        drawn(cut(a, 2, 7, 12), words(b), 3),
        drawn(words(a), cut(b, 1, 4, 8, 11), 4),
        drawn(words(a), words(b), 5),
    ]
    common_maps = token_alignment.to_common_parts(maps, TEXTS)
    queries = [[0, 0, 1, 2], [0, 1, 2], [0, 1, 2]]
    keys = [[0, 1, 2], [0, 0, 1, 2, 2], [0, 1, 2]]
    for common_map, given, query, key in zip(common_maps, maps, queries, keys):
        np.testing.assert_allclose(common_map.values, oracle.in_parts(given.values.tolist(), query, key), rtol=1e-12)
        np.testing.assert_allclose(common_map.sum("key"), 1)
        assert (
            common_map["query_token"].values.tolist() == a.split()
            and common_map["key_token"].values.tolist() == b.split()
        )
        assert common_map["key_start"].values.tolist() == [0, 5, 9]
    assert compare.jensen_shannon(common_maps[0], common_maps[1]).shape == (3,)


def test_relevances_of_two_tokenizers_are_refused_in_one_line():
    maps = [drawn(words(TEXTS["a"]), words(TEXTS["b"])).assign_attrs(quantity="relevance")] * 2
    with pytest.raises(TraceError, match="choose weight") as caught:
        token_alignment.to_common_parts(maps, TEXTS)
    assert "\n" not in str(caught.value)
