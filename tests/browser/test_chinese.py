"""Chinese in a real browser: labels that do not touch, the right fonts, pages that turn to another language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.browser.conftest import serve
from tests.support.two_languages import make_checkpoints
from tests.unit.test_views_cube import WEIGHT, head, make
from tests.unit.test_views_side_by_side import gap_of, panel
from triattn_core.analysis.maps import compare
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.tasks import pairs
from triattn_core.trace.distribution import Distribution
from triattn_core.trace.token_grouping import TokenGrouping
from triattn_core.views import cube
from triattn_core.views import side_by_side as view

CUBE, SIDE = '.triattn canvas[data-exact="true"]', ".side canvas[data-cell]"
LONG = "请问一下各位我想在北京五环以内租一套离地铁站比较近的两居室一个月的房租大概需要准备多少钱才够"
# Notes where the labels of the last picture stand: middle, size, and whether one leans.
LISTEN = """() => {
  window.painted = [];
  const prepare = CanvasRenderingContext2D.prototype.setTransform;
  CanvasRenderingContext2D.prototype.setTransform = function (...matrix) {
    if (this.canvas.isConnected) window.painted = []; // a new picture
    return prepare.apply(this, matrix);
  };
  const paint = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const m = this.getTransform(), d = devicePixelRatio, width = this.measureText(text).width;
    const size = parseFloat(this.font.match(/([\\d.]+)px/)[1]);
    const left = { left: 0, center: width / 2, right: width }[this.textAlign];
    const middle = y - (this.textBaseline === "middle" ? 0 : size * 0.36);
    const at = new DOMPoint(x - left + width / 2, middle).matrixTransform(m);
    window.painted.push({ text, x: at.x / d, y: at.y / d, size, width, leans: m.b !== 0 });
    return paint.call(this, text, x, y);
  };
}"""


def sentence(n: int, name: str) -> list[tuple[str, str, int, int]]:
    return [(LONG[i], name, i, i + 1) for i in range(n)]


def trace(n: int):
    special, a, b = ("[SEP]", "", 0, 0), sentence(n, "a"), sentence(n, "b")
    context = [("[CLS]", "", 0, 0), *a, special, *b, special]
    return make(a, b, context, heads=1, texts={"a": LONG[:n], "b": LONG[:n]})


def cube_page(n: int) -> str:
    return cube.figure(Distribution(trace(n), head(0))).html()


def side_page(n: int) -> str:
    weights = compare.two_way_map(trace(n).site(WEIGHT), 0)
    numbers = {"entropy": compare.entropy(weights), "rank": compare.rank(weights)}
    panels = [replace(panel(0, kind), map_values=weights, weights=weights, **numbers) for kind in ("bi", "cbi", "tri")]
    return view.figure(panels, gap_of(panels), {"a": LONG[:n], "b": LONG[:n]}, (0, 0)).html()


def labels(page) -> list[dict]:
    """The Chinese labels of the last picture."""
    return [label for label in page.evaluate("window.painted") if re.fullmatch("[\u4e00-\u9fff]", label["text"])]


def painted(page, file: Path) -> None:
    """The figure, drawn once more with all that it paints noted."""
    page.add_init_script(f"({LISTEN})()")
    page.goto(file.as_uri())
    page.wait_for_selector("canvas[data-cell]")
    page.locator("canvas").focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_timeout(300)


@pytest.mark.parametrize("width", [1280, 800])
@pytest.mark.parametrize("figure", [cube_page, side_page])
@pytest.mark.parametrize("n", [11, 26, 40])
def test_labels_do_not_touch(page, tmp_path: Path, figure, n: int, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    file = tmp_path / "figure.html"
    file.write_text(figure(n), encoding="utf-8")
    painted(page, file)
    label_boxes = labels(page)
    assert len(label_boxes) >= (2 * n if width == 1280 and n < 40 else n // 2)
    assert not [one for one in label_boxes if one["leans"]] and all(12 <= one["size"] <= 16 for one in label_boxes)
    for i, label in enumerate(label_boxes):
        for other in label_boxes[:i]:
            apart = max(abs(label["x"] - other["x"]), abs(label["y"] - other["y"]))
            assert apart >= 11, (label, other)  # a character of 12 pixels inks 11


def spots(label: dict) -> list[tuple[float, float]]:
    """Points along the middle of a painted label, no farther apart than half its height."""
    slope = -1 if label["leans"] else 0
    steps = np.arange(-label["width"] / 2, label["width"] / 2, label["size"] / 2) / (2**0.5 if slope else 1)
    return [(label["x"] + step, label["y"] + slope * step) for step in steps]


@pytest.mark.parametrize("width", [1280, 800])
@pytest.mark.parametrize(
    "units", [{"context": "phrases"}, {"query": "phrases", "key": "phrases", "context": "phrases"}]
)
def test_phrases_do_not_touch_each_other_nor_the_bars(page, tmp_path: Path, units: dict, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    file, own = tmp_path / "figure.html", ("请问一下各位我想在", "五环以内租一套", "地铁站比较近的两居室")
    file.write_text(
        cube.figure(Distribution(TokenGrouping.of(own, **units).trace(trace(29)), head(0))).html(), encoding="utf-8"
    )
    painted(page, file)
    label_boxes = [one for one in page.evaluate("window.painted") if re.match("[\u4e00-\u9fff]|sum$", one["text"])]
    assert any(len(one["text"]) > 4 and one["leans"] for one in label_boxes) and any(
        one["text"] == "sum" for one in label_boxes
    )
    for i, label in enumerate(label_boxes):
        for other in label_boxes[:i]:
            apart = min(max(abs(a - c), abs(b - d)) for a, b in spots(label) for c, d in spots(other))
            assert apart >= 2, (label, other)


def test_fonts_and_language_are_those_of_chinese(page, tmp_path: Path) -> None:
    for name, figure in (("cube", cube_page), ("side", side_page)):
        file = tmp_path / f"{name}.html"
        file.write_text(figure(11), encoding="utf-8")
        page.goto(file.as_uri())
        page.wait_for_selector("canvas[data-cell]")
        assert page.locator("canvas").get_attribute("lang") == "zh"
        texts = page.locator(".texts p > span:last-child")
        assert [texts.nth(i).get_attribute("lang") for i in range(2)] == ["zh", "zh"]
        assert page.locator("mark").first.get_attribute("lang") == "zh"
        stack = page.locator("mark").first.evaluate("(one) => getComputedStyle(one).fontFamily")
        assert all(font in stack for font in ("Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei"))
        with page.expect_download() as download:
            page.evaluate(
                "(detail) => window.dispatchEvent(new CustomEvent('triattn-export', { detail }))",
                {"format": "svg", "name": name},
            )
        saved = Path(download.value.path()).read_text("utf-8")
        assert saved.count(">请</text>") >= 2 and "Noto Sans CJK SC" in saved


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[str]:
    """The app on 24 small checkpoints in two languages."""
    yield from serve(**{VARIABLE: str(make_checkpoints(tmp_path_factory.mktemp("checkpoints")))})


def pair(page) -> tuple[str, str]:
    return tuple(page.get_by_label(f"Sentence {name}").input_value() for name in "AB")


def settled(page, selector: str, text: str) -> None:
    """The page shows a figure of this sentence and its run has ended."""
    page.wait_for_selector(f'{selector}[aria-label*="{text}"]' if selector == CUBE else selector)
    page.locator(".texts p > span:last-child", has_text=text).first.wait_for()
    page.wait_for_timeout(400)


def test_a_page_turns_to_another_language_and_its_link_opens_it(page, address) -> None:
    english, chinese = (pairs.examples(language)[0] for language in ("en", "zh"))
    for path, selector in (("cube", CUBE), ("side_by_side", SIDE)):
        page.goto(f"{address}/{path}")
        settled(page, selector, english.text_a)
        page.get_by_text("Chinese", exact=True).first.click()
        settled(page, selector, chinese.text_a)
        assert pair(page) == (chinese.text_a, chinese.text_b)
        page.goto(page.url)
        settled(page, selector, chinese.text_a)
        assert pair(page) == (chinese.text_a, chinese.text_b)
        assert page.locator("[data-testid=stAlertContainer]").count() == 0


def test_what_is_typed_in_the_other_language_is_one_click_from_its_model(page, address) -> None:
    page.goto(f"{address}/cube")
    settled(page, CUBE, pairs.examples("en")[0].text_a)
    for name, text in (("Sentence A", "今天天气怎么样"), ("Sentence B", "明天会下雨吗")):
        page.get_by_label(name).fill(text)
        page.get_by_label(name).press("Enter")
    page.get_by_role("button", name="Use lcqmc-tri-additive").click()
    settled(page, CUBE, "今天天气怎么样")
    page.wait_for_function("location.search.includes('language=Chinese')")
    assert page.locator(".st-key-differs").count() == 0
    assert pair(page) == ("今天天气怎么样", "明天会下雨吗")


def test_a_similarity_is_chosen_for_all_three(page, address) -> None:
    page.goto(f"{address}/side_by_side?language=Chinese")
    settled(page, SIDE, pairs.examples("zh")[0].text_a)
    page.get_by_label("Similarity").click()
    page.get_by_role("option", name="scaled dot").click()
    page.wait_for_selector(".side tbody th[title='lcqmc-tri-scaled-dot']")
    page.wait_for_function("location.search.includes('lcqmc-cbi-scaled-dot')")
    page.goto(page.url)
    page.wait_for_selector(".side tbody th[title='lcqmc-bi-scaled-dot']")


@pytest.mark.parametrize("width", [1280, 800])
def test_no_page_is_wider_than_the_window(page, address, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    pages = (("studies", ".t-scores"), ("checkpoints", "[data-testid=stDataFrame]"), ("side_by_side", SIDE))
    for path, selector in pages:
        page.goto(f"{address}/{path}")
        page.wait_for_selector(selector)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if path == "studies":
            table = page.locator(".t-scores").evaluate("(one) => [one.scrollWidth, one.parentElement.clientWidth]")
            assert table[0] <= table[1]
