"""Studies in a real browser: they are whole at every width."""

from __future__ import annotations

import pytest

from triattn_core.studies import studies

CUT = """() => [...document.querySelectorAll(".t-thumb")].filter(
    (one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1).length"""
CROWDED = """() => [...document.querySelectorAll(".t-maps thead span")].filter((word) => {
    const upright = word.closest(".t-dense"), lean = upright ? 1 : Math.sin(40 * Math.PI / 180);
    return word.closest("th").offsetWidth * lean < 0.85 * parseFloat(getComputedStyle(word).fontSize);
}).map((word) => word.textContent)"""  # leaning words whose lines run into each other


@pytest.mark.parametrize("width", [1680, 1440, 1280, 1100, 1024, 800, 500])
def test_no_study_is_cut_and_no_words_crowd(page, app, width):
    page.set_default_timeout(180_000)  # torch is loaded first
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{app}/studies")
    count = sum(study.maps is not None for study in studies().values())
    page.locator(".t-thumb").nth(count - 1).wait_for(state="attached")
    page.wait_for_function("(count) => document.querySelectorAll('.t-thumb').length === count", arg=count)
    page.wait_for_timeout(500)
    assert page.evaluate(CUT) == 0 and page.evaluate(CROWDED) == []


def test_a_link_is_the_first_that_a_server_is_asked_for(page, fresh_app):
    page.goto(f"{fresh_app}/laboratory")
    page.get_by_text("The right answer is known, and so is the cell").wait_for()
    assert not page.get_by_text("Page not found").count()
