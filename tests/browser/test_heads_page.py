"""Head atlas: a click on the map of heads chooses a head, as its picker does."""

from __future__ import annotations

import pytest

from triattn_core.checkpoint.registry import list_checkpoints

pytestmark = pytest.mark.skipif(
    not any(entry.name == "quora-tri-living" for entry in list_checkpoints()), reason="not trained"
)


def test_a_click_on_the_map_chooses_its_head(page, app):
    page.goto(f"{app}/heads?checkpoint=quora-tri-living&count=12")
    chart = page.get_by_test_id("stVegaLiteChart").first.locator("canvas, svg.marks").first
    chart.wait_for()
    page.get_by_text("Weight of words").wait_for()
    chosen = page.get_by_label("Head", exact=True)
    first = chosen.input_value()
    box = chart.bounding_box()
    for down in (20, 64, 108):  # rows of the map: one of them is another head
        chart.click(position={"x": box["width"] / 2, "y": down})
        page.wait_for_timeout(2500)
        if chosen.input_value() != first:
            break
    now = chosen.input_value()
    assert now != first
    page.get_by_text(f"{now.capitalize()} in examples").wait_for()
    assert "at-head=" in page.url
