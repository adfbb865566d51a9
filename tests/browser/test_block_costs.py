"""What a block costs, on Results in a real browser: measured here, stopped, gone on with, and in a narrow window."""

from __future__ import annotations

import json

CHART, TABLE = ".st-key-costs [data-testid=stVegaLiteChart]", ".st-key-costs .t-table"


def test_a_measurement_is_stopped_shown_and_gone_on_with(page, app):
    page.goto(f"{app}/efficiency?longest=128&batch=1")
    page.get_by_role("button", name="Measure on this machine").click()
    page.get_by_text("on 32 tokens").wait_for()  # those of 16 are measured
    page.wait_for_selector(".stStatusWidget button", state="attached")
    assert not page.locator(".stStatusWidget button").first.is_visible(), "one button stops, that which can go on"
    page.locator(".st-key-stop button").first.click()
    page.get_by_role("button", name="Go on").wait_for()
    page.wait_for_selector("[data-test-script-state=notRunning]")
    page.wait_for_selector(TABLE)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save this record").click()
    before = json.loads(saved.value.path().read_text("utf-8"))["points"]
    assert before
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Go on").wait_for(state="detached")
    page.locator(".st-key-tokens").get_by_text("128", exact=True).wait_for(timeout=180_000)
    page.locator(".st-key-under-way").wait_for(state="detached", timeout=180_000)
    page.wait_for_selector("[data-test-script-state=notRunning]")
    page.wait_for_function(f"document.querySelectorAll('{CHART} canvas, {CHART} svg').length === 2")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save this record").click()
    after = json.loads(saved.value.path().read_text("utf-8"))["points"]
    assert len(before) < len(after) and after[: len(before)] == before
    assert {one["tokens"] for one in after} == {16, 32, 64, 128}
    assert all(one["seconds"] > 0 for one in after if "seconds" in one)
    page.set_viewport_size({"width": 800, "height": 900})
    page.wait_for_function(
        f"[...document.querySelectorAll('{CHART}')].every((one) => one.getBoundingClientRect().right <= 800)"
    )
    first, second = (one.bounding_box() for one in page.locator(CHART).all())
    assert second["y"] >= first["y"] + first["height"], "the panels stand below each other"


def test_in_a_narrow_window_no_name_and_no_column_is_cut(page, app):
    page.set_viewport_size({"width": 500, "height": 900})
    page.goto(f"{app}/efficiency")
    page.wait_for_function(f"document.querySelectorAll('{CHART} canvas, {CHART} svg').length === 2")
    page.wait_for_selector(TABLE)
    page.wait_for_function(
        f"[...document.querySelectorAll('{CHART} :is(canvas, svg)')].every((one) => one.clientWidth <= 444)"
    )
    parts = ("[data-testid=stMain]", ".st-key-costs .t-scroll")
    main, table = (f"document.querySelector('{part}')" for part in parts)
    assert page.evaluate(f"{main}.scrollWidth <= {main}.clientWidth")
    assert page.evaluate(f"getComputedStyle({table}).overflowX") == "auto", "the table scrolls by itself"
