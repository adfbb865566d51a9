"""Every page, light and dark, against the rules of axe-core (`npm ci` installs it)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages.shared.navigation import FIRST, TABS
from tests.browser.test_copied_links import rest
from tests.browser.test_keyboard import opened
from triattn_core.views.lib.palette import THEMES

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
# Streamlit's own elements: the place for a file has a role that it cannot have, a table's box of rows an empty header.
OTHERS = ['[data-testid="stFileUploaderDropzone"]', '[data-testid="stDataFrame"]']
RUN = """async (others) => {
  const { violations } = await axe.run({ exclude: others.map((one) => [one]) }, { resultTypes: ["violations"] });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) =>
    [id, html.slice(0, 150), failureSummary].join(" | ")));
}"""


STILL = "document.getAnimations().every(({ playState }) => playState !== 'running')"
GROUND = "getComputedStyle(document.documentElement).getPropertyValue('--t-page').trim()"


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: npm ci")
@pytest.mark.parametrize("name", TABS)
def test_a_page_breaks_no_rule(browser, app, name):
    """Light, then dark on the same visit, as loading takes most of the time."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light")
    page = context.new_page()
    opened(page, app, "" if name == FIRST else name)
    page.evaluate(AXE.read_text("utf-8"))
    broken = {"light": page.evaluate(RUN, OTHERS)}
    turn_dark(page)
    broken["dark"] = page.evaluate(RUN, OTHERS)
    context.close()
    assert not any(broken.values()), broken


def test_a_page_turns_dark_with_the_system(page, app):
    page.emulate_media(color_scheme="light")
    opened(page, app, "results")
    assert page.evaluate(GROUND) == THEMES["light"]["page"]
    turn_dark(page)


def turn_dark(page) -> None:
    """Until the page, which runs again for it, is drawn."""
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"{GROUND} === '{THEMES['dark']['page']}'")
    rest(page)
    page.wait_for_function(STILL)  # what is drawn anew fades in
