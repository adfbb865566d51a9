"""The fold of the cube that says what the answer loses without each of the strongest cells."""

from __future__ import annotations

import pytest

from tests.app.test_pages import opened, sound, texts

pytestmark = pytest.mark.usefixtures("use_small_checkpoints")
PAIR = {"a": "the old dog barks", "b": "a small cat sleeps"}


def test_it_lists_words_alone_costliest_first_and_says_what_sinks_hold():
    app = sound(opened("cube", wait=400, costs="true", **PAIR))
    table = next(frame.value for frame in app.dataframe if "cost" in frame.value)
    assert {"query", "key", "context", "weight", "share", "cost"} == set(table)
    assert not table[["query", "key", "context"]].isin(["[CLS]", "[SEP]"]).any().any()
    assert table["cost"].abs().is_monotonic_decreasing and table["cost"].abs().max() > 0
    assert "not listed, hold" in texts(app)


def test_folded_axes_have_no_single_weights_and_no_fold():
    app = sound(opened("cube", wait=400, **PAIR, **{"query-as": "words"}))
    assert not any(box.label == "Cost if removed" for box in app.expander)
    assert any(box.label == "Cost if removed" for box in sound(opened("cube", wait=400, **PAIR)).expander)
