"""The main picture of each page begins near the top, on a wide and on a narrow screen."""

from __future__ import annotations

import pytest

from pages.shared.navigation import PLACES
from tests.browser.test_copied_links import rest

TOP = 300  # pixels
NONE = {"case_book"}  # without cases there is nothing to draw
LEAST = 110  # pixels high: a strip of heads, a colour bar and a line of a table are no picture
PICTURES = "canvas, svg.marks, .start svg, table, .t-marks, .t-maps, .lists section, [data-testid=stDataFrame]"
FIRST = """([pictures, least]) => {
  const tops = [];
  const walk = (root) => root.querySelectorAll("*").forEach((element) => {
    if (element.shadowRoot) walk(element.shadowRoot);
    const box = element.getBoundingClientRect();
    if (element.matches(pictures) && !element.closest(".strip") && box.height > least && box.width > 100)
      tops.push(box.top);
  });
  walk(document.querySelector("[data-testid=stMain]"));
  return tops.length ? Math.min(...tops) : Infinity;
}"""


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768)])
@pytest.mark.parametrize("name", [name for tabs in PLACES.values() for name in tabs if name not in NONE])
def test_the_picture_begins_near_the_top(page, app, name, width, height):
    assert_near_the_top(page, app, name, width, height)


@pytest.mark.parametrize("name", ["similarity", "intervene"])  # whose rows of settings are among the longest
def test_it_does_so_between_these_widths(page, app, name):
    assert_near_the_top(page, app, name, 1280, 800)


def assert_near_the_top(page, app, name, width, height):
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{app}/{'' if name == 'start' else name}")
    page.wait_for_function(f"({FIRST})([{PICTURES!r}, {LEAST}]) < Infinity")
    rest(page)
    assert page.evaluate(FIRST, [PICTURES, LEAST]) <= TOP
