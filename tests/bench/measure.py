"""Time and peak memory of one call."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil
import torch


@dataclass(frozen=True)
class Measured:
    """Median `seconds` of a call, and the most memory it held at a time beyond what was there, in bytes."""

    seconds: float
    peak: int


def measure(call: Callable[[], object], device: str, least: float = 0.3) -> Measured:
    """Calls until `least` seconds are over, three times at least, after one call to warm up."""
    call()
    peak = _peak(call, device)
    times: list[float] = []
    while sum(times) < least or len(times) < 3:
        _wait(device)
        start = time.perf_counter()
        call()
        _wait(device)
        times.append(time.perf_counter() - start)
    return Measured(median(times), peak)


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
