"""A study in a real browser: from Studies to its page, an edit, the numbers before and after, and closed."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.browser.test_layouts import faults
from tests.browser.test_layouts import sheet as sheet
from triattn_core.studies import studies

STRIP = ".st-key-study-strip"


@pytest.mark.parametrize("width", [1440, 800])
def test_an_edit_stands_beside_the_study_and_the_cell_stays(sheet, app, width):
    study = studies()["which-word-is-read-with"]
    sheet.set_default_timeout(120_000)
    sheet.set_viewport_size({"width": width, "height": 900})
    sheet.goto(f"{app}/{study.page}?{urlencode({**study.opens, 'study': 'which-word-is-read-with', 'cell': '3.3.9'})}")
    sheet.locator(STRIP).get_by_text(study.result).wait_for()
    sheet.wait_for_selector('canvas[data-cell="3.3.9"]')
    box = sheet.get_by_label("Sentence B", exact=True)
    box.fill("Now which browser can download movies?")
    box.press("Enter")
    sheet.locator(STRIP).get_by_text("with your input").wait_for()
    assert sheet.locator(f"{STRIP} .t-before").inner_text() == f"{study.reported_value:.3g}"
    sheet.wait_for_selector('canvas[data-cell="3.4.10"]')  # “download” of B, as key and as context
    assert faults(sheet) == []
    sheet.locator(STRIP).get_by_role("button").click()
    sheet.locator(STRIP).wait_for(state="detached")
    assert "study=" not in sheet.url and "cell=3.4.10" in sheet.url


@pytest.mark.parametrize("name", ["false-friends", "which-word-asks"])
def test_a_link_of_studies_brings_its_study(page, app, name):
    page.set_default_timeout(120_000)
    page.goto(f"{app}/studies")
    page.locator(f'a[href*="study={name}"]').click()
    page.locator(STRIP).get_by_text(studies()[name].result).wait_for()
    assert f"study={name}" in page.url
