"""Whatever a visitor does on a page, the link of its address bar shows the same in another browser."""

from __future__ import annotations

import difflib
import os
import random
from contextlib import suppress

import pytest

from pages.shared.navigation import FIRST, TABS
from tests.browser.conftest import LONG, opened, rest

ACTIONS, SEED = (int(os.environ.get(f"TRIATTN_LINKS_{name}", usual)) for name, usual in (("ACTIONS", 10), ("SEED", 7)))
TARGETS = {  # what a random action clicks or types in; buttons with lasting effects are none
    "option": '[data-testid="stButtonGroup"] button:not([disabled])',
    "figure": "canvas[tabindex]:not([data-testid])",
    "text": '[data-testid="stTextArea"] textarea:not([disabled])',
    "field": '[data-testid="stTextInput"] input:not([disabled]):not([aria-label*="path"])',  # no link opens a file
    "number": '[data-testid="stNumberInputStepUp"]:not([disabled])',
    "list": '[data-testid="stSelectbox"] input:not([disabled])',
    "examples": '[data-testid="stMenuButton"] button:not([disabled])',
    "fold": '[data-testid="stExpander"] summary',
    "chip": ".start .chips button",
    "toggle": '[data-testid="stCheckbox"] label',
    "slider": '[data-testid="stSlider"] [role="slider"]',
    "row": '[data-testid="stDataFrame"] canvas[data-testid="data-grid-canvas"]',
}
# What is seen: each canvas as a picture, what is written in fields, and the text of the page.  Left out is what tells
# of the way here and not of what is shown: durations, notices, what the last change did, and the draft of a note, which
# is of the case book.
SEEN = r"""() => {
  const told = [], pictures = [], main = document.querySelector("[data-testid=stMain]");
  const past = "[aria-live], [data-history], [data-testid=stAlert], [data-testid=stToast], [data-testid=stSkeleton]";
  const visit = (under) => {
    for (const one of under.querySelectorAll("*")) {
      if (one.closest(past) || !one.checkVisibility({ visibilityProperty: true })) continue;
      if (one.shadowRoot) visit(one.shadowRoot);
      if (one.matches("canvas[data-cell]")) told.push("cell " + one.dataset.cell);
      if (one.matches("[data-testid=data-grid-canvas]")) told.push(one.innerText); // a table: its rows
      else if (one.matches("canvas") && !one.closest("[data-testid=stDataFrame]")) pictures.push(one.toDataURL());
      if (one.matches("textarea, input") && one.ariaLabel !== "Note") told.push("field " + one.value);
      if (one.matches("[aria-checked=true], [data-selected=true], [data-testid$=Active]"))
        told.push("chosen " + one.innerText);
      if (one.matches("details")) told.push("fold " + one.open);
      for (const node of one.childNodes) {
        const text = node.nodeType === 3 && !one.matches("style, script, textarea") ? node.textContent.trim() : "";
        if (text) told.push(text.replace(/[\d.,]+ (ms|s|of [\d.]+ GiB)\b/g, "so much"));
      }
    }
  };
  visit(main);
  return { told, pictures };
}"""


def act(page, draw: random.Random) -> str:
    """One random action; returns what it was."""
    kinds = [kind for kind, selector in TARGETS.items() if page.locator(selector).locator("visible=true").count()]
    if not kinds:
        return "nothing"
    kind = draw.choice(kinds)
    found = page.locator(TARGETS[kind]).locator("visible=true")
    target = found.nth(draw.randrange(found.count()))
    if kind in ("text", "field"):
        words = target.input_value().split() or ["why"]
        target.fill(" ".join(draw.sample(words, len(words))))
        target.press("Control+Enter" if kind == "text" else "Enter")
    elif kind in ("figure", "row"):
        target.scroll_into_view_if_needed()
        box = target.bounding_box()
        page.mouse.click(
            *(box[at] + draw.uniform(0.3, 0.8) * box[size] for at, size in (("x", "width"), ("y", "height")))
        )
    elif kind in ("list", "examples"):
        target.click()
        entries = page.locator('[role="listbox"] [role="option"], [role="menu"] [role="menuitem"]')
        with suppress(Exception):  # a list that opens on nothing
            entries.first.wait_for(timeout=3000)
            entries.nth(draw.randrange(min(entries.count(), 6))).click()
        page.keyboard.press("Escape")
    elif kind == "slider":
        target.press(draw.choice(["ArrowLeft", "ArrowRight", "Home"]))
    else:
        target.click()
    return f"{kind} {(target.get_attribute('aria-label') or '') if target.count() else ''}".strip()


def look(page) -> dict:
    """What is seen once it no longer changes: figures are drawn some frames after their page has run."""
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement?.blur()")
    before = None
    for _ in range(20):
        rest(page)
        seen = page.evaluate(SEEN)
        if seen == before:
            break
        before = seen
    return seen


@pytest.mark.parametrize("name", TABS)
def test_a_copied_link_shows_what_was_seen(browser, app, name):
    draw, done = random.Random(f"{SEED} {name}"), []
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(LONG)
    opened(page, app, "" if name == FIRST else name)
    for _ in range(ACTIONS):
        done.append(act(page, draw))
        rest(page)
    seen = look(page)  # first: on a busy machine the link of the last action may be written later than its page has run
    link = page.url
    context.close()
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(LONG)
    page.goto(link)
    page.wait_for_selector("h1", state="attached")
    again = look(page)
    context.close()
    unlike = "\n".join(difflib.unified_diff(seen["told"], again["told"], lineterm="", n=1))
    assert not unlike, f"{link}\n{done}\n{unlike}"
    assert len(again["pictures"]) == len(seen["pictures"])
    assert again["pictures"] == seen["pictures"], (link, done)
