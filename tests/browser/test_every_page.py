"""Every page at three widths, light and dark: nothing is cut off or on other text, its main picture begins near the
top, and it breaks no rule of axe-core (`npm ci` installs it)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages.shared.navigation import FIRST, TABS
from tests.browser.conftest import opened, rest
from tests.browser.test_layouts import SCRIPT, WIDTHS, at_width, faults
from triattn_core.views.lib.palette import THEMES

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
# Streamlit's own elements: the place for a file has a role that it cannot have, a table's box of rows an empty header.
OTHERS = ['[data-testid="stFileUploaderDropzone"]', '[data-testid="stDataFrame"]']
RUN = """async (others) => {
  const { violations } = await axe.run({ exclude: others.map((one) => [one]) }, { resultTypes: ["violations"] });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) =>
    [id, html.slice(0, 150), failureSummary].join(" | ")));
}"""
HEIGHT = "document.querySelector('[data-testid=stMain]').scrollHeight + 100"
STILL = "document.getAnimations().every(({ playState }) => playState !== 'running')"
GROUND = "getComputedStyle(document.documentElement).getPropertyValue('--t-page').trim()"
TOP = 300  # pixels above the main picture
TOPS_AT = (1440, 1280, 1024)
NONE = {"case_book"}  # without cases there is nothing to draw
LEAST = 110  # pixels high: a strip of heads, a colour bar and a line of a table are no picture
PICTURES = "canvas, svg.marks, .start svg, table, .t-marks, .t-maps, .lists section, [data-testid=stDataFrame]"
FIRST_TOP = """([pictures, least]) => {
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


@pytest.mark.parametrize("name", TABS)
def test_a_page_is_sound_at_every_width_in_light_and_dark(page, app, name):
    """On one visit, as opening takes most of the time."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.add_init_script(SCRIPT)
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    opened(page, app, "" if name == FIRST else name)
    assert page.evaluate(GROUND) == THEMES["light"]["page"]
    if name not in NONE:
        page.wait_for_function(f"({FIRST_TOP})([{PICTURES!r}, {LEAST}]) < Infinity")
    wrong = {"light": found(page, name)}
    at_width(page, WIDTHS[0])
    turn_dark(page)
    wrong["dark"] = found(page, name)
    assert not any(wrong.values()), wrong
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: npm ci")


def found(page, name: str) -> dict[str, list[str]]:
    """What is wrong with a page that is open in the first width."""
    wrong = {"rules": broken_rules(page)}
    for width in sorted({*WIDTHS, *TOPS_AT}, reverse=True):
        at_width(page, width)
        wrong[str(width)] = faults(page) if width in WIDTHS else []
        if width in TOPS_AT and name not in NONE and (top := page.evaluate(FIRST_TOP, [PICTURES, LEAST])) > TOP:
            wrong[str(width)].append(f"the picture begins at {top}")
    return {where: some for where, some in wrong.items() if some}


def broken_rules(page) -> list[str]:
    """In a window as high as the page: axe-core judges no contrast of what has to be scrolled to."""
    if not AXE.is_file():
        return []
    page.set_viewport_size({"width": WIDTHS[0], "height": page.evaluate(HEIGHT)})
    page.wait_for_timeout(300)
    page.evaluate(AXE.read_text("utf-8"))
    broken = page.evaluate(RUN, OTHERS)
    at_width(page, WIDTHS[0])
    return broken


def turn_dark(page) -> None:
    """Until the page, which runs again for it, is drawn."""
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"{GROUND} === '{THEMES['dark']['page']}'")
    rest(page)
    page.wait_for_function(STILL)  # what is drawn anew fades in
