"""The Results page in a real browser: it fits, its dots stand on their rows, and a number opens its checkpoint."""

from __future__ import annotations

import re

import pytest

TABLE = "table.t-beside:not(.t-order)"


def opened(page, app: str, query: str = "") -> None:
    page.goto(f"{app}/results{query}")
    page.wait_for_selector(TABLE)
    page.wait_for_selector(".t-know:last-of-type", state="attached")


def boxes(page, selector: str) -> list[dict]:
    return [one.bounding_box() for one in page.locator(selector).all()]


def test_a_number_of_ours_opens_its_checkpoint(page, app):
    opened(page, app, "?table=Table+VI")
    link = page.locator(f"{TABLE} a").first
    name = re.search(r"checkpoint=([\w-]+)", link.get_attribute("href")).group(1)
    assert re.fullmatch(r"\d\d\.\d\d", link.inner_text())
    hover = link.locator("xpath=ancestor::td").get_attribute("title")
    assert name in hover and "test rows" in hover
    link.click()
    page.wait_for_selector(f".t-card h2:has-text('{name}')")
    assert "/checkpoints?checkpoint=" in page.url


def test_a_click_on_a_dot_opens_its_checkpoint(page, app):
    page.goto(f"{app}/checkpoints")
    dots = page.locator('[data-testid="stVegaLiteChart"] g.mark-symbol path[aria-label*="mechanism: MTSA"]')
    dots.first.wait_for()
    name = re.search(r"name: ([\w-]+)", dots.first.get_attribute("aria-label")).group(1)
    assert page.locator(f".t-card h2:has-text('{name}')").count() == 0
    dots.first.click()
    page.wait_for_selector(f".t-card h2:has-text('{name}')")
    assert page.url.endswith(f"checkpoint={name}")


def test_dots_stand_on_their_rows_in_the_order_of_the_numbers(page, app):
    opened(page, app, "?table=Table+VIII&data=LCQMC")
    # All at once: the page may still move while it is read.
    rows = page.locator(f"{TABLE} tr:has(.dot)").evaluate_all("""(rows) => rows.map((row) => {
        const at = (one) => { const box = one.getBoundingClientRect(); return [box.x, box.y + box.height / 2] }
        const texts = [...row.querySelectorAll('td.n')].map((one) => one.innerText)
        return [at(row)[1], [...row.querySelectorAll('.dot')].map(at), texts]
    })""")
    positions = []
    for middle, dots, texts in rows:
        assert len(dots) == 2
        for _, y in dots:
            assert abs(y - middle) < 2.5
        positions.append((float(texts[0]), dots[0][0]))
        positions.append((float(texts[2]), dots[1][0]))
    assert len(positions) == 16
    (low, left), (high, right) = min(positions), max(positions)
    for value, x in positions:
        assert abs(x - left - (right - left) * (value - low) / (high - low)) < 1.5


def test_the_choice_is_in_the_link_and_the_table_follows(page, app):
    opened(page, app, "?table=Table+VIII&data=LCQMC")
    assert "TAdd" in page.locator(TABLE).inner_text()
    page.get_by_role("radio", name="Table VII", exact=True).or_(page.get_by_text("Table VII", exact=True)).first.click()
    page.wait_for_selector(f"{TABLE} >> text=Stanford AR")
    page.wait_for_selector("[data-test-script-state=notRunning]")  # a click before leaves no trace in the link
    page.get_by_text("Middle school", exact=True).first.click()
    page.wait_for_selector("th.t-strip b:has-text('Middle school')")
    for name, value in (("table", "Table VII"), ("draw", "Middle school")):
        asked = "([name, value]) => new URLSearchParams(location.search).get(name) === value"
        page.wait_for_function(asked, arg=[name, value])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_at_800_pixels_nothing_overlaps_or_runs_over(browser, app, theme):
    context = browser.new_context(viewport={"width": 800, "height": 900}, color_scheme=theme)
    page = context.new_page()
    page.set_default_timeout(60_000)
    for table in ("Table+V", "Table+VIII"):
        opened(page, app, f"?table={table}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 800
        wide = page.evaluate(f"[...document.querySelectorAll('{TABLE}')].map((t) => t.parentElement).map((t) => "
                             "[t.scrollWidth, t.clientWidth])")  # fmt: skip
        assert all(inside <= outside for inside, outside in wide)
        for row in page.locator(f"{TABLE} tr").all()[2:8]:
            cells = [box for box in boxes(row, "td") if box and box["width"]]
            assert all(b["x"] >= a["x"] + a["width"] - 0.5 for a, b in zip(cells, cells[1:]))
    colour = page.evaluate("getComputedStyle(document.querySelector('table.t-beside td')).color")
    assert (max(map(int, re.findall(r"\d+", colour)[:3])) > 150) == (theme == "dark")
    context.close()


def test_on_a_narrow_page_rows_of_the_order_stay_near_each_other(page, app):
    page.set_viewport_size({"width": 500, "height": 900})
    opened(page, app)
    assert max(box["height"] for box in boxes(page, ".t-order tr")) < 80


@pytest.mark.parametrize("table", ["Table+1", "Table+3"])
def test_wide_tables_keep_their_difference_in_sight_and_squeeze_no_dots(page, app, table):
    page.set_viewport_size({"width": 800, "height": 900})
    opened(page, app, f"?paper=MTSA&table={table}&data=SNLI")
    wide = "(t) => [t.parentElement.scrollWidth, t.parentElement.clientWidth]"
    inside, outside = page.locator(TABLE).first.evaluate(wide)
    assert inside <= outside
    page.set_viewport_size({"width": 1024, "height": 900})
    strips = [box["width"] for box in boxes(page, f"{TABLE} td.t-strip") if box]
    assert not strips or min(strips) >= 100
    inside, outside = page.locator(TABLE).first.evaluate(wide)
    assert inside <= outside
