"""Folding an axis against numbers worked by hand, and what the folds of an example are."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
import xarray as xr

from triattn_core.analysis.maps import compare
from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace, Choice, text_units
from triattn_core.trace.aggregation import fold, mean_mass
from triattn_core.trace.distribution import Distribution
from triattn_core.trace.site import Site
from triattn_core.views.lib import cell
from triattn_core.views.lib.strongest import strongest
from triattn_core.views.lib.tokens import tokens

TEXTS = {"turn.1": "Hi all. It broke", "turn.2": "why?", "response": "so it is"}
# A token, its text, its span, its segment, and how many tokens it stands for: two cells of turn 1 are in one sentence.
CONTEXT = [
    ("[CLS]", "", 0, 0, "", 1),
    ("Hi all.", "turn.1", 0, 7, "turn 1", 3),
    ("It", "turn.1", 8, 10, "turn 1", 1),
    ("broke", "turn.1", 11, 16, "turn 1", 2),
    ("[SEP]", "", 0, 0, "", 1),
    ("why?", "turn.2", 0, 4, "turn 2", 2),
    ("[SEP]", "", 0, 0, "", 1),
    ("so it is", "response", 0, 8, "response", 3),
]
QUERY, KEY = CONTEXT[5:6] * 2, CONTEXT[7:8] * 3  # 2 and 3 cells: what they are does not matter here
TURNS = ["[CLS] [SEP]", "turn 1", "turn 1", "turn 1", "[CLS] [SEP]", "turn 2", "[CLS] [SEP]", "response"]
SITE = Site(layer=0, role="a_over_b")


def coords(axis: str, rows: list) -> dict:
    columns = dict(zip(("token", "text", "start", "end", "segment", "tokens"), zip(*rows)))
    coordinates = {f"{axis}_{name}": (axis, list(values)) for name, values in columns.items()}
    return {**coordinates, f"{axis}_special": (axis, [int(not text) for text in columns["text"]])}


def trace(heads: int = 2) -> AttentionTrace:
    scores = np.random.default_rng(7).normal(0, 2, (heads, len(QUERY), len(KEY), len(CONTEXT)))
    powers = np.exp(scores)
    labels = {**coords("query", QUERY), **coords("key", KEY), **coords("context", CONTEXT)}
    axes = ("head", "query", "key", "context")
    weights = powers / powers.sum((2, 3), keepdims=True)
    sites = {
        f"{SITE}/relevance": xr.DataArray(scores, labels, axes, attrs={"quantity": "relevance", "sums_over": ""}),
        f"{SITE}/weight": xr.DataArray(weights, labels, axes, attrs={"quantity": "weight", "sums_over": "key,context"}),
    }
    return AttentionTrace(sites, TEXTS, {"checkpoint": "tri", "digest": "d"})


def row(values: list[float], quantity: str) -> xr.DataArray:
    """One query: [context], with made-up coords."""
    spans = [("x", "a", 2 * i, 2 * i + 1, f"turn {i // 2 + 1}", i + 1) for i in range(len(values))]
    attrs = {"quantity": quantity, "sums_over": "context" if quantity == "weight" else ""}
    return xr.DataArray(np.array(values), coords("context", spans), ("context",), attrs=attrs)


def test_weights_of_a_group_are_added_wherever_its_cells_stand():
    folded_weights = fold(row([0.1, 0.2, 0.3, 0.15, 0.25], "weight"), "context", ["p", "q", "p", "p", "q"])
    np.testing.assert_allclose(folded_weights.values, [0.1 + 0.3 + 0.15, 0.2 + 0.25], rtol=1e-12)
    assert folded_weights["context_label"].values.tolist() == ["p", "q"]
    assert folded_weights["context_cells"].values.tolist() == [3, 2]
    assert folded_weights["context_tokens"].values.tolist() == [1 + 3 + 4, 2 + 5]
    assert tokens(folded_weights, {}, "context", np.arange(2))["where"] == [
        "8 tokens in 3 cells",
        "7 tokens in 2 cells",
    ]
    assert (folded_weights["context_start"].values.tolist(), folded_weights["context_end"].values.tolist()) == (
        [0, 2],
        [7, 9],
    )
    assert folded_weights.attrs["sums_over"] == "context" and folded_weights.attrs["mass_before"] == pytest.approx(1)


def test_relevances_of_a_group_are_joined_by_log_sum_exp():
    folded_relevance = fold(row([1.0, 2.0, -1.0, 0.5], "relevance"), "context", ["p", "q", "p", "q"])
    expected = [log(exp(1.0) + exp(-1.0)), log(exp(2.0) + exp(0.5))]
    np.testing.assert_allclose(folded_relevance.values, expected, rtol=1e-12)
    huge = fold(row([1000.0, 999.0, -1000.0], "relevance"), "context", ["p", "p", "q"])
    np.testing.assert_allclose(huge.values, [1000 + log(1 + exp(-1)), -1000], rtol=1e-12)
    masked = fold(row([-np.inf, -np.inf, 3.0], "relevance"), "context", ["p", "p", "q"])
    assert masked.values.tolist() == [-np.inf, 3.0]


def test_what_is_not_a_share_or_a_score_is_not_folded():
    with pytest.raises(TraceError, match="a gate cannot be grouped over context"):
        fold(row([0.5, 0.5], "gate"), "context", ["p", "q"])
    with pytest.raises(TraceError, match="1 names for the 2 positions of context"):
        fold(row([0.5, 0.5], "weight"), "context", ["p"])
    with pytest.raises(TraceError, match="cannot fold to 'turn'; did you mean 'turns'"):
        text_units.fold_axis(trace(), "turn")


@pytest.mark.parametrize("unit", ["turns", "sentences"])
def test_no_mass_is_lost_and_the_softmax_of_the_joined_relevance_is_the_summed_weight(unit):
    whole, folded_trace = trace(), text_units.fold_axis(trace(), unit)
    weights, scores = folded_trace.site(f"{SITE}/weight"), folded_trace.site(f"{SITE}/relevance")
    np.testing.assert_allclose(weights.sum(("key", "context")), 1, rtol=1e-12)
    np.testing.assert_allclose(weights.sum("context"), whole.site(f"{SITE}/weight").sum("context"), rtol=1e-12)
    powers = np.exp(scores)
    np.testing.assert_allclose((powers / powers.sum(("key", "context"))).values, weights.values, rtol=1e-10)
    assert mean_mass(weights) == pytest.approx(weights.attrs["mass_before"]) == pytest.approx(1)


def test_turns_and_sentences_of_a_dialogue():
    weights = trace().site(f"{SITE}/weight")
    assert text_units.unit_groups(weights, "context", TEXTS, "turns") == TURNS
    sentences = ["turn 1.1", "turn 1.2", "turn 1.2"]
    assert text_units.unit_groups(weights, "context", TEXTS, "sentences") == [TURNS[0], *sentences, *TURNS[4:]]
    turns = text_units.fold_axis(trace(), "turns").site(f"{SITE}/weight")
    for name, expected in (
        ("label", ["[CLS] [SEP]", "turn 1", "turn 2", "response"]),
        ("text", ["", "turn.1", "turn.2", "response"]),
        ("start", [0, 0, 0, 0]),
        ("end", [0, 16, 4, 8]),
        ("special", [1, 0, 0, 0]),
        ("tokens", [3, 6, 2, 3]),
        ("cells", [3, 3, 1, 1]),
    ):
        assert turns[f"context_{name}"].values.tolist() == expected, name
    whole = trace().site(f"{SITE}/weight").values
    np.testing.assert_allclose(turns.values[..., 1], whole[..., 1] + whole[..., 2] + whole[..., 3], rtol=1e-12)
    assert text_units.fold_axis(trace(), "tokens").site(f"{SITE}/weight").equals(trace().site(f"{SITE}/weight"))


def test_sentences_of_a_passage_are_its_segments():
    spans = [("x", "passage", 0, 2, "sentence 1", 1), ("y", "passage", 3, 9, "sentences 2–3", 1)]
    array = xr.DataArray(np.ones(2) / 2, coords("context", spans), ("context",), attrs={"quantity": "weight"})
    assert text_units.unit_groups(array, "context", {"passage": "A. B. C. D."}, "sentences") == [
        "sentence 1",
        "sentences 2–3",
    ]


def test_a_fold_saves_and_loads(tmp_path):
    folded_trace = text_units.fold_axis(trace(), "turns")
    folded_trace.save(tmp_path / "one.nc")
    again = AttentionTrace.load(tmp_path / "one.nc").site(f"{SITE}/weight")
    xr.testing.assert_identical(again.rename(None), folded_trace.site(f"{SITE}/weight"))


def test_shares_are_the_mean_mass_of_the_queries():
    choice = Choice(f"{SITE}/weight", index=(("head", 1),))
    weights, shares = trace().site(f"{SITE}/weight").values[1], text_units.turn_shares(trace(), choice)
    expected = [np.mean([weights[q, :, places].sum() for q in range(2)]) for places in ([0, 4, 6], [1, 2, 3], [5], [7])]
    np.testing.assert_allclose(shares.values, expected, rtol=1e-12)
    assert shares.values.sum() == pytest.approx(1)
    with pytest.raises(TraceError, match="shares are those of weights"):
        text_units.turn_shares(trace(), Choice(f"{SITE}/relevance", index=(("head", 1),)))


@pytest.mark.parametrize("head", [None, 1])
def test_exchanged_the_map_is_of_query_and_context(head):
    turns = text_units.fold_axis(trace(), "turns").site(f"{SITE}/weight")
    weight_map = compare.two_way_map(text_units.exchange_key_context(turns), head)
    summed = turns.values.sum(2)
    np.testing.assert_allclose(weight_map.values, summed.mean(0) if head is None else summed[head], rtol=1e-12)
    assert weight_map["key_label"].values.tolist() == ["[CLS] [SEP]", "turn 1", "turn 2", "response"]
    np.testing.assert_allclose(weight_map.sum("key"), 1, rtol=1e-12)


def test_a_cell_of_a_fold_is_measured_by_the_cells_it_joins():
    choice, turns = Choice(f"{SITE}/weight", index=(("head", 0),)), text_units.fold_axis(trace(), "turns")
    facts = cell.numbers_of(Distribution(turns, choice), {"query": 1, "key": 2, "context": 1})
    weight = trace().site(f"{SITE}/weight").values[0, 1, 2, 1:4].sum()
    assert facts["weight"] == pytest.approx(weight) and facts["of"] == 3 * 4
    assert facts["against"] == pytest.approx(weight / (3 / (3 * 8)))
    even = cell.numbers_of(Distribution(trace(), choice), {"query": 1, "key": 2, "context": 1})
    assert even["against"] == pytest.approx(even["weight"] * 3 * 8)
    sentence = cell.fold_check(Distribution(turns, choice))
    assert (
        sentence == "Context is folded from 8 cells to 4: weights are summed, mass before 1.000000 and after 1.000000."
    )
    assert "log-sum-exp" in cell.fold_check(Distribution(turns, Choice(f"{SITE}/relevance", index=(("head", 0),))))
    assert "repeats the weights" in cell.axis_check(
        Distribution(turns, Choice(f"{SITE}/relevance", index=(("head", 0),)))
    )
    assert cell.fold_check(Distribution(trace(), choice)) == ""


def test_mass_that_was_lost_would_be_seen():
    turns = text_units.fold_axis(trace(), "turns")
    bent = turns.sites[f"{SITE}/weight"].copy()
    bent[..., 1] = 0
    broken = AttentionTrace({**turns.sites, f"{SITE}/weight": bent}, TEXTS, turns.meta)
    sentence = cell.fold_check(Distribution(broken, Choice(f"{SITE}/weight", index=(("head", 0),))))
    assert "before 1.000000" in sentence and "after 1.000000" not in sentence


def test_lists_name_the_groups_and_how_many_tokens_they_stand_for():
    rows = strongest(
        Distribution(text_units.fold_axis(trace(), "turns"), Choice(f"{SITE}/weight", index=(("head", 0),)))
    )
    assert set(rows["context"]) == {"[CLS] [SEP]", "turn 1", "turn 2", "response"}
    assert rows.groupby("context")["context_tokens"].first().to_dict() == {
        "[CLS] [SEP]": 3, "turn 1": 6, "turn 2": 2, "response": 3,
    }  # fmt: skip
    assert rows["share"].sum() == pytest.approx(1)
