"""Whatever a visitor does on a page, the link of its address bar shows the same in another browser."""

from __future__ import annotations

import random

import pytest

from pages.shared.navigation import FIRST
from tests.browser.test_keyboard import opened

ACTIONS, SEED = 10, 7
PAGES = ("start", "cube")
TARGETS = {  # what a random action clicks or types in; buttons with lasting effects are none
    "option": '[data-testid="stButtonGroup"] button:not([disabled])',
    "figure": "canvas[tabindex]",
    "text": '[data-testid="stTextArea"] textarea:not([disabled])',
    "chip": ".start .chips button",
    "toggle": '[data-testid="stCheckbox"] label',
}
SEEN = """() => {
  const told = [], visit = (under) => {
    for (const one of under.querySelectorAll("*")) {
      if (one.shadowRoot) visit(one.shadowRoot);
      if (one.matches("canvas[data-cell]")) told.push("cell " + one.dataset.cell);
      if (one.matches("textarea, input:not([type=range])")) told.push("field " + one.value);
      if (one.matches("[aria-checked=true], [data-selected=true]")) told.push("chosen " + one.innerText);
      if (one.matches(".start output, .start .says")) told.push(one.innerText);
    }
  };
  visit(document.querySelector("[data-testid=stMain]"));
  const pictures = [...document.querySelectorAll("*")].flatMap((one) => one.shadowRoot
    ? [...one.shadowRoot.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL()) : []);
  return { told, pictures };
}"""


def act(page, draw: random.Random) -> str:
    """One random action; returns what it was."""
    kinds = [kind for kind, selector in TARGETS.items() if page.locator(selector).count()]
    kind = draw.choice(kinds)
    found = page.locator(TARGETS[kind])
    target = found.nth(draw.randrange(found.count()))
    if not target.is_visible():
        return "nothing"
    if kind == "text":
        words = target.input_value().split() or ["why"]
        target.fill(" ".join(draw.sample(words, len(words))))
        target.press("Control+Enter")
    elif kind == "figure":
        box = target.bounding_box()
        target.click(position={"x": draw.uniform(0.2, 0.8) * box["width"], "y": draw.uniform(0.3, 0.8) * box["height"]})
    else:
        target.click()
    return kind


def rest(page) -> None:
    """Waits until the page has run, and what figures send has arrived."""
    for _ in range(2):
        page.wait_for_timeout(600)
        page.wait_for_function("document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")


@pytest.mark.parametrize("name", PAGES)
def test_a_copied_link_shows_what_was_seen(browser, app, name):
    draw, done, seen = random.Random(f"{SEED} {name}"), [], []
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    opened(page, app, "" if name == FIRST else name)
    for _ in range(ACTIONS):
        done.append(act(page, draw))
        rest(page)
    link, seen = page.url, page.evaluate(SEEN)
    context.close()
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(240_000)
    page.goto(link)
    page.wait_for_selector("h1", state="attached")
    rest(page)
    again = page.evaluate(SEEN)
    context.close()
    assert again["told"] == seen["told"], (link, done)
    assert len(again["pictures"]) == len(seen["pictures"])
    assert again["pictures"] == seen["pictures"], (link, done)
