"""Home in a real browser: the worked examples are whole at every width."""

from __future__ import annotations

import pytest

CUT = """() => [...document.querySelectorAll(".t-thumb")].filter(
    (one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1).length"""


@pytest.mark.parametrize("width", [1680, 1280, 1100, 800, 500])
def test_no_worked_example_is_cut(page, app, width):
    page.set_default_timeout(180_000)  # torch is loaded first
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(app)
    page.locator(".t-thumb").nth(2).wait_for(state="attached")
    page.wait_for_function("document.querySelectorAll('.t-thumb').length === 3")
    page.wait_for_timeout(500)
    assert page.evaluate(CUT) == 0
