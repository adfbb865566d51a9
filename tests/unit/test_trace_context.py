"""The parts of a cube of any origin: of weights the same as of the scores that they are the softmax of."""

from __future__ import annotations

import numpy as np
import pytest

from triattn_core.analysis.maps import anova, trace_context
from triattn_core.errors import TraceError
from triattn_core.trace.from_array import trace_of
from triattn_core.trace.site import Site

AXES = ("head", "query", "key", "context")
SCORES = np.random.default_rng(2).normal(0, 2, (2, 3, 5, 7))
CUBE = trace_of(SCORES, axes=AXES, quantity="relevance")
WEIGHTS = CUBE.site("attention/weight").values


def test_of_weights_as_of_scores():
    plain = trace_context.context_table(trace_of(WEIGHTS.astype(np.float64), axes=AXES))
    scores = trace_context.context_table(CUBE)
    expected = anova.site_shares(Site(role="x"), SCORES, WEIGHTS)
    for name in (*anova.VISIBLE_TERMS, "redirected", "information"):
        np.testing.assert_allclose(plain[name], expected[name], atol=1e-5)
        np.testing.assert_allclose(scores[name], expected[name], atol=1e-5)


def test_without_heads_and_with_masked_tokens():
    weights = WEIGHTS[0].astype(np.float64).copy()
    weights[..., 3] = 0  # a context token that nobody reads
    weights /= weights.sum((-1, -2), keepdims=True)
    table = trace_context.context_table(trace_of(weights, axes=AXES[1:]))
    expected = anova.variance_shares(np.delete(SCORES[:1], 3, -1))
    assert len(table) == 1
    np.testing.assert_allclose(table["three_way"], expected["three_way"], atol=1e-5)


def test_what_cannot_be_taken_apart(monkeypatch):
    with pytest.raises(TraceError, match="no weights over query, key and context"):
        trace_context.context_table(trace_of(np.eye(3)))
    monkeypatch.setattr(trace_context, "MOST_CELLS", 104)
    with pytest.raises(TraceError, match="a cube of 105 cells is too large"):
        trace_context.context_table(CUBE)
