"""Views of a trace alone: all heads, one map, two side by side; figures carry the numbers of the trace."""

from __future__ import annotations

import base64

import numpy as np
import pytest

import triattn_core
from triattn_core.analysis.maps.head_measures import head_table, rollout
from triattn_core.errors import TraceError
from triattn_core.scenes.trace_pair import Side, trace_pair
from triattn_core.trace.open import trace_of

LAYERS, HEADS, N = 2, 3, 5
WORDS = ["[CLS]", "a", "cat", "sat", "[SEP]"]
DRAW = np.random.default_rng(17)
VALUES = DRAW.dirichlet(np.ones(N), (LAYERS, HEADS, N)).astype(np.float32)
AXES = ("layer", "head", "query", "key")
TRACE = trace_of(VALUES, axes=AXES, tokens=WORDS, source="mine.npy")


def floats(packed: str, *shape: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed), "<f4").reshape(shape)


def test_all_heads_at_once():
    shown = triattn_core.draw("heads", TRACE, cell=(1, 2))
    payload, table = shown.figure.payload, head_table(TRACE)
    assert [layer["title"] for layer in payload["layers"]] == ["1", "2"] and payload["heads"] == HEADS
    assert payload["cell"] == [1, 2] and payload["shape"] == [N, N] and not payload["pooled"]
    levels = [
        np.frombuffer(base64.b64decode(one["levels"]), np.uint8).reshape(HEADS, N, N) for one in payload["layers"]
    ]
    assert np.argmax(levels[1][2]) == np.argmax(VALUES[1, 2])
    for name in ("entropy", "distance", "special", "query_information"):
        np.testing.assert_allclose(payload["measures"][name]["values"][1], table[table["layer"] == 1][name], rtol=1e-12)
    assert "context_information" not in payload["measures"]
    best = table.loc[table["query_information"].idxmax()]
    assert f"most in layer {best['layer'] + 1}, head {best['head'] + 1}, " in shown.figure.alt
    with pytest.raises(triattn_core.errors.InputError, match="no cell 1.3"):
        triattn_core.draw("heads", TRACE, cell=(1, 3))


def test_a_long_text_has_blocks_as_thumbnails():
    given = DRAW.dirichlet(np.ones(90), 50)
    payload = triattn_core.draw("heads", trace_of(given)).figure.payload
    assert payload["shape"] == [48, 48] and payload["pooled"]


def test_one_map():
    shown = triattn_core.draw("map", TRACE, site="layer.1/attention", head=3)
    panel = shown.figure.payload["panels"][0]
    np.testing.assert_allclose(floats(panel["weights"], N, N), VALUES[1, 2], rtol=1e-6)
    assert panel["title"] == "Layer 2, head 3" and shown.figure.payload["roles"] == ["query", "key"]
    np.testing.assert_allclose(shown.table["weight"], VALUES[1, 2].ravel(), rtol=1e-6)
    assert b"<svg" in shown.picture().svg()
    mean = triattn_core.draw("map", TRACE, site="layer.0/attention").figure.payload["panels"][0]
    np.testing.assert_allclose(floats(mean["weights"], N, N), VALUES[0].mean(0), rtol=1e-6)
    rolled = triattn_core.draw("map", TRACE, site="rollout").figure.payload["panels"][0]
    np.testing.assert_allclose(floats(rolled["weights"], N, N), rollout(TRACE).values, rtol=1e-6)
    for settings, reason in (
        ({"head": 4}, "there is no head 4"),
        ({"site": "layer.5/attention"}, "no site"),
        ({"quantity": "relevance"}, "no relevance"),
    ):
        with pytest.raises(TraceError, match=reason):
            triattn_core.draw("map", TRACE, **settings)


def test_more_keys_than_queries_and_masked_scores():
    scores = DRAW.normal(size=(3, 4))
    scores[1, 2:] = -np.inf
    shown = triattn_core.draw("map", trace_of(scores, quantity="relevance"), quantity="relevance")
    panel = shown.figure.payload["panels"][0]
    masked = np.frombuffer(base64.b64decode(panel["masked"]), np.uint8).reshape(3, 4)
    np.testing.assert_array_equal(masked, np.isneginf(scores))
    np.testing.assert_allclose(floats(panel["scores"], 3, 4)[0], scores[0], rtol=1e-6)


def test_two_heads_side_by_side():
    sides = [Side(f"head {head + 1}", TRACE, "layer.0/attention", head) for head in (0, 1)]
    found = trace_pair(*sides)
    payload = found.figure().payload
    np.testing.assert_allclose(floats(payload["gap"]["values"], N, N), VALUES[0, 1] - VALUES[0, 0], atol=1e-6)
    assert payload["panels"][0]["share"] == "" and "says" not in found.figure().alt
    other = trace_of(VALUES[0, 0], query=list("abcde"), key=list("abcde"))
    with pytest.raises(TraceError, match="head 1 and other are not of the same tokens, nor of the same texts"):
        trace_pair(sides[0], Side("other", other, "attention"))


def test_two_tokenizers_meet_in_the_parts_that_they_share():
    pieces = trace_of(DRAW.dirichlet(np.ones(4), 4), tokens=["un", "##happy", "cat", "s"])
    words = trace_of(DRAW.dirichlet(np.ones(3), 3), tokens=["unhappy", "cat", "s"])
    found = trace_pair(Side("pieces", pieces, "attention"), Side("words", words, "attention"))
    assert found.notes and found.panels[0].weights.sizes == {"query": 3, "key": 3}
    left = pieces.site("attention/weight").values.astype(float)
    expected = np.concatenate([left[:, :2].sum(1, keepdims=True), left[:, 2:]], 1)
    expected = np.concatenate([expected[:2].mean(0, keepdims=True), expected[2:]])
    np.testing.assert_allclose(found.panels[0].weights.values, expected, atol=1e-6)
