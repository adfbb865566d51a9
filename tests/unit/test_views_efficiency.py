"""The names at the ends of the lines of what a block costs."""

import pandas as pd
import pytest

from triattn_core.views.charts import efficiency


def test_names_are_in_the_order_of_the_ends_with_a_leader_where_they_are_moved():
    """Of three lines that end together each name keeps its rank; one that ends earlier is left where it is."""
    ends = {"a": (64, 0.090), "b": (64, 0.084), "c": (64, 0.086), "early": (32, 0.085)}
    rows = [{"name": name, "tokens": n, "seconds": v, "memory": 1} for name, (n, v) in ends.items()]
    rows += [{"name": name, "tokens": 16, "seconds": 0.002, "memory": 1} for name in ends]
    table = pd.DataFrame(rows).sort_values("tokens", kind="stable")
    spec = efficiency.figure(table, dict.fromkeys(ends, "text"), "seconds").to_dict()
    names = [layer for layer in spec["layer"] if layer["mark"]["type"] == "text"]
    placed = pd.concat(pd.DataFrame(spec["datasets"][data]) for data in {layer["data"]["name"] for layer in names})
    placed = placed.set_index("name")
    assert placed["at"].drop("early").sort_values().index.tolist() == ["b", "c", "a"]
    assert placed.loc["early", "at"] == pytest.approx(85) and not placed.loc["early", "moved"]
    (leaders,) = [layer for layer in spec["layer"] if layer["mark"]["type"] == "rule"]
    assert {row["name"] for row in spec["datasets"][leaders["data"]["name"]]} >= {"a", "b"}
    assert leaders["encoding"]["y"]["field"] == "value" and leaders["encoding"]["y2"]["field"] == "at"


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
    table = pd.DataFrame(
        [{"name": "a", "tokens": n, "seconds": ms / 1e3, "memory": 1} for n, ms in ((16, low), (64, high))]
    )
    axis = efficiency.figure(table, {"a": "text"}, "seconds", log).to_dict()["layer"][0]["encoding"]["y"]["axis"]
    assert axis["values"] == pytest.approx(ticks)


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("lengths", [[16], [16, 64], [1, 512]])
def test_no_point_stands_on_the_frame(lengths, log):
    rows = pd.DataFrame([{"name": "a", "tokens": n, "seconds": n / 1e3, "memory": n} for n in lengths])
    encoding = efficiency.figure(rows, {"a": "text"}, "seconds", log).to_dict()["layer"][0]["encoding"]
    (left, right), (bottom, top) = (encoding[axis]["scale"]["domain"] for axis in "xy")
    assert left < lengths[0] <= lengths[-1] < right and bottom < lengths[0] <= lengths[-1] < top
    assert [bottom, top] == [encoding["y"]["axis"]["values"][i] for i in (0, -1)], "both ends have a label"
