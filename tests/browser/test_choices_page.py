"""Chats, passages and their options in a real browser: as offline pages, and as pages of the app where models are."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.unit.test_text_units import SITE, TEXTS, trace
from tests.unit.test_views_answers import SAID, SHARES, TALK, TEXT
from tests.unit.test_views_side_by_side import gap_of
from triattn_core.analysis.maps import compare
from triattn_core.checkpoint import registry
from triattn_core.tasks import TASKS
from triattn_core.trace import AttentionTrace, Choice, text_units
from triattn_core.trace.distribution import Distribution
from triattn_core.views import answers, cube
from triattn_core.views import side_by_side as view
from triattn_core.views.side_by_side import panels as parts

CUBE, SIDE, CHOSEN = '.triattn canvas[data-exact="true"]', ".side canvas[data-cell]", '.pick[aria-pressed="true"]'
FIRST = Choice(f"{SITE}/weight", index=(("head", 0),))
TURNS = text_units.fold_axis(trace(), "turns")


def opened(page, tmp_path: Path, canvas, selector: str) -> None:
    file = tmp_path / "figure.html"
    file.write_text(canvas.html(), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector(selector)


def test_a_chat_shows_texts_as_they_are_and_marks_who_is_chosen(page, tmp_path):
    opened(page, tmp_path, answers.figure(TALK, SAID, 1, mass=SHARES, mechanisms=("bi", "tri")), ".lists")
    assert page.locator(".bubble").all_inner_texts() == list(TALK.texts.values())
    assert page.locator(".asks.query .bubble").inner_text() == "<b>why</b>?"
    assert page.locator("li.mute").count() == 1  # the first turn is not read
    assert page.locator(".pick .text").all_inner_texts() == ["</script>", "so", "no"]
    assert page.locator(f"{CHOSEN} .text").inner_text() == "so" and page.locator(".chip").count() == 1
    page.locator('[data-option="0"]').click()
    assert page.locator(f"{CHOSEN} .text").inner_text() == "no"
    assert page.locator(".plain .meter b").all_inner_texts() == ["40 %", "15 %"]


def test_a_passage_keeps_its_text_around_the_shades(page, tmp_path):
    opened(page, tmp_path, answers.figure(TEXT, {"": [0.9996, 0.0004]}, 0), ".lists")
    assert page.locator(".passage").inner_text() == TEXT.texts["passage"]
    assert page.locator(".track b").all_inner_texts() == ["> 0.999", "< 0.001"]


@pytest.mark.parametrize("width", [1280, 800, 400])
def test_nothing_is_wider_than_the_page(page, tmp_path, width):
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, tmp_path, answers.figure(TALK, SAID, 1, 0, True, SHARES, ("bi", "tri")), ".lists")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_folded_cube_names_turns_and_keeps_the_text_whole(page, tmp_path):
    opened(page, tmp_path, cube.figure(Distribution(TURNS, FIRST), start_cell=(0, 1, 2)), ".triattn canvas[data-cell]")
    words = page.locator(".triattn .words > div").all_inner_texts()
    assert words[2].split("\n") == ["context", "turn 2", "2 tokens in 1 cell"]
    query = page.locator('[data-text="turn.2"]')  # the query's word stands in the turn that is the context
    assert query.inner_text() == TEXTS["turn.2"] and query.locator("mark.query.context").count() == 1
    assert page.locator('[data-text="response"] mark.key').count() == 1
    assert "mass before 1.000000 and after 1.000000" in page.locator(".triattn .notes").text_content()


def test_a_text_of_which_the_end_was_read_opens_there(page, tmp_path):
    """The chosen cell is of other texts: the excerpt of turn 1 shows where reading began, not its first line."""
    before = "never read " * 300
    site = trace().site(FIRST.site)
    away = (site.context_text == "turn.1") * len(before)
    site = site.assign_coords({name: site[name] + away for name in ("context_start", "context_end")})
    long = AttentionTrace({FIRST.site: site}, TEXTS | {"turn.1": before + TEXTS["turn.1"]}, trace().meta)
    opened(page, tmp_path, cube.figure(Distribution(long, FIRST), start_cell=(0, 1, 5)), ".triattn canvas[data-cell]")
    text = page.locator('[data-text="turn.1"]')
    assert text.locator("mark").count() == 0
    below = text.evaluate("it => it.scrollHeight - it.scrollTop - it.clientHeight")
    assert text.evaluate("it => it.scrollTop") > 500 and below < 60, "its last lines are in view"


def test_two_options_are_compared_by_their_context(page, tmp_path):
    maps = [compare.two_way_map(text_units.exchange_key_context(TURNS.site(FIRST.site)), head) for head in (0, 1)]
    numbers = [(compare.entropy(weight_map), compare.rank(weight_map)) for weight_map in maps]
    predictions = [("so it is", 0.6, True), ("no", 0.1, False)]
    panels = [
        parts.Panel(f"Candidate {i + 1}", "tri", "additive", weights, weights, *number, *prediction, note="Σ key")
        for i, (weights, number, prediction) in enumerate(zip(maps, numbers, predictions))
    ]
    options = {"across": "context", "lines": ("One scale.",), "distinguished_by": "option"}
    canvas = view.figure(panels, gap_of(panels, 0, 1), TEXTS, (1, 1), **options)
    opened(page, tmp_path, canvas, SIDE)
    head = page.locator(".side thead th").all_inner_texts()
    assert head[0] == "option" and head[-1] == "strongest context of this query"
    assert page.locator(".side tbody th").all_inner_texts() == ["Candidate 1", "Candidate 2"]
    assert page.locator(".side mark.context").all_inner_texts() == ["Hi all. It broke"]
    weight = float(maps[0].values[1, 1])
    row = page.locator(".side tbody tr").first.locator("td").all_inner_texts()
    assert float(row[0]) == pytest.approx(weight, rel=5e-3)
    assert float(row[2].removeprefix("× ")) == pytest.approx(weight / (3 / 8), rel=5e-3)  # 3 of 8 cells are of turn 1


def names(task: str, mechanisms: tuple[str, ...] = ("tri",)) -> list[str]:
    entries = [
        entry for entry in registry.list_checkpoints() if entry.problem is None and entry.config.get("task") == task
    ]
    return [entry.name for entry in entries if entry.config.get("model", {}).get("mechanism") in mechanisms]


@pytest.mark.parametrize(("task", "label"), [("dialogue", "Dialogue"), ("reading", "Reading comprehension")])
def test_a_click_on_an_option_shows_its_cube_and_its_link_opens_it(page, app, task, label):
    if not names(task):
        pytest.skip(f"no Tri-Attention checkpoint for {label.lower()}: train one")
    example = TASKS[task].examples()[3]
    page.goto(f"{app}/cube?{urlencode({'task': label, 'example': example.id})}")
    page.wait_for_selector(CUBE)
    other = page.locator('.pick[aria-pressed="false"]').first
    text, at = other.locator(".text").inner_text(), other.get_attribute("data-option")
    other.click()
    page.wait_for_function(f"location.search.includes('option={int(at) + 1}')")
    answer = "response" if task == "dialogue" else "option"
    # A list of one: the cube before it is gone.
    expect(page.locator(f'.triattn [data-text="{answer}"]')).to_have_text([text], timeout=60_000)
    page.wait_for_selector(CUBE)
    page.locator(CUBE).focus()
    page.keyboard.press("n")
    page.wait_for_function("location.search.includes('cell=')")
    page.wait_for_selector(CUBE)
    cell, numbers = page.locator(CUBE).get_attribute("data-cell"), page.locator(".triattn .inspector").inner_text()
    page.goto(page.url)
    page.wait_for_selector(f'{CUBE}[data-cell="{cell}"]')
    assert page.locator(f"{CHOSEN} .text").inner_text() == text
    assert page.locator(".triattn .inspector").inner_text() == numbers


def test_two_candidates_are_pinned_from_the_cube(page, app):
    if not names("dialogue"):
        pytest.skip("no Tri-Attention checkpoint for dialogue: train one")
    page.goto(f"{app}/cube?{urlencode({'task': 'Dialogue', 'example': 'echo-1', 'option': 2})}")
    page.wait_for_selector(CUBE)
    page.get_by_text("Compare two").click()
    page.wait_for_selector(SIDE)
    page.locator('[data-other="6"]').click()
    page.wait_for_function("location.search.includes('other=7')")
    # A list of two: the table before it is gone.
    expect(page.locator(".side tbody th")).to_have_text(["Candidate 2", "Candidate 7"], timeout=60_000)
