"""Time and peak memory of one call."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil
import torch

LEAST = 0.3  # seconds over which a call is measured, three times at least


@dataclass(frozen=True)
class Measured:
    """Median `seconds` of a call, and the most memory it held at a time beyond what was there, in bytes.

    With one thread on a CPU they are seconds of the processor: what the clock says of a machine that does nothing else.
    """

    seconds: float
    peak: int


def measure(call: Callable[[], object], device: str) -> Measured:
    """One call alone; see `in_turn`."""
    return in_turn({"": call}, device)[""]


def in_turn(calls: Mapping[str, Callable[[], object]], device: str, least: float | None = None) -> dict[str, Measured]:
    """Each call until `least` seconds of it are over (None: LEAST), three times at least, after one to warm up.

    They take turns, so that a machine that slows down slows all of them.
    """
    for call in calls.values():
        call()
    peaks = {name: _peak(call, device) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    least = LEAST if least is None else least
    now = time.process_time if device == "cpu" and torch.get_num_threads() == 1 else time.perf_counter
    while waiting := [name for name, spent in times.items() if sum(spent) < least or len(spent) < 3]:
        for name in waiting:
            _wait(device)
            start = now()
            calls[name]()
            _wait(device)
            times[name].append(now() - start)
    return {name: Measured(median(spent), peaks[name]) for name, spent in times.items()}


def free(device: str) -> int:
    """Free memory of the device, in bytes."""
    return torch.cuda.mem_get_info()[0] if device == "cuda" else psutil.virtual_memory().available


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def _peak(call: Callable[[], object], device: str) -> int:
    gc.collect()
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        call()
        return torch.cuda.max_memory_allocated() - before
    ctypes.CDLL("libc.so.6").malloc_trim(0)  # what is free goes back, so that the resident size is what is held
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts anew (Linux, proc(5))
    before = _status("VmRSS")
    call()
    return max(0, _status("VmHWM") - before)


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])
