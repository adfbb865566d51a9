"""Arrays of your own that are too large, or no attention."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.test_trace_of import I, J, N, weights, words
from triattn_core.errors import TraceError
from triattn_core.trace.from_array import LONGEST, notes_of, trace_of


def test_a_large_array_is_cropped_and_it_is_said():
    given = weights(N, 3 * LONGEST, over=1)
    trace = trace_of(given, tokens={"key": words(3 * LONGEST)})
    site, share = trace.site("attention/weight"), 100 * given[:, :LONGEST].sum() / N
    assert site.sizes["key"] == LONGEST and site["key_token"].values[-1] == "w255"
    assert f"Cropped to key 0:256 of 768 (positions from 0); the crop holds {share:.3g} %" in notes_of(trace)[-1]
    later = trace_of(given, tokens={"key": words(40)}, crop={"key": (300, 340), "query": (1, 3)}).site(
        "attention/weight"
    )
    np.testing.assert_allclose(later.values, given[1:3, 300:340], rtol=1e-6)
    plain = trace_of(given, crop={"key": (300, 340)}).site("attention/weight")
    assert plain["key_token"].values[0] == "301"  # numbered as in the whole
    for crop, reason in (
        ({"key": (0, 300)}, "at most 256"),
        ({"key": (5, 5)}, "not within"),
        ({"head": (0, 1)}, "no axis"),
    ):
        with pytest.raises(TraceError, match=reason):
            trace_of(given, crop=crop)


def test_heads_are_cropped_where_all_are_too_much(monkeypatch):
    monkeypatch.setattr("triattn_core.trace.from_array.MOST_CELLS", N * I * J)
    trace = trace_of(weights())
    assert trace.site("attention/weight").sizes["head"] == 1 and "head 0:1 of 2" in notes_of(trace)[-1]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (np.array("a"), "real numbers"),
        (np.ones((2, 2), complex), "real numbers, got complex128"),
        (np.ones((2, 2), bool), "real numbers, got bool"),
        (np.ones(3), "two to four axes"),
        (np.ones((0, 3)), "an empty array of shape 0 × 3"),
        (object(), "real numbers, got object"),
        ([[1, 2], [3]], "expected an array of numbers, got list"),
    ],
)
def test_what_is_no_attention_is_refused_in_one_line(given, reason):
    with pytest.raises(TraceError, match=reason) as error:
        trace_of(given, quantity="contribution")
    assert "\n" not in str(error.value)


def test_axes_that_do_not_fit():
    for axes, reason in (
        (["query"], "a name for each axis"),
        (["query", "query", "key", "context"], "no two alike"),
        (["head", "query", "key", "word"], "unknown axis 'word'"),
        (["head", "layer", "key", "context"], "there is no query"),
        (["query", "key", "context", "feature"], "cannot be drawn"),
    ):
        with pytest.raises(TraceError, match=reason):
            trace_of(weights(), axes=axes)
    with pytest.raises(TraceError, match="sums over: no axis 'head'"):
        trace_of(weights(), sums_over=["head"])
