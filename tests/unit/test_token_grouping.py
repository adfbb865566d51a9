"""Maps and traces as they are read: folded against slow loops, what is hidden, and what stays as it is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import xarray as xr

from tests.oracles import aggregation as oracle
from tests.oracles import compare as numbers
from tests.support.figure_arrays import sent_array
from tests.support.mtsa_traces import LAYER, MASKS, N, make_trace, open_pairs
from tests.unit.test_aggregation import SITE, TEXTS, trace
from tests.unit.test_views_side_by_side import three
from triattn_core.analysis.maps import compare, token_alignment
from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import mean_mass
from triattn_core.trace.site import Site
from triattn_core.trace.token_grouping import EVEN, TokenGrouping, grouping_caption, strongest_pair
from triattn_core.views import attention_maps
from triattn_core.views import side_by_side as view
from triattn_core.views.attention_maps import maps as head_maps
from triattn_core.views.lib import cell
from triattn_core.views.lib.strongest import labels
from triattn_core.views.side_by_side.described import chance
from triattn_core.views.side_by_side.panels import HIDDEN, hidden, without

QUERY, KEY = [0, 0, 1, 2, 3, 4, 5, 6], [0, 0, 0]  # "Un ##happy cats, if any, nap" in words; "do dogs nap" is one phrase
WORDS = TokenGrouping.of(query="words", key="phrases")


def read(reading: TokenGrouping, quantity: str, head: int | None, cube: AttentionTrace | None = None) -> xr.DataArray:
    cube = cube or trace()
    return compare.two_way_map(cube.site(f"{SITE}/{quantity}"), head, partial(reading.array, texts=TEXTS))


@pytest.mark.parametrize("head", [None, 1])
@pytest.mark.parametrize("key", ["phrases", "tokens"])
def test_a_folded_map_is_what_slow_loops_give(head, key):
    cube, groups = trace().site(f"{SITE}/weight").values, (QUERY, KEY if key == "phrases" else [0, 1, 2])
    folded = [numbers.marginal(oracle.folded(one, *groups, range(6))) for one in cube]
    expected = np.mean(folded, axis=0) if head is None else folded[head]
    folded_map = read(TokenGrouping.of(query="words", key=key), "weight", head)
    np.testing.assert_allclose(folded_map.values, expected, rtol=1e-12)
    assert folded_map.attrs["mass_before"] == pytest.approx(1) == mean_mass(folded_map)
    named = "folded from 8 cells to 7, key is folded from 3 cells to 1" if key == "phrases" else "from 8 cells to 7: "
    sentence = cell.describe_aggregation(folded_map)
    assert named in sentence and "over query averaged" in sentence or key == "tokens"


def test_the_softmax_of_a_folded_relevance_is_the_folded_weight():
    reading = TokenGrouping.of(query="words", key="tokens")
    scores, weights = read(reading, "relevance", 1).values, read(reading, "weight", 1).values
    np.testing.assert_allclose([numbers.softmax(row) for row in scores.tolist()], weights, rtol=1e-10)
    np.testing.assert_allclose(scores.mean(1), 0, atol=1e-12)


def test_bits_of_a_folded_map_are_those_of_its_rows():
    left, right = (read(WORDS, "weight", head) for head in (0, 1))
    other = TokenGrouping.of(query="phrases", key="tokens")
    left, right = (read(other, "weight", head) for head in (0, 1))
    expected = [numbers.jensen_shannon(p, q) for p, q in zip(left.values.tolist(), right.values.tolist())]
    np.testing.assert_allclose(compare.jensen_shannon(left, right), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(compare.difference(left, right).values, left.values - right.values)


def test_a_group_is_called_by_all_its_characters():
    folded_map = read(WORDS, "weight", 0)
    assert folded_map["query_token"].values.tolist()[:2] == ["Unhappy", "cats"]
    assert folded_map["key_token"].values.tolist() == ["do dogs nap"]
    assert labels(folded_map, TEXTS, "key") == ["do dogs nap"]


def test_two_inputs_are_aligned_by_words():
    weights = trace().site(f"{SITE}/weight")
    places = [0, 1, 2, 3, 4, 5, 6, 7]
    other = weights.isel(query=places).assign_coords(query_start=("query", [0, 2, 8, 12, 14, 17, 20, 22]))
    texts = TEXTS | {"a": "Unhappy dogs, if any, nap"}
    before = compare.two_way_map(weights, 0, partial(TokenGrouping.of(query="words").array, texts=TEXTS))
    after = compare.two_way_map(other, 0, partial(TokenGrouping.of(query="words").array, texts=texts))
    left, right = token_alignment.align_maps(
        before, after.assign_coords(query_token=("query", after["query_token"].values))
    )
    names = left["query_token"].values.tolist()
    assert names == ["Unhappy", "cats", "dogs", ",", "if", "any", ",", "nap"]
    assert np.isnan(left.values[2]).all() and np.isnan(right.values[1]).all()
    np.testing.assert_allclose(left.values[0], weights.values[0, :2].sum(2).mean(0), rtol=1e-12)


def test_a_gate_stays_as_it_is():
    gate = trace().site(f"{SITE}/weight").isel(key=0, context=0, drop=True).assign_attrs(quantity="gate", sums_over="")
    cube = trace()
    folded_trace = TokenGrouping.of(query="words").trace(replace(cube, sites={**cube.sites, f"{SITE}/gate": gate}))
    assert folded_trace.site(f"{SITE}/gate").identical(gate) and folded_trace.site(f"{SITE}/weight").sizes["query"] == 7


def test_behind_a_mask_weights_alone_fold_and_know_their_even_share():
    whole = make_trace()
    folded_trace = TokenGrouping.of(query="phrases", key="phrases", phrases=("w1 w2", "w4 w5 w6")).trace(whole)
    groups = [0, 1, 1, 2, 3, 3, 3]
    assert not [site for site in folded_trace.sites if site.quantity != "weight"]
    even = folded_trace.site(f"{LAYER}/{EVEN}/weight")
    for head, name in enumerate(MASKS):
        rows = [[float(left) / max(sum(row), 1) for left in row] for row in open_pairs(name, N).tolist()]
        expected = oracle.folded(np.array(rows)[:, :, None], groups, groups, [0])[:, :, 0]
        np.testing.assert_allclose(even.values[head], expected, rtol=1e-12)
        weights = whole.site(f"{LAYER}/token2token/weight").values[head][:, :, None]
        expected = oracle.folded(weights, groups, groups, [0])[:, :, 0]
        np.testing.assert_allclose(folded_trace.site(f"{LAYER}/token2token/weight").values[head], expected, rtol=1e-6)
    source = whole.site(f"{LAYER}/source2token/weight").values
    joined = folded_trace.site(f"{LAYER}/source2token/weight").values
    np.testing.assert_allclose(joined[:, 1], source[:, 1] + source[:, 2], rtol=1e-6)
    assert TokenGrouping.of(query="tokens").trace(whole) is whole


def test_the_heads_of_a_folded_layer_begin_where_most_stands_against_an_even_share():
    folded_trace = TokenGrouping.of(query="phrases", key="phrases", phrases=("w1 w2", "w4 w5 w6")).trace(make_trace())
    maps = head_maps.maps(folded_trace, LAYER, [0, 2])
    payload = attention_maps.figure(maps, folded_trace.texts).payload
    times = {
        (q, k, at): panel.weights.values[q, k] / panel.even.values[q, k]
        for at, panel in enumerate(maps)
        for q, k in np.ndindex(4, 4)
        if panel.even.values[q, k] > 0
    }
    assert tuple(payload["cell"][:3]) == max(times, key=times.get) and payload["notes"].startswith("Query is folded")
    sent = sent_array(payload, 1, "even")
    np.testing.assert_allclose(sent, maps[1].even.values, rtol=1e-6)
    assert f"× {max(times.values()):.3g}" in payload["alt"] and "4 by 4 groups of tokens" in payload["alt"]
    rows = head_maps.table(folded_trace, LAYER)
    assert rows["key_tokens"].tolist()[:4] == [1, 2, 1, 3] and "score" not in rows
    plain = attention_maps.figure(head_maps.maps(make_trace(), LAYER, [0]), make_trace().texts).payload
    assert plain["notes"] == "" and plain["panels"][0]["arrays"]["even"]["over"] == ["query"]


def test_the_pair_behind_a_folded_cell_is_the_largest_in_it():
    whole = trace()
    flat = whole.site(f"{SITE}/relevance").isel(head=0, context=2, drop=True)
    whole = replace(whole, sites={"scores/relevance": flat})
    folded_trace = TokenGrouping.of(query="words", key="words").trace(whole)
    groups = (QUERY, [0, 1, 2])  # a comma touches the word before it
    for q, k in np.ndindex(7, 3):
        inside = [(i, j) for i, j in np.ndindex(8, 3) if (groups[0][i], groups[1][j]) == (q, k)]
        assert strongest_pair(whole, folded_trace, Site(role="scores", quantity="relevance"), (q, k)) == max(
            inside, key=lambda at: flat.values[at]
        )


def test_the_way_it_was_read_is_what_the_command_line_takes():
    reading = TokenGrouping.of(("a bat", "it's"), query="words", key="tokens", context="phrases")
    assert reading.option == "--group-by query=words context=phrases --phrases 'a bat | it'\"'\"'s'"
    grouped = reading.trace(trace())
    assert grouped.meta["read"] == reading.option
    assert grouping_caption(grouped).startswith("grouped by query=words context=phrases --phrases")
    assert grouping_caption(trace()) == ""
    assert "read" not in TokenGrouping.of(key="tokens").trace(trace()).meta
    assert TokenGrouping.of(query="tokens", sinks=2.0).sinks is None  # nothing is hidden


def marked(panels: list) -> list:
    """The second key is a sink of the third panel, the first query is a special token."""
    special = {"query_special": ("query", [1, 0, 0])}
    more = [special, special, special | {"key_special": ("key", [0, 2, 0, 0, 0])}]
    return [
        replace(panel, map_values=panel.map_values.assign_coords(some), weights=panel.weights.assign_coords(some))
        for panel, some in zip(panels, more)
    ]


def test_what_is_hidden_leaves_all_numbers_of_the_rows_as_they_were():
    panels, gap = three()
    panels, gap = marked(panels), replace(gap, overlap=np.array([1.0, 2.0, 3.0]), noise=np.arange(15.0).reshape(3, 5))
    visible_panels, left = without(panels, gap)
    for before, after in zip(panels, visible_panels):
        np.testing.assert_array_equal(after.weights.values, before.weights.values[1:][:, [0, 2, 3, 4]])
        np.testing.assert_array_equal(after.rank, before.rank[1:][:, [0, 2, 3, 4]])
        np.testing.assert_array_equal(after.entropy, before.entropy[1:])
    np.testing.assert_array_equal(left.divergence, gap.divergence[1:])
    np.testing.assert_array_equal(left.noise, gap.noise[1:][:, [0, 2, 3, 4]])
    assert left.overlap.tolist() == [2, 3] and visible_panels[0].weights.attrs[HIDDEN] == {
        "query": [1, 1],
        "key": [1, 1],
    }
    texts = {"a": "Do cats sleep?", "b": "Can <b>cats</b> nap 🐈?"}
    sentence = hidden(panels, visible_panels, texts, 2.0)
    assert sentence.startswith("Hidden: “Do” as query, “<b>” as key.")
    for name, panel in zip(("Bi", "C-Bi", "Tri"), panels):
        rows = panel.weights.values[1:]
        assert f"{100 * rows[:, 1].sum() / rows.sum():.3g} % in {name}" in sentence
    payload = view.figure(visible_panels, left, texts, (0, 0), notes=sentence).payload
    assert sent_array(payload, 0, "keys").tolist() == [5, 5]
    assert payload["notes"] == sentence and payload["scale_lines"][1] == "Line: even, 1/5."
    assert chance(left, visible_panels) == pytest.approx(9 / 5)
    assert set(view.table(visible_panels, left, texts)["key_at"]) == {0, 2, 3, 4}
    none = hidden(*([without(three()[0], gap)[0]] * 2), texts, 5.0)
    assert none == "Nothing is hidden: no token receives more than 5 times an even share."
