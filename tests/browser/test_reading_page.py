"""Read as a person, with the keyboard alone, in a real browser and on shipped checkpoints."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

PAIR = {"a": "Which browsers, if any, can play movies?", "b": "Which browser can download movies?"}
PUBLISHED = {**PAIR, "checkpoint": "quora-tri-published"}  # its context has special tokens
LONG = 240_000  # milliseconds: a busy machine loads torch and a model first
CUBE, MAPS = ".triattn canvas", ".side canvas"
FOCUSED = """() => { let e = document.activeElement;
  while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
  const tag = e?.closest(".strip") ? "STRIP" : e?.tagName;  // the strip of heads is not the figure
  return e ? `${tag} ${e.getAttribute("aria-label") ?? e.innerText ?? ""}` : ""; }"""


def opened(page, app: str, where: str, canvas: str, **query: str):
    page.set_default_timeout(LONG)
    page.goto(f"{app}/{where}?{urlencode(query)}")
    figure = page.locator(canvas).first
    expect(figure).to_have_attribute("data-cell", re.compile(r"\d"), timeout=LONG)
    return figure


def tab_to(page, wanted: str, says: str = "") -> None:
    """Tab until what has the focus begins with these words, and says the others too."""
    for _ in range(60):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if focused.startswith(wanted) and says in focused:
            return
    raise AssertionError(f"Tab never comes to {wanted!r}")


def test_words_phrases_and_sinks_by_keyboard_alone(page, app):
    canvas = opened(page, app, "cube", CUBE, **PUBLISHED)
    tab_to(page, "BUTTON Read as")
    page.keyboard.press("Enter")
    expect(page.get_by_text("is the text between two punctuation marks")).to_be_visible()
    tab_to(page, "INPUT Query as")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function("location.search.includes('query-as=')")
    page.keyboard.press("Escape")
    expect(canvas).to_have_attribute("aria-label", re.compile("Of [0-9,]+ weights, (3|9|10|11) query"), timeout=LONG)
    tab_to(page, "SUMMARY How it is measured")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Query is folded from")).to_be_visible(timeout=LONG)
    page.goto(f"{app}/cube?{urlencode({**PUBLISHED, 'hide': 'true', 'context': 'phrases'})}")
    expect(page.get_by_text("nothing is renormalised").last).to_be_visible(timeout=LONG)


def test_keys_and_arrows_walk_the_strongest_triples_and_mark_the_text(page, app):
    canvas = opened(page, app, "cube", CUBE, **PAIR)
    first = canvas.get_attribute("data-cell")
    tab_to(page, "CANVAS")
    page.keyboard.press("n")
    expect(canvas).not_to_have_attribute("data-cell", first)
    second = canvas.get_attribute("data-cell")
    assert page.locator(".triattn .texts mark").count() >= 1
    page.keyboard.press("p")
    expect(canvas).to_have_attribute("data-cell", first)
    tab_to(page, "TR 1")
    page.keyboard.press("ArrowDown")
    expect(canvas).not_to_have_attribute("data-cell", first)
    second = canvas.get_attribute("data-cell")
    page.keyboard.press("ArrowUp")
    expect(canvas).not_to_have_attribute("data-cell", second)
    tab_to(page, "CANVAS")  # around the page
    page.keyboard.press("n")
    expect(canvas).to_have_attribute("data-cell", second)


@pytest.mark.parametrize("where", ["side_by_side", "mtsa"])
def test_the_same_keys_walk_the_maps(page, app, where):
    canvas = opened(page, app, where, MAPS)
    tab_to(page, "CANVAS")
    cells = []
    for _ in range(3):
        page.keyboard.press("n")
        page.wait_for_timeout(400)
        cells.append(canvas.get_attribute("data-cell"))
    assert len(set(cells)) == 3 and page.locator(".side .texts mark").count() >= 1
    tab_to(page, "BUTTON p")
    page.keyboard.press("Enter")
    expect(canvas).to_have_attribute("data-cell", cells[1])
    expect(page.get_by_text(re.compile("^Maps of ")).last).to_be_visible()
    tab_to(page, "SUMMARY", "as numbers")
    page.keyboard.press("Enter")
    page.locator('[data-testid="stDataFrame"]').first.wait_for()


def test_every_page_is_a_link_from_studies(page, app):
    page.set_default_timeout(LONG)
    page.goto(f"{app}/studies")
    page.get_by_role("link", name=re.compile("How much of the attention depends on the context")).press("Enter")
    page.wait_for_url(re.compile("/context"))
    expect(page.get_by_role("heading", name="Does context matter?")).to_be_visible(timeout=LONG)
