"""COIN's figure in a real browser, without the app: what clicks and keys choose, and where things stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tests.browser.test_mtsa_pages import chosen
from tests.support.coin_checkpoints import make_checkpoints
from tests.support.figure_arrays import group_arrays
from triattn_core.scenes.coin import answers, feature_orders
from triattn_core.sources import find_entries
from triattn_core.sources.explanation import Explanation
from triattn_core.sources.models import Models
from triattn_core.tasks.pairs import Example
from triattn_core.trace.token_grouping import NO_GROUPING, TokenGrouping
from triattn_core.views import coin

CANVAS = ".side canvas"
PAIR = Example("Can cats eat raw fish?", "Can a dog eat?")  # 6 tokens over 5
PLACES = """() => {  // where the figure's panels stand on the canvas, as it lays them out
  const canvas = document.querySelector(".side canvas"), root = document.getElementById("figure");
  const payload = JSON.parse(document.getElementById("payload").textContent);
  const data = module_lib_renderer_description.unpack(payload);
  const theme = module_lib_theme.themeFor(THEMES, root), { layoutFigure } = module_lib_renderer_layout;
  const { boxes } = layoutFigure(canvas.getContext("2d"), data, canvas.clientWidth, theme);
  return boxes.map(({ panel: { chooses, columns }, rows, columns: across, x, y }) =>
    ({ x, y, rows, columns: across, over: columns, block: chooses?.[1] }));
}"""


@pytest.fixture(scope="module")
def explanations(tmp_path_factory) -> dict[str, dict[str, Explanation]]:
    """Of each checkpoint the pair with each thing off."""
    checkpoint_folder = make_checkpoints(tmp_path_factory.mktemp("checkpoints"))
    return {
        path.name: Models("cpu").without(find_entries([str(path)])[0], PAIR)
        for path in sorted(checkpoint_folder.iterdir())
    }


def figure(explanations: Mapping[str, Explanation], off: str = "", features: bool = False,
           cell: Sequence[int] | None = None, reading: TokenGrouping = NO_GROUPING):  # fmt: skip
    """The canvas as the page makes it, A over B."""
    read = {off: Models().read(explanation, reading) for off, explanation in explanations.items()}
    whole, trace = read[""], read[off].trace
    orders = feature_orders(whole.trace, "a_over_b") if features else ()
    label = whole.prediction.labels[whole.prediction.best]
    return coin.figure(whole.trace, trace, "a_over_b", answers(read), label, orders, cell)


def opened(page, tmp_path, canvas, width: int = 1280) -> list[dict]:
    """The figure alone on a page: where its panels stand."""
    (tmp_path / "figure.html").write_text(canvas.html(), "utf-8")
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"file://{tmp_path}/figure.html")
    page.wait_for_selector(f"{CANVAS}[data-cell]")
    page.locator(CANVAS).focus()
    return page.evaluate(PLACES)


def click(page, part: Mapping, row: int, column: int) -> list[int]:
    """A click on a cell of a panel: what is chosen then."""
    x, y = (part[axis]["at"][i] + part[axis]["pitch"] / 2 for axis, i in (("columns", column), ("rows", row)))
    page.locator(CANVAS).click(position={"x": part["x"] + x, "y": part["y"] + y})
    return chosen(page, CANVAS)


def moved(page, *presses: str) -> list[int]:
    for press in presses:
        page.keyboard.press(press)
    return chosen(page, CANVAS)


def test_keys_reach_blocks_own_tokens_and_features(page, tmp_path, explanations):
    order = group_arrays(figure(explanations["quora-coin"], features=True).payload, 1)["order"]
    before, feature, after = map(int, order[1:4])  # any but the ends
    opened(page, tmp_path, figure(explanations["quora-coin"], features=True, cell=[2, 1, 1, feature, 3, 2]))
    assert moved(page, "Shift+ArrowDown") == [2, 1, 1, feature, 4, 2] and moved(page, "Shift+ArrowLeft")[4:] == [4, 1]
    assert moved(page, ".")[3] == after and moved(page, ",", ",")[3] == before
    assert moved(page, "]")[:3] == [2, 1, 2] and moved(page, "]", "[", "[", "[")[:3] == [2, 1, 0]
    hint = page.locator(".hint").inner_text()
    assert all(key in hint for key in ("[", "Shift", ","))
    opened(page, tmp_path, figure(explanations["quora-coin"], "layer.1", cell=[2, 1, 0, 4, 3, 2]))
    assert moved(page, "]")[2] == 2 and moved(page, "[")[2] == 0, "past what is ablated"
    opened(page, tmp_path, figure(explanations["without-all-coin"]))
    assert "Shift" not in page.locator(".hint").inner_text()


def test_of_a_block_that_is_off_the_nearest_other_is_read(page, tmp_path, explanations):
    opened(page, tmp_path, figure(explanations["quora-coin"], "layer.2", True, [2, 1, 2, 4, 3, 2]))
    assert chosen(page, CANVAS)[2] == 2, "it is chosen again when it is not ablated"
    sentence, row = page.locator(".below .sentence").inner_text(), page.locator(".side tbody tr[aria-selected]")
    assert sentence.startswith("In block 2, ") and "Block 3 is ablated: " in sentence
    assert row.locator("th").inner_text() == "block 2" and "layer.1/" in page.locator(".side pre").text_content()
    opened(page, tmp_path, figure(explanations["single-coin"], "layer.0", True))
    assert "Block 1 is ablated: " in page.locator(".below .sentence").inner_text()


def test_what_a_token_looks_at_is_its_own_strongest_until_another_is_chosen_for_it(page, tmp_path, explanations):
    trace = explanations["quora-coin"][""].trace
    most = {(side, block): trace.site(f"layer.{block}/{side}_over_{side}/weight").values.argmax(1).tolist()
            for side in "ab" for block in range(3)}  # fmt: skip
    places = opened(page, tmp_path, figure(explanations["quora-coin"]))
    other = (most["a", 1][2] + 1) % 6
    map_, own = (
        next(box for box in places if box["block"] == 1 and box["over"] == name) for name in ("key", "own query")
    )
    cell = click(page, own, 2, other)
    assert (cell[0], cell[2], cell[4]) == (2, 1, other)
    assert click(page, map_, 2, 3)[4:] == [other, most["b", 1][3]], "it was chosen for this token"
    for query, key in ((4, 1), (2, 4)):
        assert click(page, map_, query, key)[4:] == [most["a", 1][query], most["b", 1][key]]
    for press in ("ArrowUp", "ArrowLeft", "n", "n", "p"):
        page.keyboard.press(press)
        query, key, block, _, first, second = chosen(page, CANVAS)
        assert (first, second) == (most["a", block][query], most["b", block][key]), press


def test_a_joined_token_is_held_against_its_own_even_share(page, tmp_path, explanations):
    reading = TokenGrouping.of(("Can cats", "dog eat"), query="phrases", key="phrases")
    canvas = figure(explanations["quora-coin"], reading=reading)
    cells = canvas.payload["axes"]["key"]["cells"]
    opened(page, tmp_path, canvas)
    key = cells.index(max(cells))
    moved(page, *["ArrowLeft"] * len(cells), *["ArrowRight"] * key)
    heads, row = (page.locator(f".side {row} th, .side {row} td") for row in ("thead tr", "tbody tr[aria-selected]"))
    facts = dict(zip(heads.all_inner_texts(), row.all_inner_texts()))
    assert "score" not in facts
    against = float(facts["against even"].removeprefix("× "))
    assert against == pytest.approx(float(facts["with context"]) * sum(cells) / cells[key], rel=2e-2)
    mark = f"even share of “{canvas.payload['axes']['key']['name'][key]}”, {cells[key]}/5"
    assert any(mark in one[0] for one in drawn(page))


def drawn(page) -> list[list]:
    """What the canvas says, painted anew: [words, left, top, right, bottom], upright words alone."""
    page.evaluate(r"""() => {
      const { fillText: paint, setTransform: start } = CanvasRenderingContext2D.prototype;
      window.told = [];
      CanvasRenderingContext2D.prototype.setTransform = function (...numbers) {  // each painting begins so
        window.told = [];
        return start.apply(this, numbers);
      };
      CanvasRenderingContext2D.prototype.fillText = function (words, x, y) {
        const { a, b, e, f } = this.getTransform(), size = parseFloat(this.font.match(/([\d.]+)px/)[1]);
        const wide = this.measureText(words).width, share = { left: 0, center: 0.5, right: 1 }[this.textAlign];
        const left = e / a + x - wide * share;
        const foot = f / a + y + (this.textBaseline === "middle" ? size * 0.33 : 0);
        if (!b) window.told.push([words, left, foot - size * 0.66, left + wide, foot]);
        return paint.call(this, words, x, y);
      };
    }""")
    moved(page, "Shift+ArrowDown", "Shift+ArrowUp")
    # Not wait_for_function: its second look is an eval, which the policy of an offline page forbids.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    words = page.evaluate("window.told")
    assert words
    return words


@pytest.mark.parametrize("width", [390, 500, 800, 1280])
@pytest.mark.parametrize(("name", "off"), [("quora-coin", ""), ("quora-coin", "layer.1"), ("quora-coin", "context"),
                                           ("single-coin", ""), ("without-all-coin", "")])  # fmt: skip
def test_no_words_are_cut_off_or_lie_over_others(page, tmp_path, explanations, name, off, width):
    opened(page, tmp_path, figure(explanations[name], off, features=True), width)
    words, wide = drawn(page), page.locator(CANVAS).evaluate("one => one.clientWidth")
    assert len(words) > 40
    assert not [word for word in words if word[1] < -1 or word[3] > wide + 1 or word[0].endswith("…")]
    assert not [(word[0], two[0]) for i, word in enumerate(words) for two in words[:i] if meet(word, two)]


def meet(one: Sequence, two: Sequence) -> bool:
    """Whether two boxes share more than a pixel across and down."""
    return all(min(one[end], two[end]) - max(one[end - 2], two[end - 2]) > 1 for end in (3, 4))


def test_a_legend_tells_of_dashes_only_where_they_are(page, tmp_path, explanations):
    def draw_words(pair: Example, width: int = 1150) -> list[str]:
        asked = Models("cpu").without(explanations["quora-coin"][""].entry, pair)
        opened(page, tmp_path, figure(asked, cell=[0] * 6), width)
        words = drawn(page)
        assert not [(word[0], two[0]) for i, word in enumerate(words) for two in words[:i] if meet(word, two)]
        return [word[0] for word in words]

    assert any("below zero" in word for word in draw_words(PAIR))
    many = draw_words(Example("can cats eat raw fish and " * 5, "a dog can eat fish or not " * 4))
    assert any("sign by colour" in one for one in many) and not any("below zero" in one for one in many)
    draw_words(
        Example("can cats eat raw fish and " * 5, "a dog can eat fish or not " * 4), 960
    )  # nothing lies over others
    alone = draw_words(Example("cats", "dog"))
    assert not any("sign by colour" in one or "below zero" in one for one in alone), "there is no difference"


def test_what_the_model_does_not_read_is_pale_and_a_word_from_right_to_left_keeps_its_numbers_behind_it(
    page, tmp_path, explanations
):
    entry = explanations["quora-coin"][""].entry
    long = Example("can cats eat raw fish and " * 40, "a dog can eat fish or not " * 40)
    opened(page, tmp_path, figure(Models("cpu").without(entry, long), cell=[0] * 6))
    for line, text in zip(page.locator(".texts p > span:last-child").all(), (long.text_a, long.text_b)):
        unread = line.locator(".mute").all_inner_texts()
        read = line.inner_text().split(unread[0].strip())[0]
        assert len(unread) == 2 and len(read.split()) == 50, "as many words as its limit of tokens"
        rest = int(unread[1].removeprefix("(").split()[0].replace(",", ""))
        assert len(read.rstrip()) + 1 + len(unread[0].strip(" …")) + rest == pytest.approx(len(text), abs=2)
    short = Example("\u0645\u0631\u062d\u0628\u0627 cats", "\u0627\u0644\u0633\u0644\u0627\u0645 dog")
    opened(page, tmp_path, figure(Models("cpu").without(entry, short), cell=[0] * 6))
    assert "\u2068\u0627\u0644\u0633\u0644\u0627\u0645\u2069" in page.locator(".below .sentence").inner_text()
    assert not page.locator(".texts .mute").count()
