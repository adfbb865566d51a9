"""The column of the cube that says what the answer loses without each of the strongest cells, and the chosen one."""

from __future__ import annotations

import json

import pytest

from tests.app.test_pages import opened, sound

pytestmark = pytest.mark.usefixtures("use_small_checkpoints")
PAIR = {"a": "the old dog barks", "b": "a small cat sleeps"}


def messages(app) -> list[dict]:
    """What the page sends to its figures."""
    return [json.loads(one.proto.json) for one in app.get("bidi_component") if one.proto.json]


def test_the_costs_of_words_and_of_the_chosen_cell_are_sent():
    app = sound(opened("cube", wait=400, cell="0.0.0", **PAIR))
    payload = next(one["payload"] for one in messages(app) if one.get("payload", {}).get("costed"))
    costs = next(one["costs"] for one in messages(app) if "costs" in one)
    cells = [tuple(cell) for cell, _ in costs]
    assert (0, 0, 0) in cells and len(cells) > 8 and any(abs(cost) > 0 for _, cost in costs)
    told, words = payload["inspector"], [axis["special"] for axis in payload["axes"].values()]
    assert not any(special[i] for cell in told["words"]["cells"] for special, i in zip(words, cell))
    assert 0 < told["special"] < 1 and payload["unfolded"] is False


def test_folded_axes_have_no_single_weights_and_no_costs():
    app = sound(opened("cube", wait=400, **PAIR, **{"query-as": "words"}))
    assert not any("costs" in one for one in messages(app))


def test_a_link_unfolds_special_tokens():
    app = sound(opened("cube", wait=400, **PAIR, **{"special-listed": "true"}))
    assert next(one["payload"] for one in messages(app) if "inspector" in one.get("payload", {}))["unfolded"] is True
