"""Maps read in words, phrases and sentences, in a real browser: the link keeps it, and numbers come again."""

from __future__ import annotations

import json
import re
import shlex

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import serve
from tests.browser.test_mtsa_pages import number
from tests.browser.test_reading_page import LONG, MAPS, opened, tab_to
from tests.support import coin_checkpoints, reader_checkpoints
from triattn_core.__main__ import main
from triattn_core.checkpoint.registry import VARIABLE

PAIR = {"a": "Which browsers, if any, can play movies?", "b": "Which browser, they ask, can download movies?"}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    checkpoint_folder = reader_checkpoints.make_checkpoints(
        tmp_path_factory.mktemp("checkpoints"), ("t_trilinear", "dot")
    )
    return coin_checkpoints.make_checkpoints(checkpoint_folder, ("quora-coin",))


@pytest.fixture(scope="module")
def small_app(small):
    yield from serve(**{VARIABLE: str(small), "TRIATTN_DEVICE": "cpu"})


def printed(capsys, monkeypatch, checkpoint_folder, folder, command: str) -> list[str]:
    """What the command line says, line by line."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv(VARIABLE, str(checkpoint_folder))
    monkeypatch.setenv("TRIATTN_DEVICE", "cpu")
    assert main(shlex.split(command)[1:]) == 0
    return capsys.readouterr().out.splitlines()


def labels(page, axis: str) -> int:
    return int(re.search(rf"Maps of (\d+) {axis}", page.locator(MAPS).get_attribute("aria-label"))[1])


def test_side_by_side_folds_by_keyboard_and_keeps_it_in_the_link(page, app):
    canvas = opened(page, app, "side_by_side", MAPS, language="English", **PAIR)
    before = labels(page, "query")
    tab_to(page, "BUTTON Read as")
    page.keyboard.press("Enter")
    tab_to(page, "INPUT Query as")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function("location.search.includes('query-as=')")
    # for a moment the figure stands beside the one that takes its place
    expect(page.locator(".side .notes", has_text="Query is folded from")).to_be_visible(timeout=LONG)
    expect(page.locator(MAPS)).to_have_count(1)
    assert labels(page, "query") < before
    page.keyboard.press("Escape")
    page.goto(page.url + "&hide=true")
    expect(page.locator(".side .notes")).to_contain_text("idden", timeout=LONG)
    expect(page.locator(".side .notes")).to_contain_text("Query is folded from")
    tab_to(page, "CANVAS")
    page.keyboard.press("n")
    page.wait_for_function("location.search.includes('cell=')")
    chosen = canvas.get_attribute("data-cell")
    page.goto(page.url)
    expect(page.locator(MAPS)).to_have_attribute("data-cell", chosen, timeout=LONG)


def test_mtsa_folds_both_sides_and_leaves_the_scores(page, app):
    opened(page, app, "mtsa", MAPS, text="What is the capital, if any, of the unplayable moon?")
    expect(page.locator(".side thead")).to_contain_text("score")
    page.get_by_role("button", name="Read as").click()
    page.get_by_role("combobox", name="Tokens as").click()
    page.get_by_role("option", name="words", exact=True).click()
    page.wait_for_function("location.search.includes('tokens-as=words')")
    expect(page.locator(MAPS)).to_have_count(1, timeout=LONG)
    expect(page.locator(".side .notes")).to_contain_text("is folded from", timeout=LONG)
    expect(page.locator(".side thead", has_text="score")).to_have_count(0, timeout=LONG)
    expect(page.locator(MAPS)).to_have_count(1)
    row = page.locator('.side tbody tr[aria-selected="true"] td').all_inner_texts()
    assert number(row[0]) > 0 and row[2].startswith("× ")
    expect(page.get_by_role("link", name=re.compile("in tokens"))).to_be_visible()


def test_the_command_prints_a_folded_alignment_of_coin_again(page, small_app, small, tmp_path, monkeypatch, capsys):
    pair = {"a": "Can cats, if any, eat raw fish?", "b": "Can a dog, too, eat?"}
    opened(page, small_app, "coin", MAPS, **pair, **{"tokens-as": "phrases"})
    expect(page.locator(".side .notes")).to_contain_text("A gate is not a share")
    page.locator(MAPS).focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_function("location.search.includes('cell=')")
    cell = [int(i) for i in page.locator(MAPS).get_attribute("data-cell").split(".")]
    cell_texts = page.locator('.side tbody tr[aria-selected="true"] td').all_inner_texts()
    page.locator(".side summary").click()
    first, run = page.locator(".side pre").inner_text().split("\n", 1)
    (tmp_path / "pair.json").write_text(shlex.split(first.removesuffix(" > pair.json"))[2], "utf-8")
    lines = printed(capsys, monkeypatch, small, tmp_path, run.replace("\\\n", " "))
    cell_lines = [line for line in lines if "layer." in line]
    assert f"query {cell[0]} '" in cell_lines[0] and "layer." in cell_lines[0]
    assert [number(text) for text in cell_texts[:2]] == pytest.approx(
        [float(line.split()[0]) for line in cell_lines[:2]], rel=6e-3
    )


def test_the_command_prints_a_folded_weight_of_a_reader_again(page, small_app, small, tmp_path, monkeypatch, capsys):
    passage, question = "The red boat left. The blue boat stayed, they say.", "Which boat stayed?"
    query = {"passage": passage, "question": question, "passage-as": "phrases", "commands": "true"}
    opened(page, small_app, "similarity", MAPS, **query)
    page.locator(".terms .facts.chosen .total").wait_for()
    expect(page.locator(".side .notes")).to_contain_text("added up over the passage")
    block = page.locator(".terms .facts.chosen")
    weight = block.locator(".line", has_text="passage → question").locator(".n").inner_text().split(",")[0]
    score = block.locator(".term.total .n").inner_text()
    (tmp_path / "row.json").write_text(json.dumps({"context": passage, "question": question}), "utf-8")
    command = page.locator("code", has_text="triattn explain").first.inner_text()
    lines = printed(capsys, monkeypatch, small, tmp_path, command)
    cells = [line for line in lines if "attention/weight" in line]
    scores = [line for line in lines if "score of" in line]
    assert number(weight) == pytest.approx(float(cells[0].split()[0]), rel=6e-3)
    assert number(score) == pytest.approx(float(scores[0].split()[0]), rel=6e-3)
