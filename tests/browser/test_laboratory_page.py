"""The laboratory in a real browser: the truth moves with a word, and a model is trained, cancelled and gone on with."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from triattn_core.checkpoint.registry import laboratory_checkpoints

LONG = 120_000  # milliseconds: a busy machine loads torch first
ROW = {"false-friends-query": "dog", "false-friends-keys": "mira (blue), zuni (red), tolu (black)"}

pytestmark = pytest.mark.skipif(
    not any(entry.name == "false-friends-tri-scaled-dot" for entry in laboratory_checkpoints()), reason="not trained"
)


def opened(page, app: str, **query: str) -> None:
    page.set_default_timeout(LONG)
    page.goto(f"{app}/laboratory?{urlencode({**ROW, **query})}")


def test_from_studies_one_leads_to_a_map_with_the_truth(page, app):
    page.set_default_timeout(LONG)
    page.goto(f"{app}/studies")
    page.get_by_role("heading", name="Who has the fish?").wait_for()
    page.locator('a[href*="study=false-friends"]').first.click()
    expect(page.get_by_role("heading", name="Laboratory")).to_be_visible(timeout=LONG)
    expect(page.get_by_text(re.compile("The one pair that fits is"))).to_be_visible(timeout=LONG)
    page.get_by_text("What is proved, and what is only observed").click(timeout=LONG)
    expect(page.get_by_text("Proved:")).to_be_visible()


def test_a_word_that_is_changed_moves_the_truth_and_the_answer_of_tri(page, app):
    opened(page, app, **{"false-friends-context": "Vesk, Sora"})
    expect(page.get_by_text("The one pair that fits is mira (blue) with Vesk: the answer is blue.")).to_be_visible(
        timeout=LONG
    )
    spoken = page.get_by_label("Spoken tonight")
    spoken.fill("Oran, Sora")
    spoken.press("Enter")
    expect(page.get_by_text("The one pair that fits is zuni (red) with Oran: the answer is red.")).to_be_visible(
        timeout=LONG
    )
    page.wait_for_function("location.search.includes('Oran')")


def test_a_problem_of_ones_own_is_typed_a_number_clicked_and_the_pair_moves(page, app):
    page.set_default_timeout(LONG)
    page.goto(f"{app}/laboratory?laboratory=Word+problems")
    picked = page.locator("mark.t-picked")
    expect(picked).to_have_text(["15", "8"], timeout=LONG)
    problem = page.locator(".st-key-problem textarea")
    problem.fill("A hall has 7 rows of 26 seats. On Friday 31 people come, and on Saturday 45 people come.")
    problem.press("Control+Enter")
    page.get_by_role("radio", name="182", exact=True).or_(page.get_by_role("button", name="182", exact=True)).click()
    expect(picked).to_have_text(["7", "26"], timeout=LONG)
    expect(page.get_by_text("7 \N{MULTIPLICATION SIGN} 26 = 182").first).to_be_visible()
    page.wait_for_function("location.search.includes('makes=182')")
    problem.fill("A hall has 7 rows of 30 seats. On Friday 31 people come, and on Saturday 45 people come.")
    problem.press("Control+Enter")
    expect(page.get_by_text("7 \N{MULTIPLICATION SIGN} 30 = 210").first).to_be_visible(timeout=LONG)
    expect(picked).to_have_text(["7", "30"])


@pytest.mark.parametrize("width", (1440, 1024, 800, 390))
def test_the_number_asked_for_stands_below_its_label_and_all_that_are_offered_are_seen(page, app, width):
    page.set_default_timeout(LONG)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{app}/laboratory?laboratory=Word+problems")
    box = page.locator(".st-key-makes")
    expect(box.locator("input")).to_have_value("23", timeout=LONG)
    label, typed = (box.locator(part).bounding_box() for part in ("label p", "input"))
    assert label["y"] + label["height"] <= typed["y"]
    offered = page.locator(".st-key-number-made [data-testid=stButtonGroup] button")
    expect(offered).to_have_count(20)
    for chip in offered.all():
        place = chip.bounding_box()
        assert place["x"] >= 0 and place["x"] + place["width"] <= width
    assert offered.first.evaluate("chip => chip.parentElement.scrollWidth <= chip.parentElement.clientWidth")


@pytest.mark.timeout(400)
def test_a_model_is_trained_on_the_page_cancelled_and_gone_on_with(page, app):
    opened(page, app, **{"false-friends-context": "Vesk, Sora"})
    start = page.get_by_role("button", name="Train it here")
    start.scroll_into_view_if_needed()
    start.click()
    page.get_by_role("button", name="Cancel").wait_for()
    expect(page.get_by_text(re.compile(r"loss \d\.\d+")).first).to_be_visible(timeout=LONG)
    page.get_by_role("button", name="Cancel").click()
    cancelled = page.get_by_text(re.compile(r"Cancelled after [\d,]+ of 1,000 steps"))
    expect(cancelled).to_be_visible(timeout=LONG)
    done = int(re.search(r"after ([\d,]+) of", cancelled.inner_text())[1].replace(",", ""))
    assert done < 1000
    expect(page.get_by_text(re.compile(r"[\d.]+ % of held-out rows right, chance 16.7 %"))).to_be_visible(timeout=LONG)
    page.get_by_role("button", name="Go on").click()
    expect(cancelled).to_have_count(0, timeout=LONG)
    page.get_by_role("button", name="Cancel").click()
    expect(cancelled).to_be_visible(timeout=LONG)
    again = int(re.search(r"after ([\d,]+) of", cancelled.inner_text())[1].replace(",", ""))
    assert again >= done


def test_a_link_may_give_the_name_of_a_task(page, app):
    page.set_default_timeout(LONG)
    page.goto(f"{app}/laboratory?laboratory=planted-xor")
    page.wait_for_function("location.search.includes('Planted+XOR')")
    expect(page.get_by_role("combobox", name=re.compile("Task"))).to_have_value("Planted XOR", timeout=LONG)
