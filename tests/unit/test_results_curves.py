"""Figures from sweeps: which runs make a line, and what is drawn of them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from triattn_core.checkpoint.registry import Entry
from triattn_core.results import curves
from triattn_core.results.paper_schema import Figure
from triattn_core.results.run_records import Record
from triattn_core.views.charts import layers

FIGURE = Figure(
    kind="figure", number=5, label="Figure 5", short="", title="", x="model.layers", x_name="layers", metric="accuracy",
    metric_name="accuracy", ours={"mechanism": "tri"}, command="triattn sweep",
    lines=({"name": "TAdd", "ours": {"similarity": "additive"}, "chosen": 2},
           {"name": "TDP", "ours": {"similarity": "dot"}}),
)  # fmt: skip


def run(n: int, *values: float, similarity: str = "additive", every: int = 3, file: str = "one", sweep: bool = True):
    model = {"mechanism": "tri", "similarity": similarity, "layers": n}
    config = {"model": model, "data": {"train": ["a/train"], "every": every, "dev": "a/dev"}, "training": {"epochs": 1}}
    each = [{"seed": seed, "dev": {"accuracy": value}} for seed, value in enumerate(values, 1)]
    entry = Entry("x", Path("x"), config, {"dev": {"accuracy": values[0]}, "each_seed": each}, "", 1)
    return Record(entry, file, {"model.layers": n} if sweep else {})


def points(figure_curves) -> dict[str, dict[float, tuple[float, ...]]]:
    return {curve.line.name: curve.points for curve in figure_curves}


def test_runs_that_differ_in_the_swept_setting_alone_are_a_line():
    all_ = [run(3, 81.0, 82.0), run(1, 80.0, 79.0), run(2, 85.0, similarity="dot"), run(2, 70.0, sweep=False)]
    expected = {"TAdd": {1.0: (80.0, 79.0), 3.0: (81.0, 82.0)}, "TDP": {2.0: (85.0,)}}
    assert points(curves.measured_curves(FIGURE, all_)) == expected
    assert list(curves.measured_curves(FIGURE, all_)[0].points) == [1.0, 3.0]
    assert curves.measured_curves(FIGURE, []) == []


@pytest.mark.parametrize(
    ("others", "chosen"),
    [
        ([run(1, 70.0, every=6), run(2, 71.0, every=6), run(3, 72.0, every=6)], 70.0),  # more points
        ([run(1, 70.0, 70.0, every=6), run(2, 71.0, every=6)], 70.0),  # as many, more runs
        ([run(1, 70.0, file="two"), run(2, 71.0, file="two")], 70.0),  # as many of both: the later file
        ([run(1, 70.0, every=6)], 80.0),
    ],
)
def test_of_several_sweeps_one_is_drawn_and_none_are_mixed(others, chosen):
    (curve,) = curves.measured_curves(FIGURE, [run(1, 80.0), run(2, 81.0), *others])
    assert curve.points[1.0][0] == chosen
    assert len({value[0] // 10 for value in curve.points.values()}) == 1


def test_the_living_form_is_no_line_of_the_paper():
    living = run(1, 90.0)
    living.entry.config["model"]["states"] = "layer:2"
    assert points(curves.measured_curves(FIGURE, [run(1, 80.0), living])) == {"TAdd": {1.0: (80.0,)}}
    assert curves.measured_curves(FIGURE, [living]) == []


def test_points_as_rows_and_in_words():
    figure_curves = curves.measured_curves(FIGURE, [run(1, 80.0, 81.0), run(2, 82.0, 83.0)])
    assert curves.export_rows(figure_curves)[:2] == [
        {"line": "TAdd", "x": 1.0, "run": 1, "value": 80.0, "standard_error": None},
        {"line": "TAdd", "x": 1.0, "run": 2, "value": 81.0, "standard_error": None},
    ]
    assert curves.describe_training(figure_curves) == "A point is 2 runs. One row in 3 of a/train; 1 epoch."
    assert "1 to 2 runs" in curves.describe_training(curves.measured_curves(FIGURE, [run(1, 80.0, 81.0), run(2, 82.0)]))


def test_points_that_other_lines_have_are_missed():
    whole = [run(n, 80.0) for n in (1, 2, 3)] + [run(n, 80.0, similarity="dot") for n in (1, 2, 3)]
    assert curves.missing_points(FIGURE, curves.measured_curves(FIGURE, whole)) == []
    assert curves.missing_points(FIGURE, curves.measured_curves(FIGURE, whole[:4])) == ["TDP at 2 and 3"]
    assert curves.missing_points(FIGURE, curves.measured_curves(FIGURE, whole[:3])) == ["TDP"]


def measured_on(rows: int, *values: float, similarity: str = "additive") -> list[Record]:
    runs = [run(x, value, similarity=similarity) for x, value in enumerate(values, 1)]
    for record in runs:
        record.entry.metrics["dev"]["n"] = rows
    return runs


def test_noise_is_one_standard_error_of_the_rows_and_names_the_pairs_beyond_it():
    (curve,) = flat = curves.measured_curves(FIGURE, measured_on(8802, 84.04, 84.22, 84.22))
    assert curve.error(1.0, 84.04) == pytest.approx((84.04 * 15.96 / 8802) ** 0.5)
    assert curves.describe_noise(flat).startswith(
        "One standard error of the 8,802 dev rows is 0.39 (the bars). TAdd: no"
    )
    assert "TAdd: no two points of the line differ significantly" in curves.describe_noise(flat)
    both = curves.measured_curves(
        FIGURE, measured_on(8802, 84.04, 84.22) + measured_on(8802, 84.1, 84.2, similarity="dot")
    )
    assert "TAdd and TDP: no two points of any one line differ" in curves.describe_noise(both)
    steep = curves.describe_noise(curves.measured_curves(FIGURE, measured_on(8802, 66.0, 66.5, 70.0)))
    assert "2 of 3 pairs exceed the noise" in steep and steep.endswith(": 3 over 1, 3 over 2.")
    assert curves.describe_noise(curves.measured_curves(FIGURE, [run(1, 80.0)])) == "" == curves.describe_noise([])


# --- the view ---


def test_a_bar_is_one_standard_error_of_the_rows():
    (first, second) = layers.table(
        pd.DataFrame(curves.export_rows(curves.measured_curves(FIGURE, measured_on(100, 50.0, 80.0))))
    ).to_dict("records")
    assert (first["bottom"], first["top"], second["bottom"], second["top"]) == (45, 55, 76, 84)
    bars = [layer for layer in drawn(*measured_on(100, 50.0, 80.0))["layer"] if layer["mark"]["type"] == "rule"]
    assert [layer["encoding"]["y"]["field"] for layer in bars] == ["bottom"]


def test_a_band_is_one_standard_deviation_and_of_one_run_there_is_none():
    drawn = curves.measured_curves(FIGURE, [run(1, 80.0, 82.0), run(2, 83.0)])
    table = layers.table(pd.DataFrame(curves.export_rows(drawn)))
    low, high = (pytest.approx(81 + side * 2**0.5) for side in (-1, 1))
    assert table.to_dict("records") == [
        {"line": "TAdd", "x": 1.0, "mean": 81.0, "runs": 2, "bottom": 81, "top": 81, "low": low, "high": high},
        {"line": "TAdd", "x": 2.0, "mean": 83.0, "runs": 1, "bottom": 83, "top": 83, "low": 83.0, "high": 83.0},
    ]


def drawn(*records, theme: str = "light") -> dict:
    figure_curves = curves.measured_curves(FIGURE, records)
    chosen = {curve.line.name: curve.line.chosen for curve in figure_curves}
    titles = {"x": "layers", "value": "accuracy"}
    return layers.figure(pd.DataFrame(curves.export_rows(figure_curves)), titles, chosen, "#123456", theme).to_dict()


def data(spec: dict, layer: dict) -> list[dict]:
    name = layer.get("data", spec.get("data", {})).get("name")
    return spec["datasets"][name]


def test_the_figure_names_its_lines_marks_the_best_and_rings_the_papers_choice():
    spec = drawn(*(run(n, 80 + n % 3) for n in range(1, 7)), *(run(n, 79.0, similarity="dot") for n in range(1, 7)))
    best, *_ = [layer for layer in spec["layer"] if layer["mark"]["type"] == "text"]
    assert data(spec, best)[0]["mean"] == 82 and data(spec, best)[0]["x"] == 2
    assert best["encoding"]["y"]["field"] == "mean"  # beside its point, not above its bar
    assert {(name["line"], name["x"]) for name in end_names(spec)} == {("TAdd", 6), ("TDP", 6)}
    (ring,) = [layer for layer in spec["layer"] if layer["mark"].get("filled") is False]
    assert [(one["line"], one["x"]) for one in data(spec, ring)] == [("TAdd", 2)]
    axis = spec["layer"][0]["encoding"]["x"]
    assert axis["title"] == "layers" and axis["axis"]["values"] == [1, 2, 3, 4, 5, 6]


def test_every_run_is_inside_the_axis():
    low, high = drawn(run(1, 80.0, 80.0, 83.0), run(2, 81.0))["layer"][3]["encoding"]["y"]["scale"]["domain"]
    assert low < 80 and high > 83


def end_names(spec: dict) -> list[dict]:
    """The rows of the names at the ends of lines."""
    layers_of_names = [
        layer for layer in spec["layer"] if layer["mark"]["type"] == "text" and "at" in data(spec, layer)[0]
    ]
    return [row for name in {layer["data"]["name"] for layer in layers_of_names} for row in spec["datasets"][name]]


def test_no_point_stands_on_an_axis_and_no_bar_is_cut():
    encoding = drawn(*measured_on(100, 50.0, 80.0))["layer"][3]["encoding"]
    (left, right), (bottom, top) = (encoding[axis]["scale"]["domain"] for axis in "xy")
    assert left < 1 and right > 2 and bottom < 45 and top > 84


def test_lines_differ_in_colour_dash_and_shape_in_both_themes():
    records = [run(n, 80.0 + n, similarity=name) for n in (1, 2) for name in ("additive", "dot")]
    for theme in ("light", "dark"):
        encodings = [layer["encoding"] for layer in drawn(*records, theme=theme)["layer"]]
        for channel in ("color", "strokeDash", "shape"):
            scales = [one[channel]["scale"] for one in encodings if (one.get(channel) or {}).get("scale")]
            assert scales and all(len({str(value) for value in scale["range"]}) == 2 for scale in scales), channel


def test_a_line_breaks_where_a_setting_was_not_run_and_thin_dots_bridge_it():
    spec = drawn(run(1, 80.0), run(3, 82.0), *(run(n, 79.0, similarity="dot") for n in (1, 2, 3)))
    (line,) = [layer for layer in spec["layer"] if layer["mark"]["type"] == "line"]
    assert {(row["line"], row["x"]): row["mean"] for row in data(spec, line)}["TAdd", 2] is None
    (bridge,) = [layer for layer in spec["layer"] if layer["mark"].get("strokeDash") == [1, 4]]
    assert [(row["line"], row["mean"], row["mean_to"]) for row in data(spec, bridge)] == [("TAdd", 80, 82)]


def test_bars_of_several_lines_stand_beside_each_other_and_one_line_stays_on_its_settings():
    alone = drawn(run(1, 80.0), run(2, 82.0))
    assert [row["place"] for row in data(alone, alone["layer"][3])] == [1, 2]
    both = drawn(run(1, 80.0), run(2, 82.0), run(1, 79.0, similarity="dot"), run(2, 82.0, similarity="dot"))
    placed = {(row["line"], row["x"]): row["place"] for row in data(both, both["layer"][3])}
    assert placed["TAdd", 2] < 2 < placed["TDP", 2] and placed["TDP", 2] - placed["TAdd", 2] == pytest.approx(0.05)
    assert [name["anchor"] for name in end_names(both)] == [placed["TDP", 2]] * 2


def test_names_of_lines_that_end_together_do_not_cover_each_other():
    spec = drawn(run(1, 80.0), run(2, 82.0), run(1, 79.0, similarity="dot"), run(2, 82.0, similarity="dot"))
    low, high = spec["layer"][3]["encoding"]["y"]["scale"]["domain"]
    first, second = (name["at"] for name in end_names(spec))
    assert abs(first - second) / (high - low) * (320 - layers.AXIS) >= 14


def test_one_point_alone_is_drawn_in_both_themes():
    light, dark = (drawn(run(2, 82.0), theme=theme) for theme in ("light", "dark"))
    assert light["config"]["axis"] != dark["config"]["axis"]
    assert light["layer"][0]["encoding"]["x"]["axis"]["values"] == [2]
