"""The weight of words against other places: band and p-value agree, and a row's draws are its own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from triattn_core.analysis.maps.head_profiles import profile_table
from triattn_core.analysis.maps.word_weights import band_and_p, weigh_words
from triattn_core.trace.from_array import trace_of

AXES = ("layer", "head", "query", "key", "context")


@pytest.mark.parametrize("draws", [39, 400, 999])
def test_on_skewed_draws_a_mean_is_beyond_its_band_exactly_where_p_is_at_most_0_05(draws):
    generator = np.random.default_rng(5)
    samples = np.round(np.exp(1.5 * generator.standard_normal((draws, 6))), 2)  # ties too
    means = np.concatenate([np.round(np.geomspace(1e-3, 1e2, 3000), 2), samples[:, 0]])
    low, high, p = band_and_p(means[:, None].repeat(6, 1), samples[:, None])
    beyond = (means[:, None] < low) | (means[:, None] > high)
    assert (beyond == (p <= 0.05)).all() and beyond.any() and not beyond.all()


def test_the_p_value_counts_the_smaller_tail_twice():
    samples = np.arange(1.0, 100.0)[:, None]  # 99 draws: 1 to 99
    low, high, p = band_and_p(np.array([[0.0], [3.0], [50.0], [98.5]]), samples[:, None])
    assert low[0] == 2 and high[0] == 98
    assert p[:, 0] == pytest.approx([2 / 100, 2 * 4 / 100, 1, 2 * 2 / 100])


def test_few_draws_have_a_band_from_the_least_to_the_greatest():
    low, high, p = band_and_p(np.array([9.0]), np.array([[1.0], [3.0], [2.0]]))
    assert (low[0], high[0], p[0]) == (1, 3, 2 / 4)


def tables() -> list[pd.DataFrame]:
    """Profiles of six rows of two layers, whose second layer is a group of its own."""
    generator, parts = np.random.default_rng(2), []
    for row in range(1, 7):
        values = generator.random((2, 3, 5, 4, 7)) ** 4
        trace = trace_of(
            values / values.sum((-1, -2), keepdims=True),
            axes=AXES,
            tokens={
                "query": ["a", "cat", "is", "not", "red"],
                "key": ["it", "never", "was", "red"],
                "context": ["not", "a", "big", "blue", "cat", "never", "."],
            },
            quantity="weight",
        )
        parts.append(profile_table(trace).assign(row=row, id=f"r{row}"))
    return parts


def test_other_groups_and_the_order_of_the_rows_do_not_change_the_draws():
    """A page weighs one group of heads, in the order in which batches came; the command all heads of a file."""
    parts = tables()
    whole = weigh_words(pd.concat(parts), ("not", "never"))
    site = whole["site"].iloc[-1]
    shuffled = pd.concat([parts[i] for i in (3, 0, 5, 1, 4, 2)])
    alone = weigh_words(shuffled[shuffled["site"] == site], ("not", "never"))
    pd.testing.assert_frame_equal(alone, whole[whole["site"] == site].reset_index(drop=True), check_exact=True)
