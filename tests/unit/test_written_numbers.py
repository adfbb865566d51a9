"""Numbers as pages write them."""

from __future__ import annotations

import pytest

from pages.results.results_table import format_difference
from pages.shared.checkpoint_html import duration, percent
from triattn_core.views.lib.number_format import half_up, minus, per_cent


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (56.25, 1, "56.3"),
        (34.65, 1, "34.7"),
        (-0.25, 1, "-0.3"),
        (56.249, 1, "56.2"),
        (1e-9, 2, "0.00"),
        (-0.04, 1, "0.0"),
    ],
)
def test_halves_are_rounded_up_as_written(value, digits, text):
    assert half_up(value, digits) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("by -0.0 points, no more", "by 0.0 points, no more"),
        ("+0.000 and -0.", "0.000 and 0."),
        ("−0.00; (-0)", "0.00; (0)"),
        ("-0.05, +0.5, -0e-3, -0.1", "\u22120.05, +0.5, \u22120e-3, \u22120.1"),
        ("sub-0.0 1e-0 2026-00-01", "sub-0.0 1e-0 2026-00-01"),
    ],
)
def test_a_number_that_rounds_to_zero_has_no_sign(text, expected):
    assert minus(text) == expected


def test_a_difference_that_rounds_to_zero_has_no_sign():
    assert [format_difference(value, 1) for value in (-0.04, 0.04, -0.06, 0.06)] == ["0.0", "0.0", "\u22120.1", "+0.1"]


def test_a_score_in_per_cent_is_rounded_half_up_or_a_dash():
    assert percent(56.25) == "56.3" and percent(None) == "–"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(45.2, "45 s"), (100, "2 min"), (110 * 60, "110 min"), (119.9 * 60, "2 h 0 min"), (12000, "3 h 20 min")],
)
def test_a_duration_has_no_power_of_ten(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"), [(100, "100"), (99.97, "99.97"), (99.94, "99.9"), (0, "0.0"), (66.75, "66.8")]
)
def test_only_all_is_written_as_100(value, text):
    assert per_cent(value) == text
