"""How long a cheap page (the cube of 20 tokens) takes while another session runs Attribute on two long texts.

`python -m tests.bench.cheap_page --pages 16`: seconds of each page until its run has ended, and their p95.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time

from tests.soak.server import serving
from tests.soak.socket_client import Tab

WORDS = "red blue car film browser movie small big play watch where what who which download not".split()


def texts(draw: random.Random, words: int) -> dict[str, str]:
    """Two texts that nobody has asked about before."""
    return {name: " ".join(draw.choices(WORDS, k=words)) for name in "ab"}


def seconds_of(port: int, page: str, **query: str) -> float:
    """From the request to the end of the page's run, in a tab of its own."""
    begun, tab = time.monotonic(), Tab(port, 600)
    tab.open_page(page, **query)
    tab.close()
    return time.monotonic() - begun


def attribute_until(ended: threading.Event, port: int) -> None:
    """Attribute in 64 steps over two texts of 56 words, again and again."""
    draw = random.Random(7)
    while not ended.is_set():
        try:
            seconds_of(port, "attribute", steps="64", **texts(draw, 56))
        except OSError:  # the server has been stopped
            return


def main() -> int:
    """Prints a line for each page, then median and p95."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=16)
    count, draw, ended = parser.parse_args().pages, random.Random(1), threading.Event()
    with serving() as (port, _):
        print(f"first cube {seconds_of(port, 'cube'):.2f}")
        alone = sorted(seconds_of(port, "cube", **texts(draw, 10)) for _ in range(5))
        threading.Thread(target=attribute_until, args=(ended, port), daemon=True).start()
        time.sleep(5)
        beside = sorted(seconds_of(port, "cube", **texts(draw, 10)) for _ in range(count))
        ended.set()
    for name, times in (("alone", alone), ("beside Attribute", beside)):
        print(f"{name}: median {times[len(times) // 2]:.2f} s, p95 {times[int(0.95 * (len(times) - 1))]:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
