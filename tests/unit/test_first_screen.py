"""The stored first screen is what the shipped checkpoints give: its last frame is computed again here."""

from __future__ import annotations

import numpy as np
import pytest

from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import laboratory_checkpoints
from triattn_core.inference.laboratory import weights_of
from triattn_core.results.first_screen import SCALE, first_screen
from triattn_core.tasks.laboratory.false_friends import FALSE_FRIENDS
from triattn_core.training.laboratory.first_screen import CHECKPOINTS, SEED, candidates, frame, share_right


@pytest.fixture(params=CHECKPOINTS)
def model(request):
    """The stored part of a model, and the model."""
    entries = {entry.name: entry for entry in laboratory_checkpoints()}
    stored = first_screen()[request.param]
    if stored["checkpoint"] not in entries:
        pytest.skip("not trained")
    return stored, load(entries[stored["checkpoint"]].path, "cpu")


def stored_rows():
    screen = first_screen()
    cards = tuple(f"{word} ({colour})" for word, colour in screen["cards"])
    return [FALSE_FRIENDS.solve(screen["asked"], cards, (language,)) for language in screen["languages"]]


def test_the_last_frame_is_of_the_shipped_weights(model):
    stored, bundle = model
    assert stored["digest"] == bundle.config.digest
    again, last = frame(1000, *weights_of(bundle, stored_rows())), stored["frames"][-1]
    assert last["step"] == again["step"] and last["answers"] == again["answers"]
    np.testing.assert_allclose(last["weights"], again["weights"], atol=1)
    np.testing.assert_allclose(np.sum(last["weights"], 1), SCALE, atol=5)


def test_the_share_of_right_rows_is_measured(model):
    stored, bundle = model
    assert share_right(bundle) == stored["percent_right"]


def test_each_language_has_another_right_card():
    rows = stored_rows()
    assert [row.truth for row in rows] == [((i, 0),) for i in first_screen()["right"]]
    from random import Random

    drawn = next(candidates(Random(SEED)))
    assert len({row.context for row in drawn}) == len(drawn) == 3
