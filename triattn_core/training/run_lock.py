"""Locks of run folders: two commands never write the states of one run at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from triattn_core.errors import ConfigError

LOCKS = ".locks"  # a folder of empty files in that of the runs; a run's own folder is removed and made again


@contextmanager
def lock_runs(runs: Path, names: Iterable[str]) -> Iterator[None]:
    """Keep other commands off the folders `names` in `runs`.  The system unlocks them when this process ends, however
    it ends.

    Raises ConfigError if another command has one of them.
    """
    (runs / LOCKS).mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        for name in dict.fromkeys(names):
            try:
                held.enter_context(FileLock(runs / LOCKS / name, timeout=0, thread_local=False))
            except Timeout:
                reason = "another command is training there; wait for it, or name another folder with --runs"
                raise ConfigError(f"{runs / name}: {reason}") from None
        yield
