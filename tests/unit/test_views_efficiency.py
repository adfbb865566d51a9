"""The names at the ends of the lines of Efficiency's panels."""

import pandas as pd
import pytest

from triattn_core.views.charts import efficiency


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
    ends = efficiency._ends(rows, 16.0, 64.0, False)
    assert ends[["tokens", "at"]].values.tolist() == [[64, 64.0]]


@pytest.mark.parametrize(
    "low, high, log, ticks",
    [
        (3.1, 92, True, [2, 5, 10, 20, 50, 100]),
        (5, 5, True, [2, 5, 10]),  # a value on a tick is not on the frame
        (0.004, 0.011, True, [0.002, 0.005, 0.01, 0.02]),
        (1, 99_999, True, [0.1, 1, 10, 100, 1000, 10_000, 100_000]),
        (3.1, 92, False, [0, 20, 40, 60, 80, 100]),
        (5, 5, False, [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_every_value_lies_between_two_labels(low, high, log, ticks):
    assert efficiency._ticks(float(low), float(high), log) == pytest.approx(ticks)


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("lengths", [[16], [16, 64], [1, 512]])
def test_no_point_stands_on_the_frame(lengths, log):
    rows = pd.DataFrame([{"name": "a", "tokens": n, "seconds": n / 1e3, "memory": n} for n in lengths])
    encoding = efficiency.figure(rows, {"a": "text"}, "seconds", log).to_dict()["layer"][0]["encoding"]
    (left, right), (bottom, top) = (encoding[axis]["scale"]["domain"] for axis in "xy")
    assert left < lengths[0] <= lengths[-1] < right and bottom < lengths[0] <= lengths[-1] < top
    assert [bottom, top] == [encoding["y"]["axis"]["values"][i] for i in (0, -1)], "both ends have a label"
