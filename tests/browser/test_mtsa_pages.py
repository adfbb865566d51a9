"""MTSA's pages in a real browser: offline over a made-up trace, and as pages of the app on tiny checkpoints."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import pytest

from tests.browser.conftest import serve
from tests.support.mtsa_traces import LAYER, SIZE, N, make_trace
from tests.support.sentence_checkpoints import make_checkpoints
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.views import attention_maps
from triattn_core.views.attention_maps import maps
from triattn_core.views.lib.palette import THEMES

CANVAS, TEXT = ".side canvas", "The red car is not small."
CUBE = ".triattn canvas"


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    yield from serve(**{VARIABLE: str(make_checkpoints(tmp_path_factory.mktemp("checkpoints")))})


def chosen(page, canvas: str = CANVAS) -> list[int]:
    return [int(i) for i in page.locator(canvas).first.get_attribute("data-cell").split(".")]


def number(text: str) -> float:
    return float(text.replace("−", "-").replace("×", ""))


def found_cells(page, canvas: str) -> list[list[int]]:
    """The cells that clicks all over the figure choose."""
    box, cells = page.locator(canvas).first.bounding_box(), []
    for x in np.linspace(60, box["width"] - 20, 180):
        page.locator(canvas).first.click(position={"x": float(x), "y": 150.0})
        cells.append(chosen(page, canvas))
    return cells


def test_a_click_chooses_pair_map_and_feature_and_says_exact_numbers(page, tmp_path):
    trace, orders = make_trace(), [[4, 2, 0, 1, 3], [1, 0, 2, 3, 4]]
    file = tmp_path / "heads.html"
    file.write_text(
        attention_maps.figure(maps.maps(trace, LAYER, [0, 1]), trace.texts, orders).html(), encoding="utf-8"
    )
    page.goto(file.as_uri())
    page.wait_for_selector(f"{CANVAS}[data-cell]")
    cells = found_cells(page, CANVAS)
    assert {cell[2] for cell in cells} == {0, 1} and len({cell[1] for cell in cells}) == N
    assert len({cell[3] for cell in cells}) == SIZE
    for _ in range(N):
        page.keyboard.press("ArrowDown")
    for _ in range(N):
        page.keyboard.press("ArrowLeft")
    query, key, panel, place = chosen(page)
    assert (query, key) == (N - 1, 0)
    rows = page.locator(".side tbody tr")
    cell_text = rows.nth(panel).locator("td").first.inner_text()
    weight = float(trace.site(f"{LAYER}/token2token/weight")[panel, query, key])
    assert cell_text == "masked" if panel == 1 else number(cell_text) == pytest.approx(weight, rel=6e-3)
    source = float(trace.site(f"{LAYER}/source2token/weight")[panel, key, orders[panel][place]])
    assert number(rows.nth(3).locator("td").first.inner_text()) == pytest.approx(source, rel=6e-3)
    assert f"feature {orders[panel][place] + 1}" in rows.nth(3).locator("th").inner_text()


def drawn(page, tmp_path, trace, quantity: str, orders, cell, texts=None) -> None:
    """The offline page of the first heads of a trace, with a cell chosen."""
    panels, file = maps.maps(trace, LAYER, range(len(orders)), quantity), tmp_path / "heads.html"
    file.write_text(attention_maps.figure(panels, texts or trace.texts, orders, cell=cell).html(), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector(f"{CANVAS}[data-cell]")


@pytest.mark.parametrize("quantity", ["weight", "relevance"])
def test_what_is_drawn_and_the_raw_scores_have_a_column_each(page, tmp_path, quantity):
    trace, (query, key, feature) = make_trace(scale_s="log_sigmoid"), (4, 1, 2)
    drawn(page, tmp_path, trace, quantity, [[4, 2, 0, 1, 3]], (query, key, 0, 1))
    names = page.locator(".side thead th").all_inner_texts()[1:]
    assert names == ["weight", *(["as drawn"] if quantity == "relevance" else []), "score", "rank", "against even"]
    lines = [row.locator("th, td").all_inner_texts() for row in page.locator(".side tbody tr").all()]
    assert [line[0] for line in lines][1:] == ["Head 1: source2token, mean", "Head 1: source2token, feature 3"]
    pairs, alone = (
        {name: trace.site(f"{LAYER}/{kind}/{name}").values[0].astype(float) for name in ("weight", "relevance")}
        for kind in ("token2token", "source2token")
    )
    columns = {name: [line[1 + names.index(name)] for line in lines] for name in names}
    near = lambda *values: pytest.approx(values, rel=6e-3)  # noqa: E731
    rows = [one[key] for one in (alone["weight"].mean(1), alone["weight"][:, feature])]
    assert tuple(map(number, columns["weight"])) == near(pairs["weight"][query, key], *rows)
    rows = [one[key] for one in (alone["relevance"].mean(1), alone["relevance"][:, feature])]
    assert tuple(map(number, columns["score"])) == near(pairs["relevance"][query, key], *rows)
    if quantity == "weight":
        return
    row, scaled = np.log(pairs["weight"][query, :query]), -np.logaddexp(0, -alone["relevance"])
    scaled -= scaled.mean(0)
    rows = [row[key] - row.mean(), scaled[key].mean(), scaled[key, feature]]
    assert tuple(map(number, columns["as drawn"])) == near(*rows)


def test_thin_rows_are_not_struck_through(page, tmp_path):
    """The lines around the chosen token stop at its features: no line of its colour is as long as label and bar."""
    trace = make_trace(n=64)
    drawn(page, tmp_path, trace, "weight", [[4, 2, 0, 1, 3]], (40, 20, 0, 1))
    longest = page.evaluate(
        """(colour) => {
          const canvas = document.querySelector(".side canvas"), { width, height } = canvas;
          const bytes = canvas.getContext("2d").getImageData(0, 0, width, height).data;
          let most = 0;
          for (let y = 0; y < height; y++) {
            for (let x = 0, run = 0; x < width; x++) {
              const near = colour.every((one, i) => Math.abs(bytes[4 * (y * width + x) + i] - one) < 64);
              most = Math.max(most, (run = near ? run + 1 : 0));
            }
          }
          return most * canvas.getBoundingClientRect().width / width;
        }""",
        [int(THEMES["light"]["key"][i : i + 2], 16) for i in (1, 3, 5)],
    )
    assert 10 < longest < 90  # what is chosen interrupts the line in the features; label and bar take 168 or more


def test_a_long_text_stays_below_its_maps_and_shows_the_marks(page, tmp_path):
    trace = make_trace()
    (words,) = trace.texts.values()
    drawn(page, tmp_path, trace, "weight", [[4, 2, 0, 1, 3]], (4, 1, 0, 1), {"text": words + " and so on" * 200})
    texts = page.locator(".side .texts")
    assert texts.bounding_box()["height"] < 160
    texts.evaluate("(box) => { box.scrollTop = box.scrollHeight }")
    page.locator(CANVAS).focus()
    page.keyboard.press("ArrowDown")
    outer, inner = texts.bounding_box(), page.locator(".side mark.query").bounding_box()
    assert outer["y"] <= inner["y"] + 1 and inner["y"] + inner["height"] <= outer["y"] + outer["height"] + 1


def test_the_cell_is_in_the_link_and_leads_to_the_tensor(page, app):
    page.set_default_timeout(180_000)  # torch is loaded first
    page.goto(f"{app}/mtsa?{urlencode({'text': TEXT, 'heads': '2 and 4', 'cell': '4.1.0.3'})}")
    page.wait_for_selector(f'{CANVAS}[data-cell="4.1.0.3"]')
    page.locator(CANVAS).focus()
    page.keyboard.press("ArrowUp")
    page.wait_for_function("location.search.includes('cell=3.1.0.3')")
    link = page.get_by_role("link", name="The tensor of head 2, at this cell")
    link.wait_for()
    page.wait_for_function("document.querySelector('a[href*=\"cell=3.1.\"]') !== null")
    query = parse_qs(urlsplit(link.get_attribute("href")).query)
    link.click()
    page.wait_for_selector(f'{CUBE}[data-cell="{query["cell"][0]}"][data-exact="true"]')
    assert query["head"] == ["2"] and query["text"] == [TEXT]
    assert page.get_by_label("Sentence", exact=True).input_value() == TEXT


def test_the_tensor_shows_one_number_everywhere(page, app):
    page.set_default_timeout(180_000)
    page.goto(f"{app}/tensor?{urlencode({'text': TEXT, 'head': 3, 'cell': '1.4.5'})}")
    page.wait_for_selector(f'{CUBE}[data-cell="1.4.5"][data-exact="true"]')
    inspector = number(page.locator(".triattn .value strong").inner_text())
    assert number(page.locator(".t-large").inner_text()) == pytest.approx(inspector, rel=6e-3)
    page.locator(CUBE).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f'{CUBE}[data-cell="1.5.5"][data-exact="true"]')
    page.wait_for_function("location.search.includes('cell=1.5.5')")
    inspector = page.locator(".triattn .value strong").inner_text()
    page.wait_for_function("(told) => document.querySelector('.t-large').textContent === told", arg=inspector)
    page.goto(page.url)
    page.wait_for_selector(f'{CUBE}[data-cell="1.5.5"][data-exact="true"]')
    assert page.locator(".triattn .value strong").inner_text() == inspector


def test_the_clusters_follow_until_a_cell_is_chosen_there(page, app):
    page.set_default_timeout(180_000)
    page.goto(f"{app}/tensor?{urlencode({'text': TEXT, 'head': 3, 'cell': '1.4.5'})}")
    maps = page.locator(f'{CANVAS}[data-cell^="1.4."]')
    maps.wait_for()
    page.locator(CUBE).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f'{CANVAS}[data-cell^="1.5."]')
    page.locator(CANVAS).focus()
    page.keyboard.press("ArrowUp")
    page.wait_for_selector(f'{CANVAS}[data-cell^="0.5."]')
    page.locator(CUBE).focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector(f'{CUBE}[data-cell="1.4.5"][data-exact="true"]')
    page.wait_for_function("location.search.includes('cell=1.4.5')")
    assert page.locator(CANVAS).get_attribute("data-cell").startswith("0.5.")


def test_tensor_goes_on_after_a_masked_cell(page, app):
    """Its scores are no numbers, which JSON cannot say: once every later cell was left without its own."""
    page.set_default_timeout(180_000)
    page.goto(f"{app}/tensor?{urlencode({'text': TEXT, 'head': 1, 'cell': '0.1.0'})}")
    page.wait_for_selector(f'{CUBE}[data-cell="0.1.0"][data-exact="true"]')
    assert page.locator(".triattn .value strong").inner_text() == "0.00"
    page.locator(CUBE).focus()
    for cell in ("1.1.0", "2.1.0"):
        page.keyboard.press("ArrowDown")
        page.wait_for_selector(f'{CUBE}[data-cell="{cell}"][data-exact="true"]')
    inspector = page.locator(".triattn .value strong").inner_text()
    page.wait_for_function("(told) => document.querySelector('.t-large').textContent === told", arg=inspector)


@pytest.mark.parametrize("width", [375, 500, 950, 1280])
def test_what_stands_behind_a_weight_fits_the_window(page, app, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.set_default_timeout(180_000)
    words = TEXT.replace("red", "extraordinarily")
    page.goto(f"{app}/tensor?{urlencode({'text': words, 'head': 3, 'cell': '1.4.5'})}")
    page.wait_for_selector(f'{CUBE}[data-cell="1.4.5"][data-exact="true"]')
    page.wait_for_selector(".t-sides")
    for table in page.locator(".t-sum, .t-sides table").all():
        box = table.bounding_box()
        assert box["x"] + box["width"] <= width and table.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    lines = page.locator(".t-sides tr").evaluate_all("(rows) => rows.map((row) => row.getBoundingClientRect().height)")
    assert max(lines) < 30  # none is broken
