"""What a cell of a paper's table says: its difference in digits, and where its number comes from."""

from __future__ import annotations

import pytest

from pages.results import results_table


@pytest.mark.parametrize(
    ("value", "text"),
    [(57.35 - 65.1, "\u22127.8"), (35.25 - 64.5, "\u221229.3"), (0.25, "+0.3"), (-0.01, "0.0"), (None, "")],
)
def test_differences_are_rounded_as_numbers_are(value, text):
    assert results_table.format_difference(value, 1) == text


def test_a_cell_names_all_machines_of_its_seeds():
    seeds = [{"seed": 1}, {"seed": 2, "machine": "GPU"}, {"seed": 3, "machine": "GPU"}]
    assert results_table.machines({"machine": "CPU", "each_seed": seeds}) == "CPU and GPU"
    assert results_table.machines({}) == "machine not recorded"
