"""What a newcomer meets: `python -m tests.bench.first_screen [--against REV] [PAGE …]`.

Of each page the words that stand within the first 900 pixels of a window 1440 wide (text of the page; not the bar on
top, what is typed in fields, or what is drawn on a canvas), and of Start, on a fresh server each time, the milliseconds
from the first answer of the server until its figure is drawn and from a click on a language until the answer changes;
beside them the same of a Streamlit app that is one line of text.
`--against` measures another commit too, in turn.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, sync_playwright

from pages.shared.navigation import FIRST, TABS
from tests.bench.browser_views import DONE
from tests.bench.first_views import checkouts
from tests.browser.conftest import ARGS
from tests.conftest import chromium_path
from tests.soak.server import serving

WIDTH, HEIGHT = 1440, 900
WORD = r"[^\W\d_][\w’'-]*"
TEXTS = """height => {
  const texts = [];
  const read = (under) => under.querySelectorAll("*").forEach((one) => {
    if (one.shadowRoot) read(one.shadowRoot);
    if (one.matches("[data-testid=stIconMaterial], style, script") || !one.checkVisibility()) return;
    if (one.closest(".st-key-copy-link-button, [data-testid=stSkeleton]")) return;
    for (const part of one.childNodes) {
      if (part.nodeType !== Node.TEXT_NODE || !part.data.trim()) continue;
      const range = document.createRange();
      range.selectNode(part);
      const { top, bottom, width } = range.getBoundingClientRect();
      if (width > 1 && bottom > 0 && top < height) texts.push(part.data.trim());
    }
  });
  read(document.querySelector("[data-testid=stMain]"));
  return texts;
}"""
CLICK = """(start, chip) => new Promise((done) => {
  const begun = performance.now(), says = start.querySelector(".tri .says");
  new MutationObserver(() => done(performance.now() - begun)).observe(says, { childList: true, subtree: true });
  start.querySelectorAll(".chips button")[chip].click();
})"""


def words(page: Page) -> int:
    """How many stand within the first HEIGHT pixels, once the page no longer changes."""
    counts: list[int] = []
    while len(counts) < 60 and (len(counts) < 3 or len(set(counts[-3:])) > 1):
        page.wait_for_timeout(700)
        page.wait_for_function(DONE, timeout=240_000)
        counts.append(len(re.findall(WORD, " ".join(page.evaluate(TEXTS, HEIGHT)))))
    return counts[-1]


def by_page(browser: Browser, root: Path, names: list[str]) -> dict[str, int]:
    """Words by page of a checkout; a page that it does not have is missing."""
    counts = {}
    with serving(root) as (port, _):
        for name in names:
            if (root / "pages" / name).is_dir() or name == FIRST:
                page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
                page.goto(f"http://127.0.0.1:{port}/{'' if name == FIRST else name}")
                page.wait_for_selector("h1", state="attached", timeout=240_000)
                counts[name] = words(page)
                page.close()
    return counts


def start_times(browser: Browser, root: Path) -> tuple[float, float]:
    """Milliseconds until the first figure of a fresh server of a checkout, and the median of those after a click."""
    with serving(root) as (port, _):
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        begun = time.perf_counter()
        page.goto(f"http://127.0.0.1:{port}", wait_until="commit")
        page.locator(".start .tri polygon").first.wait_for()
        first = time.perf_counter() - begun
        words(page)  # at rest: a figure that is mounted again is another element
        clicks = [page.locator(".start").evaluate(CLICK, chip) for chip in (1, 2, 0)]
        page.close()
    return 1000 * first, median(clicks)


def line_time(browser: Browser) -> float:
    """Milliseconds until a fresh server of an app that is one line of text has shown it."""
    with TemporaryDirectory() as folder:
        script = Path(folder, "line.py")
        script.write_text('import streamlit as st\n\nst.html("<p class=line>one line</p>")\n', "utf-8")
        with serving(script=script) as (port, _):
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            begun = time.perf_counter()
            page.goto(f"http://127.0.0.1:{port}", wait_until="commit")
            page.locator(".line").wait_for()
            shown = time.perf_counter() - begun
            page.close()
    return 1000 * shown


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", help="all, unless named")
    parser.add_argument("--against", help="a commit, such as HEAD~1")
    parser.add_argument("--repeat", type=int, default=3, help="fresh servers for the times of Start (0: none)")
    options = parser.parse_args()
    names = options.pages or list(TABS)
    with sync_playwright() as started, checkouts(options.against) as roots:
        browser = started.chromium.launch(executable_path=chromium_path(), args=ARGS)
        for version, root in [*roots.items()] * options.repeat:
            if (root / "pages" / FIRST).is_dir():
                drawn, click = start_times(browser, root)
                least = f"one line of Streamlit's {line_time(browser):.0f} ms"
                print(f"{FIRST} {version}: first figure {drawn:.0f} ms, {least}, a click {click:.1f} ms", flush=True)
        counted = {version: by_page(browser, root, names) for version, root in roots.items()}
        browser.close()
    print(f"{'words':14} " + " ".join(f"{version:>12}" for version in counted))
    for name in names:
        print(f"{name:14} " + " ".join(f"{counts.get(name, '-'):>12}" for counts in counted.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
