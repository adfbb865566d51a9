"""Semantic roles in a real browser, on tiny checkpoints: the words are buttons, and the predicate is in the link."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.browser.conftest import serve
from tests.support.tagger_checkpoints import make_checkpoints
from triattn_core.checkpoint.registry import VARIABLE

TEXT = "My dog bit the postman yesterday."
LONG = " ".join(["The dog bit the postman ."] * 30)
CANVAS = ".side canvas[data-cell]"


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    yield from serve(**{VARIABLE: str(make_checkpoints(tmp_path_factory.mktemp("checkpoints")))})


def test_a_click_on_a_word_makes_it_the_predicate(page, app):
    page.set_default_timeout(180_000)  # torch is loaded first
    page.goto(f"{app}/mtsa?{urlencode({'checkpoint': 'roles-mtsa', 'text': TEXT})}")
    page.get_by_text("Click the word whose roles you want").wait_for()
    assert page.locator(CANVAS).count() == 0
    page.get_by_role("button", name="bit", exact=True).click()
    page.wait_for_selector(CANVAS)
    page.wait_for_function("location.search.includes('predicate=3')")
    pressed = page.locator('button[aria-pressed="true"]', has_text="bit")
    pressed.wait_for()
    pressed.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.locator('button[aria-pressed="true"]', has_text="postman").wait_for()
    page.wait_for_function("location.search.includes('predicate=5')")
    page.goto(page.url)
    page.locator('button[aria-pressed="true"]', has_text="postman").wait_for()
    page.wait_for_selector(CANVAS)


def test_a_long_sentence_scrolls_to_its_predicate(page, app):
    page.set_default_timeout(180_000)
    page.goto(f"{app}/mtsa?{urlencode({'checkpoint': 'roles-mtsa', 'text': LONG, 'predicate': 165})}")
    pressed = page.locator('button[aria-pressed="true"]')
    pressed.wait_for()
    line = page.locator(".line", has=pressed).bounding_box()
    word = pressed.bounding_box()
    assert line["height"] < 200 and line["y"] <= word["y"] <= line["y"] + line["height"] - word["height"]
    page.get_by_text("Maps of 180 tokens are not drawn").wait_for()
    page.get_by_text("Does it look at the predicate?").wait_for()
