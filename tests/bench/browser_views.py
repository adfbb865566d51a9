"""What a person waits for in a browser: `python -m tests.bench.browser_views [PAGE …]`, seconds.

Each page, as it opens by itself, in a browser without a cache, on a fresh server of its own once its imports are done:
until its heading, its first figure, and until nothing moves any more, from the moment the address is asked for.
"""

from __future__ import annotations

import argparse
import sys
import time

from playwright.sync_api import Page, sync_playwright

from tests.bench.first_views import PAGES, await_imports
from tests.browser.conftest import ARGS
from tests.conftest import chromium_path
from tests.soak.server import ROOT, serving

COLUMNS = ("heading", "first figure", "all")
MAIN = 'document.querySelector("[data-testid=stMain]")'
HEADING = f"{MAIN}?.querySelector('h1')?.getClientRects().length > 0"
# A canvas, chart, picture or map that is drawn and larger than a strip; those of a component stand in its shadow.
FIGURE = f"""(() => {{
  const drawn = "canvas, svg, img, .t-maps table, .t-beside, .t-marks, .t-whole";
  const roots = [{MAIN}, ...({MAIN}?.querySelectorAll("*") ?? [])].map((one) => one?.shadowRoot ?? null);
  return [{MAIN}, ...roots].filter(Boolean).flatMap((root) => [...root.querySelectorAll(drawn)]).some((one) => {{
    const box = one.getBoundingClientRect();
    return box.width > 150 && box.height > 60 && !one.closest("[data-testid=stSkeleton]");
  }});
}})()"""
DONE = """document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning"
  && !document.querySelector("[data-testid=stSkeleton]")"""


def view(page: Page, address: str) -> dict[str, float]:
    """Seconds to each of COLUMNS; what does not come in two minutes is missing."""
    begun, seen = time.perf_counter(), {}
    page.goto(address, wait_until="commit")
    waited = dict(zip(COLUMNS, (HEADING, FIGURE, DONE)))
    while waited and time.perf_counter() - begun < 120:
        for name in [name for name, script in waited.items() if page.evaluate(script)]:
            seen[name] = time.perf_counter() - begun
            del waited[name]
        page.wait_for_timeout(20)
    return seen


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    print(f"{'page':14} " + " ".join(f"{name:>12}" for name in COLUMNS), flush=True)
    with sync_playwright() as started:
        for name in options.pages or PAGES:
            with serving(ROOT) as (port, server):
                await_imports(server)
                browser = started.chromium.launch(executable_path=chromium_path(), args=ARGS)
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                seen = view(page, f"http://127.0.0.1:{port}/{'' if name == 'start' else name}")
                browser.close()
            print(f"{name:14} " + " ".join(f"{seen.get(column, float('nan')):12.2f}" for column in COLUMNS), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
