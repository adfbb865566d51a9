"""The loss curve: nothing invented, curves told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator

import vl_convert

from triattn_core.views.charts import history
from triattn_core.views.lib.palette import THEMES, shades


def test_the_loss_curve_leaves_out_what_was_not_measured() -> None:
    losses = {"Tri": [{"step": 10, "train_loss": 0.9}, {"step": 20, "train_loss": 0.7, "dev_loss": 0.8}], "Bi": []}
    rows = history.table(losses)
    assert rows.values.tolist() == [
        ["Tri", "train", 10, 0.9],
        ["Tri", "train", 20, 0.7],
        ["Tri", "dev", 20, 0.8],
    ]
    for histories in (losses, {"Tri": [{"step": 10, "train_loss": 0.9}]}):
        spec = history.figure(histories, {"Tri": "#0f6e73", "Bi": "#8793a0"}, {"Tri": 20}).to_json()
        assert re.search(r'"range": \[\s*"#0f6e73"', spec)


def test_more_than_two_losses_are_told_apart_by_dashes_and_a_legend() -> None:
    losses = {name: [{"step": 10, "train_loss": 0.9}, {"step": 20, "dev_loss": 0.8}] for name in "abc"}
    spec = history.figure(losses, dict.fromkeys(losses, "#0f6e73"), dict.fromkeys(losses, 20)).to_dict()
    encoding = spec["layer"][0]["encoding"]
    assert encoding["strokeDash"]["scale"]["domain"] == list("abc")
    assert len({tuple(one) for one in encoding["strokeDash"]["scale"]["range"]}) == 3
    assert encoding["strokeDash"]["legend"]["orient"] == encoding["color"]["legend"]["orient"] == "top"
    assert not [layer for layer in spec["layer"] if layer["mark"]["type"] == "text"]
    two = history.figure({name: losses[name] for name in "ab"}, dict.fromkeys(losses, "#0f6e73"), {}).to_dict()
    assert len([layer for layer in two["layer"] if layer["mark"]["type"] == "text"]) == 2


def test_two_of_one_colour_are_drawn_in_two_shades_and_two_sizes() -> None:
    losses = {name: [{"step": 10, "train_loss": 0.9}, {"step": 20, "dev_loss": 0.8}] for name in "ab"}
    for theme in ("light", "dark"):
        tri, bi = (THEMES[theme][name] for name in ("tri", "bi"))
        colours = shades([tri, bi, tri, tri], theme)
        assert colours[:2] == [tri, bi] and len(set(colours)) == 4
    spec = history.figure(losses, dict.fromkeys(losses, "#0f6e73"), dict.fromkeys(losses, 20)).to_dict()
    dots = next(layer for layer in spec["layer"] if layer["mark"].get("size") == 70)
    first, second = dots["encoding"]["size"]["scale"]["range"]
    assert first > 1.5 * second > 0


def test_the_dot_stands_where_the_weights_were_kept() -> None:
    losses = {"Tri": [{"step": step, "dev_loss": loss} for step, loss in ((10, 0.7), (20, 0.5), (30, 0.6))]}
    spec = history.figure(losses, {"Tri": "#0f6e73"}, {"Tri": 30}).to_dict()
    dots = next(layer for layer in spec["layer"] if layer["mark"].get("size") == 70)
    assert [row["step"] for row in spec["datasets"][dots["data"]["name"]]] == [30]


def texts(item: dict, right: float = 0.0, down: float = 0.0) -> Iterator[tuple[str, tuple[float, float]]]:
    """The texts of a scene with the place of each, in pixels from the left and from the top."""
    for inner in item.get("items", []):
        x, y = right + inner.get("x", 0.0), down + inner.get("y", 0.0)
        if item.get("marktype") == "text":
            yield str(inner.get("text")), (x + inner.get("dx", 0.0), y + inner.get("dy", 0.0))
        yield from texts(inner, x, y)


def test_the_axis_crosses_no_name_at_the_end_of_a_line() -> None:
    ends = {"baseline reader": 3.41, "DCN": 3.02}  # near each other, and near a tick at which the axis may end
    losses = {
        name: [{"step": 800, "train_loss": 8.5, "dev_loss": 5.3}, {"step": 4025, "dev_loss": end}]
        for name, end in ends.items()
    }
    chart = history.figure(losses, dict.fromkeys(ends, "#0f6e73"), {}, height=190).properties(width=300).to_dict()
    places = dict(texts(vl_convert.vegalite_to_scenegraph(chart)["scenegraph"]))
    (x, upper), (_, lower) = places["baseline reader"], places["DCN"]
    axis = places["1k"][1] - 7.5  # a tick's number stands this much below the axis
    assert axis == 190 and lower + 6 < axis and lower - upper > 12
    assert x > 300  # right of the plot, where grid lines end
