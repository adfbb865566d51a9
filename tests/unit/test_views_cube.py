"""The cube's payload, exact numbers, lists and pictures, against plain loops over a made-up trace."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from jsonschema import Draft202012Validator

from tests.oracles import living
from tests.support.figure_arrays import sent_array
from triattn_core.analysis.maps.strongest_head import most_context
from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.distribution import Distribution
from triattn_core.trace.information import query_information
from triattn_core.views import cube
from triattn_core.views.lib import cell, figure
from triattn_core.views.lib.palette import LogScale
from triattn_core.views.lib.strongest import strongest
from triattn_core.views.points import figure as points

TEXTS = {"a": "Unhappy cats </script><b>", "b": "ok 😀"}
A = [("un", "a", 0, 2), ("##happy", "a", 2, 7), ("cats", "a", 8, 12)]
B = [("ok", "b", 0, 2), ("[UNK]", "b", 3, 4)]
CONTEXT = [("[CLS]", "", 0, 0), *A, ("[SEP]", "", 0, 0), *B, ("[SEP]", "", 0, 0)]
HEADS = 5
WEIGHT, RELEVANCE = "layer.0/a_over_b/weight", "layer.0/a_over_b/relevance"


def coords(axis: str, tokens: list) -> dict:
    names = zip(("token", "text", "start", "end"), zip(*tokens))
    coordinates = {f"{axis}_{name}": (axis, list(values)) for name, values in names}
    return {**coordinates, f"{axis}_special": (axis, [int(not text) for _, text, *_ in tokens])}


def make(query: list, key: list, context: list, heads: int = HEADS, texts: dict = TEXTS) -> AttentionTrace:
    scores = np.random.default_rng(1).normal(3, 1.5, (heads, len(query), len(key), len(context))).astype(np.float32)
    powers = np.exp(scores)
    weights = powers / powers.sum((2, 3), keepdims=True)
    labels = {**coords("query", query), **coords("key", key), **coords("context", context)}
    axes = ("head", "query", "key", "context")
    sites = {
        RELEVANCE: xr.DataArray(scores, labels, axes, attrs={"quantity": "relevance", "sums_over": ""}),
        WEIGHT: xr.DataArray(weights, labels, axes, attrs={"quantity": "weight", "sums_over": "key,context"}),
    }
    return AttentionTrace(sites, texts, {"checkpoint": "tri", "digest": "d1"})


@pytest.fixture(scope="module")
def trace() -> AttentionTrace:
    return make(A, B, CONTEXT)


def head(i: int, site: str = WEIGHT) -> Choice:
    return Choice(site, index=(("head", i),))


MEAN = Choice(WEIGHT, reduce=(("head", "mean"),))


@pytest.mark.parametrize("choice", [head(3), MEAN])
def test_levels_are_the_weights_of_the_chosen_head(trace, choice):
    payload = cube.figure(Distribution(trace, choice), exact=False).payload
    weights = trace.pick(choice).values
    scale = LogScale.fit(weights, 2 * 8)
    assert "weight" not in payload["panels"][0]["arrays"] and payload["inspector"]["cells"] == 3 * 2 * 8
    np.testing.assert_array_equal(sent_array(payload, 0, "levels"), scale.levels(weights))


@pytest.mark.parametrize("exact", [True, False])
def test_it_keeps_the_schema_of_figures(trace, exact):
    payload = cube.figure(Distribution(trace, head(0)), exact=exact).payload
    schema = json.loads((Path(figure.__file__).parent / "figure.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(json.loads(json.dumps(payload, allow_nan=False)))


def test_it_opens_on_the_strongest_cell_of_content_words():
    query = [("the", "a", 0, 3), ("cat", "a", 4, 7), ("?", "a", 7, 8)]
    key = [("is", "b", 0, 2), ("dog", "b", 3, 6)]
    context = [("[CLS]", "", 0, 0), *query, *key]
    trace = make(query, key, context, texts={"a": "the cat?", "b": "is dog"})
    for i in range(HEADS):
        weights = trace.sites[WEIGHT].values[i]
        allowed = {(1, 1, 2): weights[1, 1, 2], (1, 1, 5): weights[1, 1, 5]}  # cat × dog × cat, cat × dog × dog
        assert cube.figure(Distribution(trace, head(i))).payload["cell"] == list(max(allowed, key=allowed.get))
    assert cube.figure(Distribution(trace, head(0)), start_cell=(0, 0, 0)).payload["cell"] == [0, 0, 0]
    # also where many stronger cells of other words fill the list
    trace.sites[WEIGHT].values[:] = 1.0
    trace.sites[WEIGHT].values[:, 1, 1, 5] = 0.5
    trace.sites[WEIGHT].values[:, 1, 1, 2] = 0.25
    assert cube.figure(Distribution(trace, head(0))).payload["cell"] == [1, 1, 5]
    punctuation = make([("?", "a", 0, 1)], [("!", "b", 0, 1)], [("?", "a", 0, 1)], texts={"a": "?", "b": "!"})
    assert cube.figure(Distribution(punctuation, head(0))).payload["cell"] == [0, 0, 0]


def test_the_head_to_open_on_has_the_largest_context_information(trace):
    weights = trace.sites[WEIGHT].values.astype(float)
    query = np.ones(weights.shape[1])
    bits = [living.context_information(of, query) for of in weights]
    assert most_context(trace, 0, "a_over_b") == int(np.argmax(bits)) and max(bits) > min(bits)
    assert most_context(trace, 7, "a_over_b") is None


def test_sums_are_exact_and_named_by_the_axis_they_run_along(trace):
    payload = cube.figure(Distribution(trace, head(1))).payload
    weights = trace.sites[WEIGHT].values[1]
    np.testing.assert_allclose(sent_array(payload, 0, "sum over key"), weights.sum(1), rtol=1e-6)
    np.testing.assert_allclose(sent_array(payload, 0, "sum over context"), weights.sum(2), rtol=1e-6)


def test_relevance_is_centred_and_its_sums_are_centred_log_sum_exps(trace):
    payload = cube.figure(Distribution(trace, head(2, RELEVANCE))).payload
    scores = trace.sites[RELEVANCE].values[2].astype(float)
    centred_scores = scores - scores.mean((1, 2), keepdims=True)
    np.testing.assert_allclose(sent_array(payload, 0, "relevance"), centred_scores, atol=1e-5)
    assert payload["scales"]["main"]["limit"] == pytest.approx(np.abs(centred_scores).max(), rel=1e-5)
    joint = np.log(np.exp(centred_scores).sum(1))
    expected = joint - joint.mean(1, keepdims=True)
    np.testing.assert_allclose(sent_array(payload, 0, "sum over key"), expected, atol=1e-5)


def test_tokens_are_what_their_reader_typed_and_pieces_are_tied(trace):
    axes = cube.figure(Distribution(trace, MEAN)).payload["axes"]
    assert axes["query"]["label"] == ["Un", "·happy", "cats"] and axes["query"]["joined"] == [0, 1, 0]
    assert axes["key"]["label"] == ["ok", "😀"] and axes["key"]["place"] == ["B1", "B2"]
    assert axes["context"]["label"][0] == "[CLS]" and axes["context"]["place"][4] == "context 5"


def test_hidden_special_tokens_leave_numbers_as_they_are(trace):
    payload = cube.figure(Distribution(trace, head(0)), hide_special=True).payload
    weights = trace.sites[WEIGHT].values[0]
    assert payload["axes"]["context"]["position"] == [1, 2, 3, 5, 6]
    real = [1, 2, 3, 5, 6]
    np.testing.assert_allclose(sent_array(payload, 0, "weight"), weights[:, :, real])
    np.testing.assert_allclose(sent_array(payload, 0, "sum over context"), weights.sum(2), rtol=1e-6)
    hidden_share = 100 * (1 - weights[:, :, real].sum() / 3)
    assert f"{hidden_share:.3g} %" in payload["inspector"]["hidden"]
    assert not cube.figure(Distribution(trace, head(0))).payload["inspector"]["hidden"]


def test_strongest_against_a_sorted_loop(trace):
    weights = trace.sites[WEIGHT].values[4]
    order = sorted(product(range(3), range(2), range(8)), key=lambda at: -weights[at])
    rows = strongest(Distribution(trace, head(4)), 7)
    assert list(zip(rows["query_at"], rows["key_at"], rows["context_at"])) == order[:7]
    np.testing.assert_allclose(rows["share"], [weights[at] / 3 for at in order[:7]], rtol=1e-6)
    whole = strongest(Distribution(trace, head(4)))
    assert len(whole) == 48 and whole["share"].sum() == pytest.approx(1, abs=1e-6)
    assert set(whole["query"]) == {"Un", "·happy", "cats"}


def test_exact_numbers_of_a_cell_against_plain_sums(trace):
    weights, scores = trace.sites[WEIGHT].values[2], trace.sites[RELEVANCE].values[2].astype(float)
    at = {"query": 1, "key": 1, "context": 6}
    facts = cell.numbers_of(Distribution(trace, head(2)), at)
    assert facts["weight"] == pytest.approx(weights[1, 1, 6]) and facts["of"] == 16
    assert facts["share"] == pytest.approx(weights[1, 1, 6] / 3)
    assert facts["against"] == pytest.approx(weights[1, 1, 6] * 16)
    assert facts["rank"] == 1 + sum(weights[1, k, c] > weights[1, 1, 6] for k in range(2) for c in range(8))
    assert facts["raw"] == pytest.approx(scores[1, 1, 6])
    assert facts["relevance"] == pytest.approx(scores[1, 1, 6] - scores[1].mean(), abs=1e-5)


def test_axis_check_is_computed_and_can_fail(trace):
    assert (
        cell.axis_check(Distribution(trace, head(0)))
        == "Axis check: weights sum to 1.000000 over key × context, for each query."
    )
    assert "repeats the weights" in cell.axis_check(Distribution(trace, head(0, RELEVANCE)))
    bent = trace.sites[WEIGHT].copy()
    bent[0, 1] *= 1.01
    broken = AttentionTrace({**trace.sites, WEIGHT: bent}, trace.texts, trace.meta)
    assert cell.axis_check(Distribution(broken, head(0))).startswith("Axis check failed: a query's weights sum to 1.01")
    assert cell.axis_check(Distribution(broken, head(0, RELEVANCE))).startswith("Axis check failed")
    assert "not the mean of their weights" in cell.axis_check(
        Distribution(trace, Choice(RELEVANCE, reduce=(("head", "mean"),)))
    )


def test_offline_page_loads_nothing_and_reads_no_token_as_html(trace):
    page = cube.figure(Distribution(trace, MEAN)).html()
    inside = re.search(r'<script id="payload" type="application/json">(.*?)</script>', page, re.S).group(1)
    assert json.loads(inside)["texts"] == TEXTS and "<" not in inside
    assert not re.search(r"""(src|href)=["']?https?:|@import|url\(""", page)
    assert "default-src 'none'" in page and "innerHTML" not in page
    notebook = cube.figure(Distribution(trace, MEAN))._repr_html_()
    assert notebook.startswith("<iframe") and "<b>" not in notebook


def test_the_largest_cube_fits_a_megabyte():
    word = [(f"w{i}", "a", 3 * i, 3 * i + 2) for i in range(64)]
    other = [(name, "b", start, end) for name, _, start, end in word]
    special = ("[SEP]", "", 0, 0)
    text = " ".join(f"{i:02d}" for i in range(64))
    trace = make(word, other, [special, *word, special, *other, special], heads=1, texts={"a": text, "b": text})
    assert len(json.dumps(dict(cube.figure(Distribution(trace, head(0)), exact=False).payload))) < 900_000


def test_points_are_the_strongest_cells_with_their_share(trace):
    cloud = points.figure(Distribution(trace, head(3)), n=5)
    rows = strongest(Distribution(trace, head(3)), 5)
    drawn = json.loads(cloud.to_json())
    assert list(cloud.data[0].x) == list(rows["key_at"]) and list(cloud.data[0].z) == list(rows["query_at"])
    assert (
        drawn["layout"]["title"]["text"]
        == f"The 5 strongest of 48 cells. They hold {100 * rows['share'].sum():.3g} % of the mass."
    )
    assert all("<b>" not in text for text in cloud.data[0].text)


def test_the_cube_refuses_what_lacks_its_axes(trace):
    flat = Choice(WEIGHT, index=(("head", 0),), reduce=(("context", "sum"),))
    with pytest.raises(TraceError, match="no axis 'context'"):
        cube.figure(Distribution(trace, flat))


def test_queries_that_attend_alike_are_told_from_those_that_do_not():
    alike = np.full((3, 2, 4), 1 / 8)
    apart = np.zeros((2, 2, 4))
    apart[0, 0], apart[1, 1] = 1 / 4, 1 / 4  # disjoint: one bit
    assert query_information(alike.reshape(3, -1)) == pytest.approx(0)
    assert query_information(apart.reshape(2, -1)) == pytest.approx(1)
    half = np.array([[0.5, 0.5], [1.0, 0.0]])  # H(3/4, 1/4) - (1 + 0) / 2
    assert query_information(half) == pytest.approx(0.75 * np.log2(4 / 3) + 0.25 * 2 - 0.5)


def test_the_sentence_on_queries_follows_the_weights(trace):
    sentence = cell.query_matters(Distribution(trace, head(0)))
    weights = trace.site(WEIGHT).values[0]
    keys, whole = (
        living.query_information(weights, np.ones(len(weights))),
        query_information(weights.reshape(len(weights), -1)),
    )
    assert f"by {keys:.3g} bits over keys (query information), over key and context together {whole:.3g}." in sentence
    same = trace.sites[WEIGHT].copy()
    same[:] = same.isel(query=0)
    twins = AttentionTrace({**trace.sites, WEIGHT: same}, trace.texts, trace.meta)
    assert cell.query_matters(Distribution(twins, head(0))).endswith("the query hardly matters here.")
