"""Translation in a real browser, on tiny checkpoints: what is typed is translated, and a cell of its maps is a link."""

from __future__ import annotations

import pytest

from tests.browser.conftest import serve
from tests.support.translation_checkpoints import make_checkpoints
from triattn_core.checkpoint.registry import VARIABLE

CANVAS, CANDIDATES = ".side canvas[data-cell]", ".t-candidates"
TYPED = "Where is the old house?"


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
