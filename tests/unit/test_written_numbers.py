"""Numbers as pages write them."""

from __future__ import annotations

import pytest

from pages.shared.checkpoint_html import duration, percent
from triattn_core.views.lib.number_format import half_up


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (56.25, 1, "56.3"),
        (34.65, 1, "34.7"),
        (-0.25, 1, "-0.3"),
        (56.249, 1, "56.2"),
        (1e-9, 2, "0.00"),
    ],
)
def test_halves_are_rounded_up_as_written(value, digits, text):
    assert half_up(value, digits) == text


def test_a_score_in_per_cent_is_rounded_half_up_or_a_dash():
    assert percent(56.25) == "56.3" and percent(None) == "–"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(45.2, "45 s"), (100, "2 min"), (110 * 60, "110 min"), (119.9 * 60, "2 h 0 min"), (12000, "3 h 20 min")],
)
def test_a_duration_has_no_power_of_ten(seconds, text):
    assert duration(seconds) == text
