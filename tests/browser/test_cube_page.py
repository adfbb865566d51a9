"""The cube explorer in a real browser: as an offline page over a made-up trace, and as a page of the app."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.unit.test_views_cube import CONTEXT, A, B, head, make
from triattn_core.checkpoint import metadata, registry
from triattn_core.trace import Choice
from triattn_core.trace.distribution import Distribution
from triattn_core.views import cube
from triattn_core.views.lib import cell
from triattn_core.views.lib.strongest import strongest

CANVAS = ".triattn canvas"
TEXTS = {"a": "Unhappy cats <img src=x onerror=boom()>", "b": "ok 😀"}
PAIR = {"a": "How do I learn to play the guitar?", "b": "How do I learn to play chess?"}
STEP = """(keys) => keys.map((key) => {
  const canvas = document.querySelector(".triattn canvas"), start = performance.now();
  canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  return new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now() - start))));
}).at(-1)"""


@pytest.fixture(scope="module")
def trace():
    return make(A, B, CONTEXT, texts=TEXTS)


def large():
    """64 × 64 × 131 tokens, one head."""
    word = [(f"w{i}", "a", 3 * i, 3 * i + 2) for i in range(64)]
    other, special = [(name, "b", start, end) for name, _, start, end in word], ("[SEP]", "", 0, 0)
    text = " ".join(f"{i:02d}" for i in range(64))
    return make(word, other, [special, *word, special, *other, special], heads=1, texts={"a": text, "b": text})


def opened(page, tmp_path: Path, trace, choice: Choice) -> None:
    file = tmp_path / "cube.html"
    file.write_text(cube.figure(Distribution(trace, choice)).html(), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector(f"{CANVAS}[data-cell]")


def chosen(page) -> list[int]:
    return [int(i) for i in page.locator(CANVAS).get_attribute("data-cell").split(".")]


def facts(page) -> dict[str, str]:
    names, values = page.locator(".triattn dt").all_inner_texts(), page.locator(".triattn dd").all_inner_texts()
    return dict(zip(names, values))


def number(text: str) -> float:
    return float(text.replace("−", "-").replace("×", "").replace("%", "").replace(",", "").replace("≈", ""))


def test_it_opens_on_the_strongest_content_words_and_says_their_exact_numbers(page, tmp_path, trace):
    opened(page, tmp_path, trace, head(2))
    assert chosen(page) == cube.figure(Distribution(trace, head(2))).payload["cell"]
    numbers = cell.numbers_of(Distribution(trace, head(2)), dict(zip(cube.NEEDS, chosen(page))))
    assert number(page.locator(".triattn .value strong").inner_text()) == pytest.approx(numbers["weight"], rel=6e-3)
    assert number(facts(page)["share of all mass"]) == pytest.approx(100 * numbers["share"], rel=6e-3)
    assert number(facts(page)["relevance, centred"]) == pytest.approx(numbers["relevance"], rel=6e-3)
    assert facts(page)["rank in this query"].endswith(" of 16")
    assert "sum to 1.000000" in page.locator(".triattn .notes").text_content()


def test_keys_step_through_rows_columns_depth_and_the_strongest(page, tmp_path, trace):
    opened(page, tmp_path, trace, head(0))
    page.locator(CANVAS).focus()
    order = strongest(Distribution(trace, head(0)), 3)[["query_at", "key_at", "context_at"]].to_numpy().tolist()
    assert chosen(page) == order[0]
    for wanted in order[1:]:
        page.keyboard.press("n")
        assert chosen(page) == wanted
    assert page.locator(".triattn tr[aria-selected=true] td").first.inner_text() == "3"
    for key in ["ArrowUp"] * 3 + ["ArrowLeft"] * 2 + ["["] * 8:
        page.keyboard.press(key)
    assert chosen(page) == [0, 0, 0]
    for key in ("ArrowDown", "ArrowRight", "]", "]"):
        page.keyboard.press(key)
    assert chosen(page) == [1, 1, 2]


def test_a_click_in_each_panel_moves_its_two_axes(page, tmp_path, trace):
    opened(page, tmp_path, trace, head(0))
    cell_names = page.evaluate(
        """(selector) => {
          const canvas = document.querySelector(selector), edge = canvas.getBoundingClientRect(), found = [];
          for (let y = 40; y < edge.height; y += 12) for (let x = 20; x < edge.width; x += 12) {
            const at = { clientX: edge.left + x, clientY: edge.top + y, bubbles: true };
            canvas.dispatchEvent(new PointerEvent("pointerdown", at));
            found.push(canvas.dataset.cell);
          }
          return found;
        }""",
        CANVAS,
    )
    cells = [tuple(map(int, name.split("."))) for name in cell_names]
    assert [sorted({one[axis] for one in cells}) for axis in range(3)] == [[*range(n)] for n in (3, 2, 8)]
    steps = [{axis for axis in range(3) if one[axis] != other[axis]} for one, other in zip(cells, cells[1:])]
    assert all(len(step) < 3 for step in steps)  # a click never moves the axis that its panel cuts


def test_what_users_type_is_never_html(page, tmp_path, trace):
    opened(page, tmp_path, trace, head(0))
    assert page.locator(".triattn img").count() == 0
    assert page.locator(".triattn .texts p").first.inner_text().endswith(TEXTS["a"])


def test_a_reader_without_eyes_is_told(page, tmp_path, trace):
    opened(page, tmp_path, trace, head(0))
    canvas = page.locator(CANVAS)
    assert canvas.get_attribute("role") == "application" and "3 query × 2 key × 8" in canvas.get_attribute("aria-label")
    assert page.locator(".triattn [aria-live=polite]").inner_text().endswith(".")


@pytest.mark.parametrize("width", [1280, 800, 400])
def test_nothing_is_wider_than_the_page(page, tmp_path, trace, width):
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, tmp_path, trace, head(0, "layer.0/a_over_b/relevance"))
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_picture_and_drawing_can_be_saved(page, tmp_path, trace):
    opened(page, tmp_path, trace, head(0))
    for ending, start in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with page.expect_download() as download:
            page.evaluate(
                "(detail) => window.dispatchEvent(new CustomEvent('triattn-export', { detail }))",
                {"format": ending, "name": "cube"},
            )
        saved = Path(download.value.path()).read_bytes()
        assert download.value.suggested_filename == f"cube.{ending}" and saved.startswith(start)
        assert ending == "png" or b"&#60;img" in saved and b"<img" not in saved


def tri_checkpoint():
    """The checkpoint that the page opens on: an English one where there is one."""
    entries = [entry for entry in sorted(registry.list_checkpoints(), key=metadata.sort_key) if entry.problem is None]
    names = [entry.name for entry in entries if entry.config.get("model", {}).get("mechanism") == "tri"]
    if not names:
        pytest.skip("no Tri-Attention checkpoint: train one, or copy the folder checkpoints/")
    return names[0]


def settled(page, cell_text: str | None = None) -> None:
    wanted = f'[data-cell="{cell_text}"]' if cell_text else ""
    page.wait_for_selector(f'{CANVAS}{wanted}[data-exact="true"]')


def test_the_page_shows_the_exact_numbers_of_the_cell_in_its_link(page, app):
    from triattn_core.checkpoint import bundle
    from triattn_core.inference import explain
    from triattn_core.tasks import pairs

    name = tri_checkpoint()
    link = {**PAIR, "checkpoint": name, "layer": 1, "head": 2, "direction": "B over A", "cell": "2.1.5"}
    page.goto(f"{app}/cube?{urlencode(link)}")
    settled(page, "2.1.5")
    _, trace = explain.explain(bundle.load(name), pairs.Example(PAIR["a"], PAIR["b"]))
    choice = Choice("layer.0/b_over_a/weight", index=(("head", 1),))
    numbers = cell.numbers_of(Distribution(trace, choice), {"query": 2, "key": 1, "context": 5})
    assert number(page.locator(".triattn .value strong").inner_text()) == pytest.approx(numbers["weight"], rel=6e-3)
    assert number(facts(page)["relevance, centred"]) == pytest.approx(numbers["relevance"], abs=6e-3)


def test_a_click_sends_little_and_its_link_opens_the_same_view(page, app):
    tri_checkpoint()
    received = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    page.goto(f"{app}/cube?{urlencode({**PAIR, 'quantity': 'relevance', 'head': 2})}")
    settled(page)
    page.wait_for_timeout(500)
    first, before = sum(received), len(received)
    started = time.perf_counter()
    page.locator(CANVAS).focus()
    page.keyboard.press("]" if chosen(page)[2] == 0 else "[")
    settled(page)
    took = time.perf_counter() - started
    page.wait_for_function("location.search.includes('cell=')")
    sent = sum(received[before:])
    print(f"\nfirst page {first / 1000:.0f} kB; a step: {sent / 1000:.1f} kB, exact number after {1000 * took:.0f} ms")
    assert sent < 15_000
    numbers, at = page.locator(".triattn .inspector").inner_text(), chosen(page)
    page.goto(page.url)
    settled(page, ".".join(map(str, at)))
    assert page.locator(".triattn .inspector").inner_text() == numbers


def test_the_server_compresses_what_it_sends(app):
    host, port = app.removeprefix("http://").split(":")
    asked = {
        "Host": f"{host}:{port}",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Extensions": "permessage-deflate",
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in asked.items())
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall(f"GET /_stcore/stream HTTP/1.1\r\n{head}\r\n".encode())
        assert "permessage-deflate" in connection.recv(4096).decode()
