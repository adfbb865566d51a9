"""The words that a visitor sees on a page before scrolling.

`python -m tests.bench.first_words [--against REV] [PAGE …]`: for each page, in a browser of 1440 × 900, the words in
sight once it rests, those of labels and fields among them; what canvases paint is not counted.  `--against` counts
those of another commit too.
"""

from __future__ import annotations

import argparse
import sys

from playwright.sync_api import Page, sync_playwright

from tests.bench.first_views import checkouts
from tests.browser.conftest import ARGS, rest
from tests.conftest import chromium_path
from tests.soak.server import serving

PAGES = (
    "", "studies", "cube", "side_by_side", "intervene", "context", "attribute", "heads", "open", "compare", "cases",
    "case_book", "laboratory", "mtsa", "tensor", "coin", "similarity", "distributions", "third_order", "results",
    "checkpoints",
)  # fmt: skip
IN_SIGHT = """() => {
  let words = 0;
  const visit = (under) => {
    for (const one of under.querySelectorAll("*")) {
      if (one.shadowRoot) visit(one.shadowRoot);
      if (one.matches("style, script, [aria-live]") || !one.checkVisibility({ visibilityProperty: true })) continue;
      const texts = [...one.childNodes].filter((node) => node.nodeType === 3);
      if (one.matches("input, textarea")) texts.push(one.value);
      for (const text of texts) {
        const box = document.createRange();
        if (text.nodeType) box.selectNodeContents(text);
        else box.selectNode(one);
        const { top, bottom, width } = box.getBoundingClientRect();
        if (width < 2 || bottom <= 0 || top >= innerHeight) continue;
        const whole = (text.nodeType ? text.textContent : text).match(/\\S+/g)?.length ?? 0;
        words += Math.round(whole * (Math.min(bottom, innerHeight) - Math.max(top, 0)) / (bottom - top));
      }
    }
  };
  visit(document.body);
  return words;
}"""


def count(page: Page, port: int, name: str) -> int:
    """Words in sight on a page of the app at this port."""
    page.goto(f"http://127.0.0.1:{port}/{name}")
    page.wait_for_selector("h1, h2, canvas, [data-testid=stMarkdown]", timeout=120_000)
    rest(page, 3000)
    return page.evaluate(IN_SIGHT)


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*")
    parser.add_argument("--against", help="a commit, such as HEAD~1")
    options = parser.parse_args()
    pages = options.pages or PAGES
    counts: dict[str, list[int]] = {name: [] for name in pages}
    with sync_playwright() as playwright, checkouts(options.against) as roots:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGS)
        for root in roots.values():
            with serving(root) as (port, _):
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                for name in pages:
                    counts[name].append(count(page, port, name))
                    print(f"{name or 'first'}: {counts[name][-1]}", file=sys.stderr)
                page.close()
    print(f"{'page':16}", *(f"{version:>12}" for version in roots))
    for name, found in counts.items():
        print(f"{name or 'first':16}", *(f"{words:12}" for words in found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
