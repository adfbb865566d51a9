"""Choice of the device that runs the models (CUDA, then MPS, then CPU), and facts about this machine.

Torch is imported inside the functions: a page asks for the versions or the choice before anything heavy is loaded.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import psutil

from triattn_core.errors import ConfigError, TriattnError
from triattn_core.inference import preload

VARIABLE = "TRIATTN_DEVICE"
KINDS = ("cuda", "mps", "cpu")
PACKAGES = ("torch", "transformers", "streamlit")


@dataclass(frozen=True)
class Device:
    """The device that runs the models: `name` is torch's (`cuda:0`), `title` for display; memory in bytes."""

    name: str
    title: str
    free: int
    total: int
    cores: int
    chosen: str
    versions: tuple[tuple[str, str], ...]


def choose_device(name: str | None = None) -> str:
    """The torch name of the device to use: `name`, else the environment variable, else CUDA, then MPS, then CPU.

    Raises ConfigError where the name is unknown or the machine has no such device.
    """
    preload.wait()
    import torch

    wanted = (name or os.environ.get(VARIABLE, "")).strip().lower()
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if not wanted:
        return next(kind for kind in KINDS if there[kind])
    kind, _, number = wanted.partition(":")
    if kind not in KINDS or (number and not number.isdecimal()):
        raise ConfigError(f"device {wanted!r}: expected {', '.join(KINDS)} or cuda:0, cuda:1, …")
    if not there[kind] or (kind == "cuda" and int(number or 0) >= torch.cuda.device_count()):
        available = ", ".join(k for k in KINDS if there[k])
        raise ConfigError(f"device {wanted!r} is not on this machine, which has {available}; leave {VARIABLE} unset")
    return wanted


def describe_device(name: str | None = None) -> Device:
    """The chosen device, its free memory, and versions. Raises ConfigError as `choose_device`."""
    chosen = choose_device(name)
    memory = psutil.virtual_memory()
    free, total, title = memory.available, memory.total, "CPU"
    if chosen.startswith("cuda"):
        import torch

        free, total = torch.cuda.mem_get_info(chosen)
        title = torch.cuda.get_device_name(chosen)
    elif chosen.startswith("mps"):
        title = "Apple GPU"  # its memory is the machine's
    by = "option" if name else VARIABLE if os.environ.get(VARIABLE) else "found"
    return Device(chosen, title, free, total, core_count(), by, package_versions())


def core_count() -> int:
    """The number of processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def package_versions() -> tuple[tuple[str, str], ...]:
    """Names and versions of Python and the packages that affect the numbers, without importing them."""
    versions = [("Python", sys.version.split()[0])]
    for package in PACKAGES:
        try:
            versions.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return tuple(versions)


def keep_freed_memory() -> None:
    """Makes the allocator on Linux keep freed memory for reuse instead of returning it page by page.

    For long work on many tensors, of which page faults can take a large part. Elsewhere it does nothing.
    """
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return
    for parameter, value in ((-3, 32 << 20), (-1, 2**31 - 1), (-2, 256 << 20)):  # M_MMAP_THRESHOLD, TRIM, TOP_PAD
        mallopt(parameter, value)


@contextmanager
def memory_guard(what: str) -> Iterator[None]:
    """Turns running out of memory, on a GPU or not, into one TriattnError that says what to do."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # torch.OutOfMemoryError is a RuntimeError; the CPU's allocator raises a plain one.
        text = str(error).lower()
        if not isinstance(error, MemoryError) and "out of memory" not in text and "can't allocate" not in text:
            raise
        _empty_cache()
        raise TriattnError(f"Not enough memory for {what}: use shorter texts or fewer checkpoints.") from None


def _empty_cache() -> None:
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
