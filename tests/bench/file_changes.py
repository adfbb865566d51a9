"""Through how many files one edit of one text on a page runs: calls from one file of ours into another.

    python -m tests.bench.file_changes [page] [--pairs 12]

Prints the files that ran, the changes of file (a call whose caller lies in another file of `triattn_core` or `pages`),
the immediate bounces A → B → A, both again without the files that wait for a model, which run the more often the slower
the machine is, and of these what the page's own thread does; the CPU seconds of the same rerun without the profile, and
the pairs of files between which calls go most.  The page runs as the app does, without a browser; its first two runs
fill caches.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from collections.abc import Collection
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.support.pages import APP, app_test, at_page

ROOT = str(APP.parent)
OURS = (f"{ROOT}/triattn_core/", f"{ROOT}/pages/", str(APP))
WAITING = (
    "pages/shared/model_jobs.py",
    *(f"triattn_core/inference/{name}.py" for name in ("jobs", "device_scheduler")),
)
EDITS = ("Where is the red car?", "Where is the blue car?", "Where is the green car?")


class FileChanges:
    """A profile of calls: of every thread the files of ours that it enters, one after another."""

    def __init__(self) -> None:
        self.entered: dict[int, list[str]] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and (name := frame.f_code.co_filename).startswith(OURS):
            entered = self.entered.setdefault(threading.get_ident(), [])
            if not entered or entered[-1] != name:
                entered.append(name)

    def without(self, names: Collection[str]) -> FileChanges:
        """The same profile, had these files not run; names: as `short` gives them."""
        other, left_out = FileChanges(), {f"{ROOT}/{name}" for name in names}
        for thread, entered in self.entered.items():
            other.entered[thread] = [name for name, _ in groupby(name for name in entered if name not in left_out)]
        return other

    def of_thread(self, thread: int) -> FileChanges:
        """What one thread ran."""
        other = FileChanges()
        other.entered = {thread: self.entered.get(thread, [])}
        return other

    @property
    def page(self) -> FileChanges:
        """What the thread ran that draws the page."""
        return self.of_thread(max(self.entered, key=lambda thread: str(APP) in self.entered[thread]))

    @property
    def files(self) -> set[str]:
        return {name for entered in self.entered.values() for name in entered}

    @property
    def changes(self) -> int:
        return sum(max(0, len(entered) - 1) for entered in self.entered.values())

    @property
    def bounces(self) -> Counter[tuple[str, str]]:
        """How often each pair of files was entered as A → B → A, by (A, B)."""
        return Counter(
            (short(first), short(second))
            for entered in self.entered.values()
            for first, second, third in zip(entered, entered[1:], entered[2:])
            if first == third
        )


def short(name: str) -> str:
    """A file as the repository names it."""
    return str(Path(name).relative_to(ROOT))


def edit(app: AppTest, text: str) -> float:
    """Types another first sentence; the CPU seconds of the run."""
    app.text_area(key="a").set_value(text)
    start = time.process_time()
    app.run()
    return time.process_time() - start


def measure(page: str) -> tuple[FileChanges, float]:
    """The profile of an edit whose model runs, and the CPU seconds of a rerun on which none does."""
    app = at_page(app_test(300), page).run()
    edit(app, EDITS[0])
    profile = FileChanges()
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        edit(app, EDITS[1])
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    edit(app, EDITS[0])
    return profile, edit(app, EDITS[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", nargs="?", default="cube")
    parser.add_argument("--pairs", type=int, default=12)
    arguments = parser.parse_args()
    profile, seconds = measure(arguments.page)
    bounces, own = profile.bounces, profile.without(WAITING)
    print(f"{len(profile.files)} files, {profile.changes:,} changes of file, {bounces.total():,} bounces")
    print(f"without the waiting for a model {own.changes:,} and {own.bounces.total():,}", end="; ")
    print(f"of these the page's own thread {own.page.changes:,} and {own.page.bounces.total():,}")
    print(f"{seconds:.3f} s of processor for a rerun on which no model runs")
    for (first, second), count in bounces.most_common(arguments.pairs):
        print(f"{count:6,}  {first} → {second} → {first}")


if __name__ == "__main__":
    main()
