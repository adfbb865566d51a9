"""Every page by keyboard alone: each control is reached, in the order it is read, with a ring that can be seen; and a
figure says what was chosen in it."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest
from matplotlib.image import imread

from tests.browser.conftest import opened, serve
from tests.support import coin_checkpoints, reader_checkpoints
from triattn_core.checkpoint.registry import VARIABLE, find_checkpoint, list_checkpoints, root
from triattn_core.results.run_records import SHIPPED as RECORDS

SHIPPED = ("quora-bi-published", "quora-cbi-published", "quora-tri-published", "trec-mtsa")
MOST = 160  # stops of a page
RINGS = 24  # of them whose ring is looked at: each takes half a second
ORDER = {  # what each page is about, in the order it is read
    "": "Start; Explore; ▶ Replay; Training step; Type your pair; Read the studies",
    "studies": "Open it; Context; Compare; The tensor",
    "cube": "Sentence A; Examples; Checkpoint; Read as; Export; Of; previous; 1; All",
    "intervene": "Sentence A; Checkpoint; remove; What; One by one as numbers; A over B; The maps; averaged",
    "attribute": "Sentence A; Checkpoint; words; All; all; integrated gradients; The curves; Rows; Run",
    "compare": "Similarity; Rows; Between; The losses as numbers",
    "cases": "Rows; Export; all three right; Who is right as numbers; Words or row; Open side by side; Note",
    "case_book": "Import",
    "mtsa": "Sentence; Checkpoint; Heads; Export; Maps of; previous; The tensor of head; All pairs",
    "tensor": "Sentence; Checkpoint; Clusters; Of; previous; 1; All; Maps of; The clusters' maps",
    "coin": "Sentence A; Checkpoint; per token; nothing; Alignments of; The command; All pairs",
    "similarity": "Question; Examples; Functions; Export; Maps of; previous; command; All cells",
    "distributions": "Question; Examples; Functions; Export; Show data; Runs, CSV",
    "results": "Table; Export; What a block costs",
}
FOCUSED = """() => {
  let one = document.activeElement;
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
  if (!one || one === document.body) return null;
  one.setAttribute("data-reached", "");
  const { x, y, width, height } = one.getBoundingClientRect(), label = one.labels?.[0]?.innerText;
  const said = one.getAttribute("aria-label") || label || one.innerText?.replace(/\\s+/g, " ") || one.title || "";
  const name = said.replace("keyboard_arrow_right", "").trim(); // an icon's name
  const group = one.closest("[data-testid=stButtonGroup]")?.querySelectorAll("button").length ?? 0;
  return { name, tag: one.tagName, box: [x, y, width, height], group, strip: !!one.closest(".strip") };
}"""
MISSED = """() => {
  const found = [], visit = (under) => {
    for (const one of under.querySelectorAll("*")) {
      if (one.shadowRoot) visit(one.shadowRoot);
      if (!one.matches("a[href], button, input, textarea, summary, canvas[tabindex]")) continue;
      const { width, height } = one.getBoundingClientRect(), seen = width > 1 && height > 1;
      if (!seen || !one.checkVisibility({ visibilityProperty: true }) || one.hasAttribute("data-reached")) continue;
      if (!one.disabled && one.tabIndex >= 0) found.push(one.outerHTML.slice(0, 150));
    }
  };
  visit(document.querySelector("[data-testid=stMain]"));
  return found;
}"""
BLUR = """() => {
  let one = document.activeElement;
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
  one?.blur();
}"""


@pytest.fixture(scope="module")
def here(tmp_path_factory) -> Iterator[str]:
    """The app on shipped checkpoints, and on small ones of the kinds that none is shipped of."""
    if not {entry.name for entry in list_checkpoints() if entry.problem is None}.issuperset(SHIPPED):
        pytest.skip("no trained checkpoints: copy the folder checkpoints/")
    folder, place = tmp_path_factory.mktemp("checkpoints"), root()
    for name in SHIPPED:
        (folder / name).symlink_to(find_checkpoint(name).resolve())
    (folder / "results").symlink_to(RECORDS)
    reader_checkpoints.make_checkpoints(folder, ("dot", "cosine"))
    (folder / "encoders" / "minilm-en").rename(folder / "encoders" / "small-en")
    for file in folder.glob("squad-*/config.json"):
        file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | {"encoder": "small-en"}), "utf-8")
    (folder / "encoders" / "minilm-en").symlink_to((place / "encoders" / "minilm-en").resolve())
    coin_checkpoints.make_checkpoints(folder, ("quora-coin",))
    yield from serve(**{VARIABLE: str(folder), "TRIATTN_CASES": str(folder / "cases.sqlite")})


def stops(page, groups: bool = False) -> Iterator[dict]:
    """What Tab comes to, until it leaves the page; `groups`: and what arrows come to, in groups of buttons."""
    for _ in range(MOST):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUSED)
        if focus is None:
            return
        yield focus
        for _ in range(focus["group"] if groups else 0):  # arrows go through its members
            page.keyboard.press("ArrowRight")
            page.evaluate(FOCUSED)


@pytest.mark.parametrize("where", ORDER)
def test_each_control_is_reached_in_the_order_it_is_read(page, here, where):
    opened(page, here, where)
    names = [stop["name"] for stop in stops(page, groups=True)]
    assert 4 < len(names) < MOST, "Tab comes to an end"
    assert not page.evaluate(MISSED)
    left = iter(names)
    for wanted in ORDER[where].split("; "):
        assert any(name.startswith(wanted) or wanted in name.split() for name in left), (wanted, names)


def grey(page, box: list[float]) -> np.ndarray:
    """What stands around a control, without its hues."""
    x, y, width, height = box
    clip = {"x": max(0, x - 5), "y": max(0, y - 5), "width": min(width + 10, 700), "height": min(height + 10, 400)}
    return 255 * imread(io.BytesIO(page.screenshot(clip=clip)))[..., :3] @ [0.299, 0.587, 0.114]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("where", ["cube", "cases"])
def test_where_the_focus_is_can_be_seen_without_hue(browser, here, where, theme):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=theme, reduced_motion="reduce")
    page = context.new_page()
    opened(page, here, where)
    for stop in islice(stops(page), RINGS):
        if stop["tag"] == "MAIN":  # the page itself, which scrolls
            continue
        page.wait_for_timeout(200)  # rings and borders fade in
        lit = grey(page, stop["box"])
        page.evaluate(BLUR)
        page.wait_for_timeout(200)
        changed = np.abs(lit - grey(page, stop["box"])) > 40
        assert changed.sum() > 30, stop
    context.close()


@pytest.mark.parametrize("where", ["cube", "mtsa", "tensor", "coin", "similarity"])
def test_a_figure_says_what_keys_choose_in_it(page, here, where):
    opened(page, here, where)
    next(stop for stop in stops(page) if stop["tag"] == "CANVAS" and not stop["strip"])
    regions = page.locator(":is(.sentence, .heard)[aria-live=polite]", has_text=" ")
    live_region, heard = regions.locator("visible=true").first, set()
    for key in ("n", "n", "ArrowUp", "ArrowLeft", "ArrowRight"):
        page.keyboard.press(key)
        heard.add(live_region.inner_text())
    assert len(heard) > 2 and all(len(one) > 10 for one in heard), heard
    assert page.evaluate(FOCUSED)["tag"] == "CANVAS"
