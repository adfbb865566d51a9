"""How long a rerun of each page takes when nothing changes: the seconds of a click on which no model runs.

    python -m tests.bench.reruns [page …] [--repeat 5]

Prints a line a page: CPU seconds of the first run, the median and the longest of the reruns, and the checkpoint
folders parsed in one rerun.  Runs in one process without a browser, so it leaves out what is sent and drawn.
"""

from __future__ import annotations

import argparse
import statistics
import time

from streamlit.testing.v1 import AppTest

from tests.support.pages import APP, app_test, at_page
from triattn_core.checkpoint import registry

PAGES = sorted(path.parent.name for path in (APP.parent / "pages").glob("*/page.py"))


def seconds_of(app: AppTest) -> float:
    """The CPU seconds of one run, of all threads: what else the machine does hardly matters."""
    start = time.process_time()
    app.run()
    return time.process_time() - start


def folders_parsed(app: AppTest) -> int:
    """How many checkpoint folders one rerun parses."""
    before = registry.parse_folder.cache_info().misses
    app.run()
    return registry.parse_folder.cache_info().misses - before


def measure(page: str, repeat: int) -> tuple[float, list[float], int]:
    """Seconds of the first run, of each rerun, and the folders that a rerun parses."""
    app = at_page(app_test(300), page)
    first = seconds_of(app)
    app.run()  # the second run still fills caches
    return first, [seconds_of(app) for _ in range(repeat)], folders_parsed(app)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", default=PAGES)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    medians = []
    print(f"{'page':14} {'first':>7} {'median':>7} {'max':>7} {'folders':>8}")
    for page in arguments.pages:
        first, times, folders = measure(page, arguments.repeat)
        medians.append(statistics.median(times))
        print(f"{page:14} {first:7.2f} {medians[-1]:7.3f} {max(times):7.3f} {folders:8}", flush=True)
    print(f"{'mean':14} {'':7} {statistics.mean(medians):7.3f}")


if __name__ == "__main__":
    main()
