"""Similarity in a real browser: a click chooses, exact numbers follow, and the link keeps what was chosen."""

from __future__ import annotations

import numpy as np
import pytest

from tests.browser.conftest import serve
from tests.support.reader_checkpoints import make_checkpoints
from triattn_core.checkpoint.registry import VARIABLE

CANVAS = ".side canvas"
LINES = ".terms .facts"


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    yield from serve(
        **{VARIABLE: str(make_checkpoints(tmp_path_factory.mktemp("checkpoints"), ("t_trilinear", "trilinear")))}
    )


def chosen(page) -> list[int]:
    return [int(i) for i in page.locator(CANVAS).get_attribute("data-cell").split(".")]


def settled(page, cell: str) -> None:
    """The cell is drawn, and the exact numbers of it have come."""
    page.wait_for_selector(f'{CANVAS}[data-cell="{cell}"]')
    page.locator(f"{LINES} .total").last.wait_for()  # inside a shadow root, which locators see


def test_a_click_chooses_and_its_numbers_add_up(page, app):
    page.set_default_timeout(180_000)  # torch is loaded first
    page.goto(f"{app}/similarity?cell=12.3.0&commands=true")
    settled(page, "12.3.0")
    box = page.locator(CANVAS).bounding_box()
    cells = set()
    for x in np.linspace(130, box["width"] - 220, 23):
        page.locator(CANVAS).click(position={"x": float(x), "y": box["height"] / 2})
        cells.add(tuple(chosen(page)))
    assert {cell[2] for cell in cells} == {0, 1} and len({cell[:2] for cell in cells}) > 5
    page.keyboard.press("ArrowDown")
    page.wait_for_timeout(500)  # drawn at the next frame
    row, key, panel = chosen(page)
    page.wait_for_function(f"location.search.includes('cell={row}.{key}.{panel}')")
    settled(page, f"{row}.{key}.{panel}")
    page.wait_for_function(f"document.body.innerText.includes('--terms {row}.{key}')")
    for block in page.locator(LINES).all():
        numbers = [float(text.replace("−", "-")) for text in block.locator(".term .n").all_inner_texts()]
        assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.02 * max(map(abs, numbers)) + 1e-3)
    mark = page.locator(".passage mark.query").first.inner_text()
    assert mark == page.locator(".which b").first.inner_text()
    page.goto(page.url)
    settled(page, f"{row}.{key}.{panel}")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_at_800_pixels_nothing_runs_over(browser, app, theme):
    context = browser.new_context(viewport={"width": 800, "height": 900}, color_scheme=theme)
    page = context.new_page()
    page.set_default_timeout(180_000)
    page.goto(f"{app}/similarity")
    page.wait_for_selector(f"{CANVAS}[data-cell]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 800
    for part in (".side", ".side .passage", ".side .terms"):
        inside, outside = page.locator(part).evaluate("(one) => [one.scrollWidth, one.clientWidth]")
        assert 0 < inside <= outside, part
    page.locator(f"{LINES} .total").last.wait_for()
    for name in page.locator(f"{LINES} .line > span").all():
        inside, outside = name.evaluate("(one) => [one.scrollWidth, one.clientWidth]")
        assert inside <= outside, name.inner_text()
    for name in page.locator(f"{LINES} .term > span:first-child").all():
        inside, outside = name.evaluate("(one) => [one.scrollWidth, one.clientWidth]")
        assert inside <= outside, name.inner_text()
    context.close()


def test_a_long_command_is_whole_at_800_pixels(browser, app):
    page = browser.new_page(viewport={"width": 800, "height": 900})
    page.set_default_timeout(180_000)
    phrases = "|".join(
        ("American Football Conference", "Denver Broncos", "Carolina Panthers", "third Super Bowl title")
    )
    page.goto(f"{app}/similarity?passage-as=phrases&commands=true&phrases={phrases}")
    page.locator(f"{LINES} .total").last.wait_for()
    code = page.get_by_test_id("stCode").locator("pre")
    assert "--cell attention/weight" in code.inner_text()
    inside, outside = code.evaluate("(one) => [one.scrollWidth, one.clientWidth]")
    assert 0 < inside <= outside
    page.close()


def test_each_function_has_its_terms_under_its_map_whatever_the_width_was_before(browser, app):
    page = browser.new_page(viewport={"width": 800, "height": 900})
    page.set_default_timeout(180_000)
    three = "&functions=".join(("squad-trilinear", "squad-t-trilinear", "squad-trilinear-o1"))
    page.goto(f"{app}/similarity?cell=12.3.0&functions={three}")
    settled(page, "12.3.0")
    page.wait_for_selector(".terms:not(.aligned)")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_selector(".terms.aligned")
    left = page.locator(CANVAS).bounding_box()["x"]
    first, second, third = (one.bounding_box() for one in page.locator(LINES).all()[:3])
    assert first["y"] == second["y"] == third["y"] and first["x"] > left + 70
    assert second["x"] - first["x"] == third["x"] - second["x"]
    page.set_viewport_size({"width": 800, "height": 900})
    page.wait_for_selector(".terms:not(.aligned)")
    page.close()
