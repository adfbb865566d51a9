"""The forms of a page's tasks, long and Chinese texts, at three widths: nothing is cut off, lies outside of its frame
or the window, stands on other text, or can hardly be told from its ground.  `test_every_page` asks it of all pages."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

import pytest

from tests.browser.conftest import opened
from tests.support.tiny_transformers import make
from triattn_core.tasks import CHOICES, TASKS
from triattn_core.views.lib.script_bundle import bundle_script

SCRIPT = bundle_script(str(Path(__file__).parent / "layout" / "layout_faults.js"))
WIDTHS = (1440, 1024, 800)
EXCEPTIONS = {
    '[data-testid="stDataFrame"]': "a grid cuts what is wider than its column, and opens it on a click",
    '[data-testid="stCode"]': "a command is one line, which scrolls and can be copied",
    '[data-testid="stSliderThumbValue"]': "stands above its thumb, whose colour is not behind it",
    'input[type="range"]': "a slider shows no text of its own",
    "details:not([open]) > div": "folded",
    "[class*=friends-keys] input": "a row of cards scrolls in its field, and stands beside each map in whole",
}
FORMS = [
    *((page, task) for page in ("cube", "side_by_side", "intervene", "attribute", "context") for task in CHOICES),
    *((page, task) for page in ("compare", "cases", "heads") for task in ("dialogue",)),
    *((page, "inference") for page in ("mtsa", "tensor")),
]
ENCODED = {"inference": {"checkpoint": "snli-mtsa"}}  # the task follows from the checkpoint
SIXTY = "The old man who lives near the river said that he had seen the small boat with a red sail leave the harbour "
SIXTY += "early in the morning before the storm came, but nobody in the town believed him until the sailors returned "
SIXTY += "three days later with torn sails, empty barrels, and a story that was even stranger than his."
RED_CAR = (
    "How can the very old red car that my brother bought from a small dealer in the north of the country play music "
)
RED_CAR += "from my phone without any cable or internet connection while driving"
BACKWARDS = " ".join(reversed(RED_CAR.split()))
STOP_AND_COPY = """() => {
  const stop = document.querySelector("[data-testid=stStatusWidget] button");
  const copy = document.querySelector(".st-key-copy-link-button");
  if (!stop || !copy || getComputedStyle(copy.parentElement).position !== "fixed") return null;
  return [stop.getBoundingClientRect().right, copy.getBoundingClientRect().left];
}"""  # where the one ends and the other begins, in pixels
PAIRS = {
    "sixty tokens": {"a": SIXTY, "b": SIXTY.replace("old man", "young woman").replace("his.", "hers.")},
    "sixty tokens of different texts": {"a": f"{RED_CAR} {RED_CAR[:105]} ?", "b": f"{BACKWARDS} {BACKWARDS[:110]} ?"},
    "Chinese": {
        "a": "昨天下午我在图书馆里看到你弟弟和他的同学们一起讨论怎么准备下个月的数学竞赛",
        "b": "上个星期天早上我在公园里看到你妹妹和她的朋友们一起练习怎么跳新学的民族舞蹈",
        "language": "Chinese",
    },
}


@pytest.fixture(scope="module")
def sheet(browser):
    """A page whose layout can be checked."""
    context = browser.new_context(reduced_motion="reduce")
    context.add_init_script(SCRIPT)
    page = context.new_page()
    yield page
    context.close()


def faults(page, skipped=EXCEPTIONS) -> list[str]:
    """What is wrong, once it stays the same: figures are drawn anew when their room changes."""
    page.evaluate("document.fonts.ready.then(() => 1)")
    problems = None
    for _ in range(20):
        before, problems = problems, page.evaluate("skipped => layoutFaults(skipped)", ", ".join(skipped))
        if problems == before:
            break
        page.wait_for_timeout(250)
    return problems


def open_at(page, address: tuple[str, str], width: int) -> None:
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, *address)


def at_width(page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_timeout(300)


def at_all_widths(page, widths: tuple[int, ...] = WIDTHS) -> dict[str, list[str]]:
    """What is wrong with a page that is open in the first width, by width."""
    by_width = {}
    for width in widths:
        if width != widths[0]:
            at_width(page, width)
        by_width[str(width)] = faults(page)
    return {width: some for width, some in by_width.items() if some}


@pytest.mark.parametrize(("where", "task"), FORMS)
def test_every_form_of_a_page(sheet, app, where, task):
    open_at(sheet, (app, f"{where}?{urlencode(ENCODED.get(task) or {'task': TASKS[task].LABEL})}"), WIDTHS[0])
    problems = at_all_widths(sheet)
    assert not problems, problems


def test_results_between_the_widths(sheet, app):
    """Its tables give way in steps."""
    open_at(sheet, (app, "results"), 1000)
    problems = at_all_widths(sheet, (1000, 961, 930))
    assert not problems, problems


def test_measures_of_a_head_between_the_widths(sheet, app):
    """Its table stands in one of two columns, where the headings of five measures take two lines."""
    with TemporaryDirectory() as folder:  # a short name, which its field shows
        query = {"from": "From a model", "model": str(make("bert", Path(folder))), "text": "unhappy cats sat on mats"}
        open_at(sheet, (app, f"open?{urlencode(query)}"), 1300)
        problems = at_all_widths(sheet, (1300, 1160))
    assert not problems, problems


@pytest.mark.parametrize("texts", PAIRS)
@pytest.mark.parametrize("where", ["cube", "side_by_side", "intervene", "attribute", "context", "coin"])
def test_long_texts(sheet, app, where, texts):
    open_at(sheet, (app, f"{where}?{urlencode(PAIRS[texts])}"), WIDTHS[0])
    problems = at_all_widths(sheet)
    assert not problems, problems


def test_a_text_of_many_lines_is_five_high_until_it_is_edited(sheet, app):
    open_at(
        sheet, (app, f"context?{urlencode({'a': f'{SIXTY} {SIXTY} {SIXTY}', 'b': 'Who saw the boat?'})}"), WIDTHS[0]
    )
    field = sheet.locator(".st-key-a textarea")
    field.focus()
    edited = field.bounding_box()["height"]
    field.blur()
    assert field.bounding_box()["height"] == 124 < edited


def test_copy_link_leaves_the_stop_button_free(sheet, app):
    for width in WIDTHS:
        sheet.set_viewport_size({"width": width, "height": 900})
        texts = {"a": f"Where is page {width}?", "b": "Which page is it?"}
        sheet.goto(f"{app}/attribute?{urlencode({'steps': '64', **texts})}")
        ends, begins = sheet.wait_for_function(STOP_AND_COPY, timeout=60_000).json_value()
        assert ends < begins, width
        opened(sheet, app, "case_book")


BROKEN = {
    "cut off": '<div style="width: 60px; overflow: hidden; white-space: nowrap">a sentence that is cut</div>',
    "frame cut off": '<div style="overflow: auto"><b style="outline: 2px solid">in it</b></div>',
    "outside of its frame": '<div style="width: 60px; border: 1px solid; white-space: nowrap">a long sentence</div>',
    "outside of the window": '<div style="position: absolute; left: 760px; width: 200px">a sentence at the edge</div>',
    "overlap": '<div style="height: 4px">one line</div><div>another line</div>',
    "contrast": '<div style="background: #fff; color: #ddd">hardly to be read</div>',
    "colours without size": '<i style="background: linear-gradient(red, blue)"></i>',
    "name broken": '<div class="t-section" style="display: flex; width: 90px"><b>One token</b><i>of it</i></div>',
    "maps of unlike widths": '<div class="t-maps"><p style="width: 80px">one</p><p style="width: 90px">two</p></div>',
    "page wider than its window": '<div style="width: 900px; height: 4px"></div>',
    "number on its side": '<svg width="60" height="60"><text transform="rotate(-90 30 30)" y="30">+0.04</text></svg>',
    "field too low": '<textarea style="width: 60px; height: 20px">a sentence that is too long for its field</textarea>',
    "field too narrow": '<input style="width: 60px" value="a sentence that is too long for its field">',
    "goes on below its edge unseen": '<div style="height: 40px; overflow-y: auto">one<br>two<br>three<br>four</div>',
    "cut at the edge of what scrolls": '<div style="width: 70px; overflow: auto; white-space: pre">long sentence</div>',
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_fault_is_found(sheet, kind):
    sheet.set_viewport_size({"width": 800, "height": 600})
    shell = '<body data-testid="stApp"><main data-testid="stMain">{}</main></body>'
    sheet.goto("about:blank")
    sheet.set_content(shell.format('<p style="background: #fff; color: #222">All is well.</p>' + BROKEN[kind]))
    assert [fault.split(":")[0].rstrip(" .0123456789") for fault in faults(sheet)] == [kind]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_fault_below_the_edge_of_the_window_is_found(sheet, scheme):
    """The page scrolls within elements that are as high as the window and cut what is outside of them."""
    sheet.emulate_media(color_scheme=scheme)
    sheet.set_viewport_size({"width": 800, "height": 600})
    sheet.goto("about:blank")
    app = '<body><div data-testid="stApp" style="height: 500px; overflow: hidden">{}</div></body>'
    main = (
        '<main data-testid="stMain" style="height: 500px; overflow-y: auto"><div style="height: 900px"></div>{}</main>'
    )
    sheet.set_content(app.format(main.format(BROKEN["overlap"])))
    assert [fault.split(":")[0] for fault in faults(sheet)] == ["overlap"]


def test_a_text_that_ends_in_an_ellipsis_is_whole_on_hover_and_takes_no_more_room(sheet):
    cut, text = "overflow: hidden; text-overflow: ellipsis; white-space: nowrap", "words that go on and on and on"
    sheet.goto("about:blank")
    for title, found in ((text, []), ("where they stand", ["cut off"])):
        row = f'<p style="display: flex; width: 200px"><b title="{title}" style="{cut}">{text}</b>'
        sheet.set_content(f'<body data-testid="stApp"><main data-testid="stMain">{row}<i>true</i></p></main></body>')
        assert [fault.split(":")[0] for fault in faults(sheet)] == found


def test_text_on_a_canvas_is_text(sheet):
    sheet.goto("about:blank")
    sheet.set_content('<body data-testid="stApp"><main data-testid="stMain"><canvas width="200" height="60"></canvas>')
    draw = "words => { const c = document.querySelector('canvas').getContext('2d'); c.font = '13px sans-serif';"
    draw += " for (const [text, x, y] of words) c.fillText(text, x, y) }"
    sheet.evaluate(draw, [["one", 10, 20], ["two", 60, 20]])
    assert faults(sheet) == []
    sheet.evaluate(draw, [["three", 14, 22], ["far too long for it", 120, 50]])
    assert [fault.split(":")[0] for fault in faults(sheet)] == ["cut off", "overlap"]
    sheet.evaluate("document.querySelector('canvas').width = 300")
    assert faults(sheet) == []
