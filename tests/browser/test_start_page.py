"""Start in a real browser: one screen, few words, a click answered at once, by keyboard too, and a link that restores
what was seen."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import rest
from triattn_core.results.first_screen import first_screen

SCREEN = first_screen()
MOST_WORDS, MOST_TIME, TOP = 120, 100, 300
WRITTEN = 1500  # milliseconds after which the link is written and the figure was mounted again
WORDS = """main => {
  const read = (under) => [...under.querySelectorAll("*")].flatMap((one) => {
    const unseen = one.matches("[data-testid=stIconMaterial], style, script") || !one.checkVisibility();
    const own = unseen ? [] : [...one.childNodes].filter((part) => part.nodeType === Node.TEXT_NODE);
    return [...own.map((part) => part.data), ...(one.shadowRoot ? read(one.shadowRoot) : [])];
  });
  return read(main).map((text) => text.trim()).filter((text) => text && text !== "Copy link");
}"""
CLICK = """(start, chip) => new Promise((done) => {
  const begun = performance.now();
  new MutationObserver(() => done(performance.now() - begun))
    .observe(start.querySelector(".tri .says"), { childList: true, subtree: true });
  start.querySelectorAll(".chips button")[chip].click();
  setTimeout(() => done(Infinity), 5000); // a figure that has come again is another element
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
    texts = page.locator("[data-testid=stMainBlockContainer]").evaluate(WORDS)
    assert "Two-way attention" in texts  # what is in a shadow root counts
    words = re.findall(r"[^\W\d_][\w’'-]*", " ".join(texts))
    assert len(words) <= MOST_WORDS, words
    assert page.locator(".start svg").first.bounding_box()["y"] < TOP
    door = page.get_by_text("Read the studies").bounding_box()
    assert door["y"] + door["height"] < height
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight") <= height


@pytest.mark.alone
def test_another_language_moves_the_cell_and_changes_the_answer_at_once(page, app):
    start(page, app)
    rest(page)
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


def test_each_key_counts_when_the_link_was_written_between(page, app):
    """Once the reader rests the page writes its link and mounts the figure again; the focus stays where it was."""
    start(page, app)
    steps = [f"step {frame['step']:,}" for frame in SCREEN["tri"]["frames"]]
    page.get_by_label("Training step").focus()
    for key, shown in (("ArrowLeft", -2), ("ArrowLeft", -3), ("Home", 0), ("ArrowRight", 1)):
        page.keyboard.press(key)
        assert page.locator(".start output").inner_text() == steps[shown]
        page.wait_for_timeout(WRITTEN)
    assert f"step={SCREEN['tri']['frames'][1]['step']}" in page.url
    page.locator(".chips button[aria-checked=true]").focus()
    for language in (1, 2, 0, 1):
        page.keyboard.press("ArrowRight")
        assert page.locator(".chips button[aria-checked=true]").inner_text() == SCREEN["languages"][language]
        page.wait_for_timeout(WRITTEN)
    assert f"spoken={SCREEN['languages'][1]}" in page.url


def test_an_answer_of_two_way_attention_is_said_with_its_probability_and_where_it_comes_from(page, app):
    right, frames = SCREEN["right"], SCREEN["two_way"]["frames"]
    cards = [colour for _, colour in SCREEN["cards"]]
    seen = set()
    start(page, app)
    for frame, told in enumerate(frames):
        page.get_by_label("Training step").fill(str(frame))
        colour = SCREEN["colours"][told["answers"][0]]
        comes = "" if colour == cards[right[0]] else ", mixed from all" if colour in cards else ", on no card"
        note = page.locator(".two .says small").inner_text()
        assert re.sub(r"^\d+ %", "", note) == f" sure{comes}"
        assert abs(int(note.split()[0]) - told["probabilities"][0] / SCREEN["scale"] * 100) <= 0.5
        seen.add(comes)
    assert len(seen) == 3


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
