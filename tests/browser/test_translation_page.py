"""Translation in a real browser, on tiny checkpoints: what is typed is translated, and a cell of its maps is a link."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.browser.conftest import serve
from tests.support.translation_checkpoints import make_checkpoints
from triattn_core.checkpoint.registry import VARIABLE

CANVAS, CANDIDATES = ".side canvas[data-cell]", ".t-candidates"
TYPED = "Where is the old house?"
LONG = "the baker gave her neighbour a warm loaf and " * 34


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    yield from serve(**{VARIABLE: str(make_checkpoints(tmp_path_factory.mktemp("checkpoints")))})


def test_a_typed_sentence_is_translated_and_its_cells_are_links(page, app):
    page.set_default_timeout(180_000)  # torch is loaded first
    page.goto(f"{app}/mtsa?checkpoint=translation-mtsa")
    page.wait_for_selector(CANVAS)
    before = page.locator(CANDIDATES).inner_text()
    box = page.get_by_label("Sentence", exact=True)
    box.fill(TYPED)
    box.press("Control+Enter")
    page.wait_for_function(f"(before) => document.querySelector('{CANDIDATES}').innerText !== before", arg=before)
    assert page.locator(f"{CANDIDATES} tr").count() == 5  # titles, then four candidates
    page.locator(".side .texts", has_text=TYPED).wait_for()  # the maps follow: a key before would choose an older cell
    page.locator(CANVAS).focus()
    chosen = page.locator(CANVAS).get_attribute("data-cell")
    page.keyboard.press("ArrowDown" if chosen.startswith("0.") else "ArrowUp")
    page.wait_for_function("location.search.includes('cell=') && location.search.includes('house')")
    moved = page.locator(CANVAS).get_attribute("data-cell")
    assert moved != chosen
    page.goto(page.url)
    page.wait_for_selector(f'{CANVAS[: -len("[data-cell]")]}[data-cell="{moved}"]')


def test_a_long_text_takes_little_room_and_its_cut_is_said_above_its_candidates(page, app):
    page.set_default_timeout(180_000)
    page.goto(f"{app}/mtsa?{urlencode({'checkpoint': 'translation-mtsa', 'source': LONG})}")
    cut = page.get_by_text("The translation stopped at 90 tokens")
    cut.wait_for()
    candidates = page.locator("details", has_text="4 candidates, scores")
    assert cut.bounding_box()["y"] < candidates.bounding_box()["y"] and not page.locator(CANDIDATES).is_visible()
    box, text = page.get_by_label("Sentence", exact=True).bounding_box(), page.locator(".t-scrolled").first
    assert box["height"] < 130 and text.bounding_box()["height"] < 100
    candidates.locator("summary").click()
    page.locator(CANDIDATES).wait_for()
    page.locator("text=Where it looks most").wait_for()
