"""What counts a long computation of a command on stderr: a bar on a terminal, in a log a line every ten seconds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from tqdm import tqdm

from triattn_core.inference.pause import run_by

AFTER = 2.0  # seconds, before which nothing is said
EVERY = 10.0  # seconds between two lines of a log


class LogBar:
    """A bar of `tqdm` for what is no terminal: `what: 24 of 200 rows, 10 s, 2.4 rows a second, about 73 s left`, a
    line each time.

    total: None where it is not known.  initial: parts that were done before, which do not count for the rate.
    """

    def __init__(self, title: str, total: int | None, unit: str):
        self.what, self.total, self.unit, self.n = title, total, unit, 0
        self.initial = 0
        self._facts = ""
        self._start = monotonic()
        self._next, self._said = self._start + AFTER, -1

    def __enter__(self) -> LogBar:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def update(self, n: int | float | None = 1) -> None:
        """Counts on."""
        self.n += int(n or 0)
        if monotonic() >= self._next:
            self._say()
            self._next = monotonic() + EVERY

    def set_postfix(self, refresh: bool = True, **facts: object) -> None:
        """Facts that stand after the count."""
        self._facts = "".join(f", {name} {value}" for name, value in facts.items())

    def close(self) -> None:
        """Says the last count, where a line was said before it."""
        if 0 <= self._said < self.n:
            self._say()

    def _say(self) -> None:
        seconds = monotonic() - self._start
        of_total = "" if self.total is None else f" of {self.total:,}"
        line = f"{self.what}: {self.n:,}{of_total} {self.unit}{'s' * ((self.total or self.n) != 1)}, {seconds:.0f} s"
        if self.total and self.initial < self.n < self.total:
            rate = (self.n - self.initial) / seconds
            line += f", {rate:,.{0 if rate >= 10 else 2}f} {self.unit}s a second"
            line += f", about {(self.total - self.n) / rate:.0f} s left"
        print(line + self._facts, file=sys.stderr, flush=True)
        self._said = self.n


def bar(title: str, total: int | None = None, unit: str = "row") -> tqdm | LogBar:
    """A progress bar, or a log line without a terminal, as a context manager."""
    if sys.stderr.isatty():
        return tqdm(total=total, unit=unit, desc=title)
    return LogBar(title, total, unit)


def resume_at(bar: tqdm | LogBar, done: int) -> None:
    """Begin a bar with what earlier runs have done; rate and time left follow from the rest alone."""
    bar.n = bar.initial = done
    if isinstance(bar, tqdm):
        bar.last_print_n = done


class ProgressLine:
    """A runner that counts: each computation in turn, as `inference.pause` hears of it."""

    def __init__(self, title: str):
        self.what = title
        self._bar: tqdm | LogBar | None = None

    def pause(self) -> None:
        """Nobody else waits."""

    def progress(self, done: int, total: int) -> None:
        """Counts on, or begins anew with another computation."""
        if self._bar is None or self._bar.total != total or done < self._bar.n:
            self.close()
            self._bar = self._begin(total)
        self._bar.update(done - self._bar.n)

    def _begin(self, total: int) -> tqdm | LogBar:
        if not sys.stderr.isatty():
            return LogBar(self.what, total, "part")
        return tqdm(total=total, desc=self.what, delay=AFTER, mininterval=1.0, leave=False)

    def close(self) -> None:
        """Ends the line."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


@contextmanager
def count_progress(title: str) -> Iterator[None]:
    """Context in which long computations show their progress on stderr."""
    line = ProgressLine(title)
    try:
        with run_by(line):
            yield
    finally:
        line.close()
