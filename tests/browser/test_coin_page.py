"""COIN's page in a real browser, on tiny checkpoints: one exact number in the page, the link and the command."""

from __future__ import annotations

import json
import shlex
from urllib.parse import urlencode

import pytest

from tests.browser.conftest import serve
from tests.browser.test_mtsa_pages import chosen, number
from tests.support.coin_checkpoints import make_checkpoints
from triattn_core.__main__ import main
from triattn_core.checkpoint.registry import VARIABLE

CANVAS = ".side canvas"
TEXTS = {"a": "Can cats eat raw fish?", "b": "Can a dog eat?"}  # 6 tokens over 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_checkpoints(tmp_path_factory.mktemp("checkpoints"))


@pytest.fixture(scope="module")
def app(folder):
    yield from serve(**{VARIABLE: str(folder), "TRIATTN_DEVICE": "cpu"})


def rows(page) -> list[list[str]]:
    return [row.locator("th, td").all_inner_texts() for row in page.locator(".side tbody tr").all()]


def test_a_click_is_an_exact_number_that_the_command_prints_again(page, app, folder, tmp_path, monkeypatch, capsys):
    page.set_default_timeout(180_000)  # torch is loaded first
    page.goto(f"{app}/coin?{urlencode({**TEXTS, 'gate': 'per feature', 'cell': '1.1.2.3.0.4'})}")
    page.wait_for_selector(f'{CANVAS}[data-cell="1.1.2.3.0.4"]')
    box, seen = page.locator(CANVAS).bounding_box(), set()
    for x in range(40, int(box["width"]), 30):
        for y in range(110, 420, 45):
            page.locator(CANVAS).click(position={"x": x, "y": y})
            seen.add(tuple(chosen(page, CANVAS)))
    columns = list(zip(*seen))
    assert set(columns[2]) == {0, 1, 2} and len(set(columns[1])) == 5, "every block and every key can be clicked"
    assert len(set(columns[4])) > 2 and len(set(columns[5])) > 2, "so can both self-alignments"
    page.locator(CANVAS).focus()
    for key in ["ArrowUp"] * 6 + ["ArrowLeft"] * 5 + ["ArrowDown", "ArrowRight", "ArrowRight"]:
        page.keyboard.press(key)
    page.wait_for_selector(f'{CANVAS}[data-cell^="1.2."]')
    cell = chosen(page, CANVAS)
    page.wait_for_function(f"location.search.includes('cell={'.'.join(map(str, cell))}')")
    row = rows(page)[cell[2]]
    page.locator(".side summary").click()
    first, run = page.locator(".side pre").inner_text().split("\n", 1)
    text = shlex.split(first.removesuffix(" > pair.json"))[2]
    assert json.loads(text) == {"text_a": TEXTS["a"], "text_b": TEXTS["b"]}
    (tmp_path / "pair.json").write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, str(folder))
    monkeypatch.setenv("TRIATTN_DEVICE", "cpu")
    assert main(shlex.split(run.replace("\\\n", " "))[1:]) == 0
    printed = [line for line in capsys.readouterr().out.splitlines() if "layer." in line]
    with_, without, own, other, feature = (float(line.split()[0]) for line in printed)
    assert "query 1 'cats', key 2 'dog'" in printed[0]
    numbers = [number(one) for one in (row[1], row[2], row[7], row[8], row[11])]
    assert numbers == pytest.approx([with_, without, own, other, feature], rel=6e-3)


def test_a_block_is_ablated_and_the_cell_stays(page, app):
    page.set_default_timeout(180_000)
    page.goto(f"{app}/coin?{urlencode({**TEXTS, 'cell': '1.2.0.3.0.4'})}")
    page.wait_for_selector(f'{CANVAS}[data-cell="1.2.0.3.0.4"]')
    before = rows(page)
    page.get_by_text("block 2", exact=True).first.click()
    page.wait_for_function("location.search.includes('off=block+2') || location.search.includes('off=block%202')")
    page.locator(".side td.off").wait_for()
    after = rows(page)
    assert after[1][1] == "ablated" and after[0] == before[0] and after[2] != before[2]
    assert page.locator(CANVAS).get_attribute("data-cell") == "1.2.0.3.0.4"
    assert "whole model:" in page.locator(".t-says").inner_text()
    page.set_viewport_size({"width": 800, "height": 900})
    width = "one => one.clientWidth"
    while page.locator(CANVAS).evaluate(width) >= 800:
        page.wait_for_timeout(100)
    assert page.locator(CANVAS).evaluate(width) <= page.locator(".side").evaluate(width)
    assert "block 3" in page.locator(".side").inner_text()
