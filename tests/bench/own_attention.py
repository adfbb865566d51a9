"""How long your own attention takes: all heads of a BERT-base-sized model, and a 128 × 128 × 128 cube of a file.

    python -m tests.bench.own_attention [--folder DIR]

Prints a line a measurement, beside its target.  The model has random weights and is made on the spot (350 MB in DIR).
The library's times are CPU seconds of the fastest of three; those in the browser, which needs Chromium, begin with the
address, the key or the click and end with the drawn canvas: they hold on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import torch
import transformers
from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import ARGS, serve
from tests.support.tiny_transformers import word_pieces
from triattn_core.analysis.maps.head_measures import head_table
from triattn_core.importers.open_file import open_file
from triattn_core.scenes.trace_sites import site_choice
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_trace import trace_transformer
from triattn_core.trace.distribution import Distribution
from triattn_core.trace.site import Site
from triattn_core.views import cube as cube_view
from triattn_core.views import head_grid

PAIR = ("Which browsers can play movies?", "Which browser can download a movie? unhappy cats sat")
CANVAS = "canvas[data-cell]"


def seconds(call: Callable[[], object]) -> tuple[float, object]:
    """CPU seconds of the fastest of three calls, and what it returns."""
    times = []
    for _ in range(3):
        start = time.process_time()
        result = call()
        times.append(time.process_time() - start)
    return min(times), result


def say(what: str, value: float, unit: str, target: float | None = None) -> None:
    print(f"{what:60} {value:8.3g} {unit}" + (f"  (target {target:g} {unit})" if target else ""), flush=True)


def bert(folder: Path, layers: int) -> Path:
    """A folder with a model of twelve heads a layer and a small vocabulary, else of BERT-base's size."""
    tokenizer = word_pieces()
    config = transformers.BertConfig(vocab_size=len(tokenizer), max_position_embeddings=128, num_hidden_layers=layers)
    torch.manual_seed(3)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def cube(folder: Path, side: int) -> Path:
    """A file of random weights that sum to one over key × context."""
    values = np.random.default_rng(5).random((side,) * 3) ** 4
    path = folder / "cube.npy"
    np.save(path, (values / values.sum((1, 2), keepdims=True)).astype(np.float32))
    return path


def measure_library(folder: Path) -> None:
    """Without a page: the forward pass, and all heads after it."""
    loaded = load_transformer(str(folder), local=True)
    trace_transformer(loaded, *PAIR)  # warms up
    with torch.inference_mode():
        inputs = loaded.tokenizer(*PAIR, return_tensors="pt")
        forward, _ = seconds(lambda: loaded.model(**inputs, output_attentions=True))
    whole, trace = seconds(lambda: trace_transformer(loaded, *PAIR))
    drawn, canvas = seconds(lambda: head_grid.figure(trace, head_table(trace)))
    tokens = next(iter(trace.sites.values())).sizes["key"]
    say(f"forward pass of {tokens} tokens", forward, "s")
    heads = 12 * loaded.model.config.num_hidden_layers
    say(f"trace and {heads} thumbnails with their measures, after it", whole - forward + drawn, "s", 2)
    say("sent to the browser", len(canvas.html()) / 1e6, "MB")


def measure_cube(file: Path, side: int) -> None:
    """Without a page: the file opened, and its cube as it is sent."""
    opened, trace = seconds(lambda: open_file(file))
    choice = site_choice(trace, Site.parse("attention/weight"), None)
    drawn, _ = seconds(lambda: cube_view.figure(Distribution(trace, choice), False, exact=False))
    say(f"{side} × {side} × {side} of a file read, checked and packed", opened + drawn, "s")


def timed_visit(page: Page, address: str, canvases: int = 1) -> float:
    """Seconds until so many canvases are drawn."""
    start = time.perf_counter()
    page.goto(address)
    page.locator(CANVAS).nth(canvases - 1).wait_for(timeout=200_000)
    return time.perf_counter() - start


def measure_pages(app: str, model: Path, file: Path, side: int) -> None:
    """In a browser: what a person waits for."""
    with sync_playwright() as started:
        browser = started.chromium.launch(args=ARGS, executable_path="/usr/bin/chromium")
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        query = {"from": "From a model", "model": model, "text": PAIR[0], "pair-text": PAIR[1]}
        address = f"{app}/open?{urlencode(query)}"
        say("page with all heads, model loaded and run", timed_visit(page, address, 2), "s")
        say("the same page again, run before: all 144 heads drawn", timed_visit(page, address, 2), "s", 2)

        bytes_sent = [0]

        def hear(socket) -> None:
            socket.on("framereceived", lambda frame: bytes_sent.__setitem__(0, bytes_sent[0] + len(frame)))

        page.on("websocket", hear)
        timed_visit(page, f"{app}/open")
        field = page.get_by_label("or its path on this machine")
        field.fill(str(file))
        bytes_sent[0], start = 0, time.perf_counter()
        field.press("Enter")
        page.get_by_text("cube.npy", exact=False).first.wait_for(timeout=120_000)
        page.get_by_text(f"Of {side**3:,} weights").first.wait_for(timeout=120_000)
        say(f"{side} × {side} × {side} of a file opened and drawn", time.perf_counter() - start, "s", 3)
        page.wait_for_timeout(1500)
        say("sent for it", bytes_sent[0] / 1e6, "MB", 5)
        say("a click, until it is painted", click_time(page), "ms", 50)
        browser.close()


def click_time(page: Page) -> float:
    """Median milliseconds from a pointer's press to the next painted frame with another cell."""
    script = """async (canvas) => {
      const box = canvas.getBoundingClientRect(), times = [];
      for (let i = 0; i < 9; i++) {
        const before = canvas.dataset.cell, start = performance.now();
        const place = { clientX: box.x + 80 + 23 * i, clientY: box.y + 110 + 9 * i, bubbles: true, pointerId: 1 };
        canvas.dispatchEvent(new PointerEvent("pointerdown", place));
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
        if (canvas.dataset.cell !== before) times.push(performance.now() - start);
        await new Promise((done) => setTimeout(done, 400));
      }
      return times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
    }"""
    return float(page.locator(CANVAS).first.evaluate(script))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--layers", type=int, default=12, help="of the model (default: 12)")
    parser.add_argument("--side", type=int, default=128, help="of the cube (default: 128)")
    parser.add_argument("--library", action="store_true", help="leave out the browser")
    chosen = parser.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="triattn-bench-"))
    folder.mkdir(parents=True, exist_ok=True)
    model, file = bert(folder / "bert", chosen.layers), cube(folder, chosen.side)
    measure_library(model)
    measure_cube(file, chosen.side)
    for app in () if chosen.library else serve(TRIATTN_TRACES=str(folder / "traces")):
        measure_pages(app, model, file, chosen.side)


if __name__ == "__main__":
    main()
