"""The names at the ends of the lines of Efficiency's panels."""

import pandas as pd
import pytest

from triattn_core.views import efficiency


@pytest.mark.parametrize("log", [True, False])
def test_names_at_one_length_keep_apart_and_others_stay_where_their_line_ends(log):
    """Of three lines that end together the lower two move down; one that ends earlier is left where it is."""
    ends = {"a": (64, 90.0), "b": (64, 89.0), "c": (64, 88.0), "early": (32, 88.5)}
    rows = pd.DataFrame([{"name": name, "tokens": n, "value": v} for name, (n, v) in ends.items()])
    at = efficiency._ends(rows, 10.0, 100.0, log).set_index("name")["at"]
    assert at["a"] == pytest.approx(90) and at["early"] == pytest.approx(88.5)
    shares = {"b": 90 * 10**-0.062, "c": 90 * 10**-0.124} if log else {"b": 90 - 5.58, "c": 90 - 11.16}  # 0.062 of it
    assert at["b"] == pytest.approx(shares["b"]) and at["c"] == pytest.approx(shares["c"])


def test_a_name_stands_where_the_last_measured_length_of_its_line_is():
    rows = pd.DataFrame([{"name": "a", "tokens": n, "value": float(n)} for n in (16, 32, 64)])
    found = efficiency._ends(rows, 16.0, 64.0, False)
    assert found[["tokens", "at"]].values.tolist() == [[64, 64.0]]
