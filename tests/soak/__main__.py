"""`make soak N=50 SECONDS=600 ARGS="--pause 20"`: sessions on mixed pages, each with texts of its own.

No page may fail, none may show another session's text, and the server's memory must come back after the last tab.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import threading
import time
from pathlib import Path

import psutil

from tests.soak.server import serving, used
from tests.soak.socket_client import Tab

PAGES = ("cube", "cube", "side_by_side", "similarity", "context", "intervene", "start", "checkpoints", "results")
TYPED = ("cube", "side_by_side", "similarity", "context", "intervene")  # pages that take sentences
SHOWN = ("cube", "side_by_side", "context", "intervene")  # those that send them as they were typed
WORDS = "red blue car film browser movie small big play watch where what who which download not".split()


def marker(session: int) -> str:
    """A word that stands in the texts of one session alone."""
    return f"zq{session:03d}x"


def visit(port: int, session: int, draw: random.Random, record: dict) -> None:
    """Opens one page in a new tab, and checks what it shows."""
    page = draw.choice(PAGES)
    texts = {name: " ".join([marker(session), *draw.choices(WORDS, k=5)]) for name in "ab"}
    begun, wrong, tab = time.monotonic(), "", None
    try:
        tab = Tab(port)
        messages = tab.open_page("" if page == "start" else page, **(texts if page in TYPED else {}))
        whole = b"".join(message.SerializeToString() for message in messages)
        raised = [message.delta.new_element.exception.message for message in messages
                  if message.delta.new_element.WhichOneof("type") == "exception"]  # fmt: skip
        if raised or messages[-1].script_finished != 0:
            wrong = f"{page}: {raised or 'the run failed'}"
        elif page in SHOWN and marker(session).encode() not in whole:
            wrong = f"{page}: its own text is not shown"
        elif any(marker(other).encode() in whole for other in range(record["sessions"]) if other != session):
            wrong = f"{page}: another session's text is shown"
    except (OSError, TimeoutError) as error:
        wrong = f"{page}: {error!r}"
    finally:
        if tab:
            tab.close()
    record["visits"].append((page, time.monotonic() - begun, wrong))


def soak(port: int, server: psutil.Process, sessions: int, seconds: float, pause: float = 0.0, seed: int = 1) -> dict:
    """The report of so many sessions at once.  pause: mean seconds for which a session reads a page."""
    record = {"sessions": sessions, "visits": []}
    for page in dict.fromkeys(PAGES):  # what is loaded once is loaded
        warm: dict = {"sessions": sessions, "visits": []}
        visit(port, 0, _Only(page), warm)
    time.sleep(6)  # what was made for nobody is dropped
    until, (before, worked) = time.monotonic() + seconds, used(server)
    peak = [before]

    def session(number: int) -> None:
        draw = random.Random(f"{seed}:{number}")
        while time.monotonic() < until:
            if pause:
                time.sleep(draw.expovariate(1 / pause))
            visit(port, number, draw, record)
            peak[0] = max(peak[0], used(server)[0])

    threads = [threading.Thread(target=session, args=(number,)) for number in range(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    worked = used(server)[1] - worked
    time.sleep(2)
    cpu = used(server)[1]
    time.sleep(4)
    idle = (used(server)[1] - cpu) / 4
    times = sorted(took for _, took, _ in record["visits"])
    by_page: dict[str, list[float]] = {}
    for page, took, _ in sorted(record["visits"], key=lambda one: one[1]):
        by_page.setdefault(page, []).append(round(took, 2))
    p95 = {page: some[int(0.95 * (len(some) - 1))] for page, some in by_page.items()}
    return {
        "sessions": sessions, "seconds": seconds, "pause": pause, "visits": len(times),
        "wrong": [one for *_, one in record["visits"] if one],
        "median_s": round(statistics.median(times), 2), "p95_s": round(times[int(0.95 * (len(times) - 1))], 2),
        "p95_by_page_s": p95, "processor_s_per_visit": round(worked / len(times), 2),
        "memory_before_mb": round(before), "memory_peak_mb": round(peak[0]), "memory_after_mb": round(used(server)[0]),
        "processor_after": round(idle, 3),
    }  # fmt: skip


class _Only(random.Random):
    """Draws one page."""

    def __init__(self, page: str):
        super().__init__(0)
        self.page = page

    def choice(self, some):
        return self.page if some is PAGES else super().choice(some)


def main() -> int:
    """Starts the app, runs, prints the report as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--pause", type=float, default=0.0, help="mean seconds for which a session reads a page")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with serving() as (port, server):
        report = soak(port, server, options.sessions, options.seconds, options.pause)
    print(json.dumps(report, indent=1))
    if options.out:
        options.out.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    return 1 if report["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
