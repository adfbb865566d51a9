"""Start in a real browser: one screen, few words, a click answered at once, by keyboard too, and a link that restores
what was seen."""

from __future__ import annotations

import re

import pytest

from triattn_core.results.first_screen import first_screen

SCREEN = first_screen()
MOST_WORDS, MOST_TIME, TOP = 120, 100, 300
CLICK = """(start, chip) => new Promise((done) => {
  const begun = performance.now();
  new MutationObserver(() => done(performance.now() - begun))
    .observe(start.querySelector(".tri .says"), { childList: true, subtree: true });
  start.querySelectorAll(".chips button")[chip].click();
})"""


def start(page, app: str, width: int = 1440, height: int = 900, link: str = "") -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{app}/{link}")
    page.locator(".start .tri polygon").first.wait_for()
    page.get_by_text("Read the studies").wait_for()


def answers(page) -> list[str]:
    return [line.inner_text().replace("\n", " ") for line in page.locator(".start .says").all()]


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768)])
def test_it_is_one_screen_of_few_words_and_begins_with_the_picture(page, app, width, height):
    start(page, app, width, height)
    words = page.locator("[data-testid=stMainBlockContainer]").inner_text()
    assert len(re.findall(r"[^\W\d_][\w’'-]*", words)) <= MOST_WORDS
    assert page.locator(".start svg").first.bounding_box()["y"] < TOP
    door = page.get_by_text("Read the studies").bounding_box()
    assert door["y"] + door["height"] < height
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight") <= height


def test_another_language_moves_the_cell_and_changes_the_answer_at_once(page, app):
    start(page, app)
    for chip in (1, 2, 0):
        assert page.locator(".start").evaluate(CLICK, chip) < MOST_TIME
        right = SCREEN["cards"][SCREEN["right"][chip]][0]
        three, two = answers(page)
        assert right in three and "right" in three and right not in two and "wrong" in two
        page.locator(".tri .cards li.on").filter(has_text=right).wait_for()


def test_keys_choose_a_language_and_the_slider_goes_back_in_training(page, app):
    start(page, app)
    page.locator(".chips button[aria-checked=true]").press("ArrowRight")
    assert page.locator(".chips button[aria-checked=true]").inner_text() == SCREEN["languages"][1]
    page.get_by_label("Training step").press("Home")
    assert page.locator(".start output").inner_text() == "step 1"
    weights = [int(text.split()[0]) for text in page.locator(".tri text.share").all_text_contents()]
    assert max(weights) < 60  # no dark cell before training


def test_the_link_restores_language_and_step(page, app):
    start(page, app)
    page.locator(".chips button").nth(2).click()
    page.get_by_label("Training step").press("ArrowLeft")
    page.wait_for_function("location.search.includes('step=980')")
    seen = answers(page)
    start(page, app, link="?" + page.url.partition("?")[2])
    assert page.locator(".chips button[aria-checked=true]").inner_text() == SCREEN["languages"][2]
    assert page.locator(".start output").inner_text() == "step 980" and answers(page) == seen


def test_a_still_page_for_who_wants_no_motion(browser, app):
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    start(page, app)
    page.locator(".chips button").nth(1).click()
    drawn = page.locator(".tri svg").inner_html()
    page.wait_for_timeout(200)
    assert page.locator(".tri svg").inner_html() == drawn
    context.close()
