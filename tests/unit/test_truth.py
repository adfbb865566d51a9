"""Measures against truth: as the oracles count them, and what each says of maps whose value is plain."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles import laboratory as oracle
from triattn_core.analysis import truth


@pytest.mark.parametrize("shape", [(7,), (5, 3)])
def test_measures_are_those_of_the_oracles(shape):
    draw = np.random.default_rng(1)
    for _ in range(50):
        weights = draw.integers(0, 6, shape) / 7  # few values: ties
        mask = draw.random(shape) < 0.3
        mask.flat[0] = True
        flat, is_true = weights.ravel().tolist(), mask.ravel().tolist()
        measures = truth.measures(weights, mask)
        assert measures["mass"] == pytest.approx(oracle.mass(flat, is_true))
        assert measures["first_rank"] == oracle.first_rank(flat, is_true)
        assert measures["average_precision"] == pytest.approx(oracle.average_precision(flat, is_true))
        assert measures["hit_at_1"] == (measures["first_rank"] == 1)
        assert measures["mass_over_even"] == pytest.approx(measures["mass"] * mask.size / mask.sum())


def test_a_uniform_map_finds_nothing():
    mask = np.zeros((6, 6), bool)
    mask[2, 3] = True
    measures = truth.measures(np.full((6, 6), 1 / 36), mask)
    assert measures["first_rank"] == 36 and measures["hit_at_1"] == 0
    assert measures["mass_over_even"] == pytest.approx(1) and measures["average_precision"] == pytest.approx(1 / 36)


def test_a_map_on_the_truth_finds_all():
    mask = np.zeros((6, 6), bool)
    mask[2, 3] = True
    measures = truth.measures(mask.astype(float), mask)
    assert measures["first_rank"] == measures["mass"] == measures["average_precision"] == 1


def test_rows_without_truth_and_other_shapes_are_refused():
    with pytest.raises(ValueError):
        truth.measures(np.ones(3), np.zeros(3, bool))
    with pytest.raises(ValueError):
        truth.measures(np.ones(3), np.ones(4, bool))


def test_quadrants_are_shares_of_all_rows():
    quadrants = truth.quadrants([True, True, False, False, True], [True, False, True, False, True])
    assert quadrants == {
        "right, looked": 0.4,
        "right, did not look": 0.2,
        "wrong, looked": 0.2,
        "wrong, did not look": 0.2,
    }
