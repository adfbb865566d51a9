"""Cases and the case book in a real browser, on our own examples and the trained checkpoints."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest

from pages.shared import checkpoint_picker
from tests.browser.conftest import serve
from tests.unit.test_mining_view import MECHANISMS, table
from triattn_core.case_book import CaseBook
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.tasks import pairs
from triattn_core.views import agreement as view

LIST, ROW = "[data-testid=stDataFrame]", ".lists [data-agreement]"
DATA = {"English": "quora", "Chinese": "lcqmc"}


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("book") / "cases.sqlite"


@pytest.fixture(scope="module")
def here(place: Path) -> Iterator[str]:
    """The app with a case book of its own; left out where the six checkpoints are missing."""
    names = {entry.name for entry in list_checkpoints() if entry.problem is None}
    wanted = {f"{data}-{kind}-published" for data in DATA.values() for kind in ("bi", "cbi", "tri")}
    if not wanted <= names:
        pytest.skip(f"no {', '.join(sorted(wanted - names))} among the checkpoints: copy the folder checkpoints/")
    yield from serve(TRIATTN_CASES=str(place))


def counts(page) -> dict[str, int]:
    """Rows of each combination, as the figure says them."""
    page.wait_for_selector(ROW)
    read = "(all) => all.map((one) => [one.dataset.agreement, one.querySelector('.number').firstChild.data])"
    rows = page.locator(ROW).evaluate_all(read)
    return {name: int(number.replace(",", "")) for name, number in rows}


@pytest.mark.parametrize("language", DATA)
def test_our_own_examples_are_there_a_click_filters_and_a_case_opens(page, here, language):
    code = {"English": "en", "Chinese": "zh"}[language]
    known = list(pairs.read(Path(str(pairs.__file__)).with_name(f"pairs.{code}.jsonl")))  # without the hard ones
    page.goto(f"{here}/cases?language={language}")
    page.wait_for_selector(LIST, timeout=240_000)
    row_counts = counts(page)
    assert sum(row_counts.values()) == len(known) and list(row_counts)[2] == "only Tri"
    name = max(list(row_counts)[2:], key=row_counts.__getitem__)
    page.locator(f'[data-agreement="{name}"]').click()
    page.wait_for_function("location.search.includes('agreement')")
    page.wait_for_selector(f'[data-agreement="{name}"][aria-pressed="true"]')
    page.wait_for_function(f"document.querySelector('.t-note b')?.innerText === '{row_counts[name]}'")
    page.locator(f'[data-agreement="{name}"]').click()  # again: all
    page.wait_for_function(f"document.querySelector('.t-note b')?.innerText === '{len(known)}'")
    page.goto(f"{here}/cases?language={language}&row=3")
    page.wait_for_selector(".t-case")
    assert page.locator(".t-case > :last-child").all_inner_texts() == [known[2].text_a, known[2].text_b]
    page.get_by_role("link", name="Open side by side").click()
    page.wait_for_selector(".side canvas[data-cell]", timeout=240_000)
    assert page.get_by_label("Sentence A").input_value() == known[2].text_a
    asked = parse_qs(urlparse(page.url).query).get(checkpoint_picker.KEY)
    assert asked is None or all(one.startswith(DATA[language]) for one in asked)
    titles = page.locator(".side tbody th").evaluate_all("(all) => all.map((one) => one.title)")
    entries = [
        entry for entry in list_checkpoints() if entry.problem is None and entry.name.startswith(f"{DATA[language]}-")
    ]
    sets = checkpoint_picker.presets([entry for entry in entries if entry.config["kind"] == "tan"])
    assert titles == next(iter(sets.values()))


def test_mining_stops_when_asked_and_goes_on(page, here, tmp_path):
    rows = [json.dumps(pairs.row(example)) for example in pairs.examples("en") for _ in range(14)]
    (tmp_path / "many.jsonl").write_text("\n".join(rows), "utf-8")
    page.goto(f"{here}/cases?language=English&rows=a+file+of+yours")
    page.wait_for_selector("[data-testid=stFileUploader]", timeout=120_000)
    page.locator("input[type=file]").set_input_files(tmp_path / "many.jsonl")
    page.get_by_role("button", name="Stop mining").click(timeout=240_000)
    stopped = page.get_by_text("Stopped after")
    stopped.wait_for(timeout=240_000)
    mined = int(re.search(r"after ([\d,]+) rows", stopped.inner_text())[1].replace(",", ""))
    assert 0 <= mined < len(rows) and f"of {len(rows):,}" in stopped.inner_text()
    assert not mined or sum(counts(page).values()) == mined
    page.get_by_role("button", name="Go on").click()
    page.wait_for_selector(LIST, timeout=280_000)
    page.wait_for_function(f"document.querySelector('.t-note b')?.innerText === '{len(rows):,}'", timeout=240_000)
    stopped.wait_for(state="detached")
    assert sum(counts(page).values()) == len(rows)


def test_a_case_is_kept_and_opened_from_the_book(page, here, place):
    page.goto(f"{here}/cases?language=English&row=2")
    page.get_by_label("Note").wait_for(timeout=240_000)
    page.get_by_label("Note").fill("Only play and download differ.")
    page.get_by_label("Note").blur()
    page.get_by_role("button", name="Keep", exact=True).click()
    page.get_by_role("link", name=re.compile("Kept ")).click()
    page.wait_for_url("**/case_book?*")
    page.get_by_role("button", name="Save").wait_for()
    (case,) = CaseBook(place).search()
    assert case.note == "Only play and download differ." and f"case={case.id}" in page.url
    page.get_by_label("Note").fill("Another note.")
    page.get_by_label("Note").blur()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    assert CaseBook(place).get(case.id).note == "Another note."
    page.get_by_role("link", name="Open side by side").click()
    page.wait_for_selector(".side canvas[data-cell]", timeout=240_000)
    assert page.get_by_label("Sentence A").input_value() == pairs.examples("en")[1].text_a


@pytest.mark.parametrize("width", [1280, 800, 400])
def test_the_figure_is_never_wider_than_its_page(page, tmp_path, width):
    page.set_viewport_size({"width": width, "height": 700})
    tests = [view.Test("Bi", "Tri", 233, 12_433, 1e-40)]
    rows = table((4806, 5122), (859, 628), (112, 61))
    canvas = view.figure(rows, MECHANISMS, tests, {"Tri": 85.6}, pairs.LABELS, "pairs")
    (tmp_path / "figure.html").write_text(canvas.html(), "utf-8")
    page.goto((tmp_path / "figure.html").as_uri())
    assert counts(page)["only Tri"] == 173
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert "12,433" in page.locator(".lists").inner_text()
