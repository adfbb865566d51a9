"""A line on stderr that counts a long computation of a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from triattn_core.inference.pause import run_by

AFTER = 2.0  # seconds, before which nothing is said


class ProgressLine:
    """A runner that counts: each computation in turn, as `inference.pause` hears of it."""

    def __init__(self, what: str):
        self.what = what
        self._bar: tqdm | None = None

    def pause(self) -> None:
        """Nobody else waits."""

    def progress(self, done: int, total: int) -> None:
        """Counts on, or begins anew with another computation."""
        if self._bar is None or self._bar.total != total or done < self._bar.n:
            self.close()
            self._bar = tqdm(total=total, desc=self.what, delay=AFTER, mininterval=1.0, leave=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Ends the line."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


@contextmanager
def counted(what: str) -> Iterator[None]:
    """Within the block, long computations are counted on stderr."""
    line = ProgressLine(what)
    try:
        with run_by(line):
            yield
    finally:
        line.close()
