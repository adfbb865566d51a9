"""Context, Intervene and Attribute in a real browser, on shipped checkpoints: what each is for, done once."""

from __future__ import annotations

import re
import time
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

PAIR = {"a": "Which browser plays movies?", "b": "Which browser downloads movies?", "checkpoint": "quora-tri-published"}
LONG = 120_000  # milliseconds: a busy machine loads torch and several models first


def opened(page, app: str, where: str, **query: str) -> None:
    page.set_default_timeout(LONG)
    page.goto(f"{app}/{where}?{urlencode({**PAIR, **query})}")
    page.get_by_text(" says ").first.wait_for()


def run_over(page, count: int) -> None:
    """These rows are there: pressing Run only where no session of this app has had them before."""
    rows = page.get_by_text(re.compile(f"Over {count} rows, all heads")).first  # the old one stays for a moment
    waiting = page.get_by_text(f"{count} rows, {PAIR['checkpoint']}. Not run yet.")
    expect(waiting.or_(rows).first).to_be_visible(timeout=LONG)
    if waiting.count():
        page.get_by_role("button", name="Run", exact=True).click()
    expect(rows).to_be_visible(timeout=LONG)


def test_context_a_click_on_a_bar_chooses_its_head_and_more_rows_are_asked(page, app):
    opened(page, app, "context", layer="2", head="3")
    expect(page.get_by_text("In layer 2, head 3, context redirects")).to_be_visible(timeout=LONG)
    figure = page.locator('[data-testid="stVegaLiteChart"] canvas, [data-testid="stVegaLiteChart"] svg').first
    figure.wait_for()
    run_over(page, 12)  # now nothing moves
    box = figure.bounding_box()
    figure.click(position={"x": 0.12 * box["width"], "y": 0.45 * box["height"]})  # brings it back into view
    expect(page.get_by_text(re.compile("In layer 1, head [1-4], context redirects")).first).to_be_visible(timeout=LONG)
    page.wait_for_function("!location.search.includes('layer=2')")
    expect(page.get_by_text(re.compile("Over 12 rows, all heads")).first).to_be_visible(timeout=LONG)
    page.get_by_text("48", exact=True).click()
    run_over(page, 48)


def test_intervene_units_go_by_click_and_by_key(page, app):
    opened(page, app, "intervene", unit="sentences", units="sentence A")
    expect(page.get_by_text(re.compile("Without “sentence A"))).to_be_visible(timeout=LONG)
    page.get_by_role("button", name=re.compile("^sentence B: ")).focus()
    page.keyboard.press("Enter")
    empty = page.get_by_text("The context is empty: Tri-Attention falls back to Bi-Attention.")
    expect(empty).to_be_visible(timeout=LONG)
    page.wait_for_function("location.search.includes('sentence+B') || location.search.includes('sentence%20B')")
    page.get_by_text("untrained", exact=True).click()
    expect(page.get_by_text("With untrained attention along keys")).to_be_visible(timeout=LONG)


STREAM = """() => {
  window.stream = [];
  new MutationObserver(() => {
    const figure = document.querySelector(".t-marks");
    if (!figure) return;
    const rows = [...figure.querySelectorAll(".texts")], {height} = figure.getBoundingClientRect();
    const full = rows.filter((row) => row.querySelector("span[title]")).length;
    if (window.stream.at(-1)?.full !== full) window.stream.push({rows: rows.length, full, height});
  }).observe(document, {childList: true, subtree: true});
}"""


def test_attribute_shows_attention_first_and_keeps_the_places_of_other_methods(page, app):
    page.add_init_script(f"({STREAM})()")
    opened(page, app, "attribute", a=f"Which browser plays movie {time.time_ns() % 10**6}?")  # never asked before
    expect(page.get_by_text("completeness gap")).to_be_visible(timeout=LONG)
    stream = page.evaluate("window.stream")
    assert 0 < stream[0]["full"] < 5 == stream[-1]["full"]
    assert {state["rows"] for state in stream} == {5} and len({state["height"] for state in stream}) == 1


@pytest.mark.timeout(600)  # 12 rows of three checkpoints: two minutes beside other work
def test_attribute_names_tokens_and_tests_the_names(page, app):
    opened(page, app, "attribute", steps="16")
    expect(page.get_by_text("completeness gap")).to_be_visible(timeout=LONG)
    expect(page.get_by_text("Area over the perturbation curve of integrated gradients")).to_be_visible(timeout=LONG)
    marks = page.locator(".t-marks .strip span")
    assert marks.first.get_attribute("title").startswith(marks.first.inner_text() + ": ")
    page.get_by_role("radio", name="attention", exact=True).click()
    expect(page.get_by_text("Area over the perturbation curve of attention")).to_be_visible(timeout=LONG)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("Better than random over 12 rows")).to_be_visible(timeout=3 * LONG)
