"""Measures of heads and rollout against loops."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles import anova as anova_oracle
from tests.oracles import head_measures as oracle
from triattn_core.analysis.maps.head_measures import MEASURES, head_table, rollout
from triattn_core.errors import TraceError
from triattn_core.trace.from_array import trace_of
from triattn_core.trace.information import query_information

LAYERS, HEADS, N, J = 2, 3, 5, 7
DRAW = np.random.default_rng(11)
WORDS = ["[CLS]", "a", "cat", "sat", "[SEP]"]


def layers(over: int = 1, *more: int) -> np.ndarray:
    values = DRAW.random((LAYERS, HEADS, N, N, *more)) ** 3
    return values / values.sum(tuple(range(-over, 0)), keepdims=True)


def test_measures_are_those_of_the_loops():
    given = layers()
    given[1, 2, 3] = 0  # a row that is left nothing
    given[0, 1, 2] *= 0.5  # a row counts as shares of its own sum
    table = head_table(trace_of(given, axes=("layer", "head", "query", "key"), tokens=WORDS, quantity="weight"))
    assert list(zip(table["layer"], table["head"])) == [(la, h) for la in range(LAYERS) for h in range(HEADS)]
    for _, row in table.iterrows():
        weights = given[row["layer"], row["head"]].astype(np.float32)
        assert row["entropy"] == pytest.approx(oracle.entropy(weights), abs=1e-6)
        assert row["distance"] == pytest.approx(oracle.distance(weights), abs=1e-6)
        assert row["sink"] == pytest.approx(oracle.sink(weights), abs=1e-6)
        assert row["special"] == pytest.approx(oracle.special(weights, [0, 4]), abs=1e-6)
        assert row["query_information"] == pytest.approx(oracle.query_information(weights), abs=1e-6)
        assert np.isnan(row["context_information"])


def test_known_heads():
    even = np.full((1, N, N), 1 / N)
    itself = np.eye(N)[None]
    both = head_table(trace_of(np.concatenate([even, itself]), axes=("head", "query", "key"), tokens=WORDS))
    assert both["query_information"].tolist() == pytest.approx([0, np.log2(N)])
    assert both["entropy"].tolist() == pytest.approx([np.log2(N), 0])
    assert both["sink"].tolist() == pytest.approx([1 / N, 1 / N])
    assert both["distance"].tolist() == pytest.approx([1.6, 0])
    assert query_information(np.zeros((2, 3, 4))).tolist() == [0, 0]


def test_what_has_no_meaning_is_no_number():
    given = DRAW.dirichlet(np.ones(J), (HEADS, N))
    table = head_table(trace_of(given, axes=("head", "query", "key"), tokens={"query": WORDS}))
    assert table[["distance", "special", "context_information"]].isna().all(axis=None)


def test_a_cube_is_summed_over_context():
    given = layers(2, J)
    trace = trace_of(given, axes=("layer", "head", "query", "key", "context"), tokens={"query": WORDS, "key": WORDS})
    table = head_table(trace)
    for _, row in table.iterrows():
        cube = given[row["layer"], row["head"]].astype(np.float32).astype(float)
        assert row["entropy"] == pytest.approx(oracle.entropy(cube.sum(-1)), abs=1e-6)
        bits = np.mean([anova_oracle.information(rows) for rows in cube])
        assert row["context_information"] == pytest.approx(bits, abs=1e-6)


def test_rollout_is_that_of_the_loop():
    given = layers()
    rollout_map = rollout(trace_of(given, axes=("layer", "head", "query", "key"), tokens=WORDS))
    np.testing.assert_allclose(rollout_map.values, oracle.rollout(list(given)), atol=1e-6)
    np.testing.assert_allclose(rollout_map.sum("key"), 1, atol=1e-6)
    assert not np.allclose(
        rollout_map.values, oracle.rollout(list(given[::-1])), atol=1e-3
    )  # the order of layers matters


def test_no_rollout_without_layers_of_the_same_tokens():
    given = layers()
    with pytest.raises(TraceError, match="through layers: this trace has none"):
        rollout(trace_of(given[0], axes=("head", "query", "key"), tokens=WORDS))
    with pytest.raises(TraceError, match="the same tokens"):
        rollout(trace_of(given, axes=("layer", "head", "query", "key"), tokens={"query": WORDS}))
    with pytest.raises(TraceError, match="no weights over query and key"):
        head_table(trace_of(given[0, 0], quantity="contribution"))


@pytest.mark.parametrize("axes", [("query", "key"), ("query", "key", "context")])
def test_a_head_whose_rows_are_all_empty_has_no_numbers(axes):
    given = np.random.default_rng(2).random((3, 4, 5, 2)[: 1 + len(axes)])
    given /= given.sum(tuple(range(2, given.ndim)), keepdims=True)
    partly = given.copy()
    given[1], partly[0, 2:] = np.nan, np.nan
    table = head_table(trace_of(given, axes=("head", *axes)))
    measured = [name for name in MEASURES if table[name].notna().any()]
    assert {"entropy", "sink", "query_information"} <= set(measured)
    assert table.loc[1, measured].isna().all() and table.loc[[0, 2], measured].notna().all(axis=None)
    shown = head_table(trace_of(partly, axes=("head", *axes))).loc[0, "entropy"]
    flat = partly[0, :2] if given.ndim == 3 else partly[0, :2].sum(-1)
    assert shown == pytest.approx(float(np.mean([-(row * np.log2(row)).sum() for row in flat])), abs=1e-5)
