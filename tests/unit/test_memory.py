"""Memory of a server: what modules hold is not searched for garbage."""

from __future__ import annotations

import subprocess
import sys
import time

from triattn_core.inference import memory
from triattn_core.inference.memory import Housekeeper

CODE = """
import gc, time
from triattn_core.checkpoint import bundle
from pages.shared import models

def walk():
    started = time.thread_time()
    gc.collect(2)
    return time.thread_time() - started

walk()
before = walk()
models.MODELS.load(models.entries()[0])
print(before, walk())
"""


def test_once_a_model_is_loaded_a_collection_takes_next_to_nothing():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=120, check=True)
    before, after = map(float, done.stdout.split())
    assert after < before / 5, (before, after)


def test_what_is_kept_is_dropped_once_the_last_visitor_has_gone_and_work_has_ended(monkeypatch):
    monkeypatch.setattr(memory, "EVERY", 0.02)
    busy, visitors, dropped = [True], [1], []
    keeper = Housekeeper(lambda: bool(busy), lambda: bool(visitors), lambda: dropped.append(time.monotonic()))
    keeper.wake()
    time.sleep(0.2)
    visitors.clear()
    assert not dropped  # a job still runs
    visitors.append(1)
    busy.clear()
    time.sleep(0.2)
    assert not dropped
    visitors.clear()
    until = time.monotonic() + 5
    while keeper.is_awake and time.monotonic() < until:
        time.sleep(0.01)
    assert dropped and not keeper.is_awake  # it has nothing more to look after
    keeper.wake()
    assert keeper.is_awake
