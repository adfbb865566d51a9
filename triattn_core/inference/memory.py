"""Memory of a server that runs for days: modules are not searched for garbage, freed memory is given back."""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread

EVERY = 2.0  # seconds between two looks
MANY = 200  # new modules from which on what they hold is frozen

_frozen_modules = 0
_lock = Lock()


def freeze_modules() -> None:
    """Keeps the garbage collector from what imports have made, once many modules are new.

    Streamlit collects after each run of a page.  With torch and transformers imported that is a walk over 560,000
    objects, in which no other thread runs; none of them is ever garbage.
    """
    global _frozen_modules
    with _lock:
        if len(sys.modules) - _frozen_modules < MANY:
            return
        _frozen_modules = len(sys.modules)
    gc.collect()
    gc.freeze()


def return_freed() -> None:
    """Gives memory that was freed back to the system, where its allocator can (Linux)."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


class Housekeeper:
    """Gives freed memory back once work has ended, and drops what is kept for visitors once none is left.

    busy: whether anything computes.  anybody: whether a visitor is there.  drop: makes what is kept less.
    """

    def __init__(self, busy: Callable[[], bool], anybody: Callable[[], bool], drop: Callable[[], None]):
        self._busy, self._anybody, self._drop = busy, anybody, drop
        self._worked, self._lock = False, Lock()
        self._thread: Thread | None = None

    @property
    def is_awake(self) -> bool:
        """Whether a thread looks after work and visitors."""
        return self._thread is not None

    def wake(self) -> None:
        """There is, or was, work; a thread looks after it until the last visitor has gone."""
        with self._lock:
            self._worked = True
            if self._thread is None:
                self._thread = Thread(target=self._keep, name="housekeeper", daemon=True)
                self._thread.start()

    def _keep(self) -> None:
        while True:
            time.sleep(EVERY)
            if self._busy():
                continue
            with self._lock:
                anybody, worked = self._anybody(), self._worked
                self._worked = False
                if not anybody and not worked:
                    self._thread = None
            if not anybody:
                self._drop()
            if worked or not anybody:
                return_freed()
            if not anybody and not worked:
                return
