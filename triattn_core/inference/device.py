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

from triattn_core.errors import NO_MEMORY, ConfigError, TriattnError, describe_machine_failure, is_machine_failure
from triattn_core.inference import preload

VARIABLE = "TRIATTN_DEVICE"
KINDS = ("cuda", "mps", "cpu")
PACKAGES = ("torch", "transformers", "streamlit")


@dataclass(frozen=True)
class Device:
    """The device that runs the models: `name` as in torch (`cuda:0`), `title` for display; memory in bytes.

    chosen_by: "option", the name of the environment variable, or "found" if it was detected.
    """

    name: str
    title: str
    free: int
    total: int
    cores: int
    chosen_by: str
    versions: tuple[tuple[str, str], ...]


def choose_device(name: str | None = None) -> str:
    """The torch name of the device to use: `name`, else the environment variable, else CUDA, then MPS, then CPU.

    Raises ConfigError if the name is unknown or the machine has no such device.
    """
    preload.wait()
    import torch

    requested = (name or os.environ.get(VARIABLE, "")).strip().lower()
    present = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if not requested:
        return next(kind for kind in KINDS if present[kind])
    kind, _, number = requested.partition(":")
    if kind not in KINDS or (number and not number.isdecimal()):
        raise ConfigError(f"device {requested!r}: expected {', '.join(KINDS)} or cuda:0, cuda:1, …")
    if not present[kind] or (kind == "cuda" and int(number or 0) >= torch.cuda.device_count()):
        available = ", ".join(k for k in KINDS if present[k])
        raise ConfigError(f"device {requested!r} is not on this machine, which has {available}; leave {VARIABLE} unset")
    return requested


def describe_device(name: str | None = None) -> Device:
    """The chosen device, its free memory, and versions. Raises ConfigError as `choose_device`."""
    device = choose_device(name)
    memory = psutil.virtual_memory()
    free, total, title = memory.available, memory.total, "CPU"
    if device.startswith("cuda"):
        import torch

        free, total = torch.cuda.mem_get_info(device)
        title = torch.cuda.get_device_name(device)
    elif device.startswith("mps"):
        title = "Apple GPU"  # its memory is the machine's
    chosen_by = "option" if name else VARIABLE if os.environ.get(VARIABLE) else "found"
    return Device(device, title, free, total, core_count(), chosen_by, package_versions())


def gpu_count() -> int:
    """The number of CUDA devices of this machine."""
    import torch

    return torch.cuda.device_count()


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
    """Make the allocator on Linux keep freed memory for reuse instead of returning it page by page.

    Call it before long computations on many tensors, where page faults can take much of the time.  It does nothing on
    other systems.
    """
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return
    for parameter, value in ((-3, 2**31 - 1), (-1, 2**31 - 1), (-2, 256 << 20)):  # M_MMAP_THRESHOLD, TRIM, TOP_PAD
        mallopt(parameter, value)


@contextmanager
def memory_guard(purpose: str) -> Iterator[None]:
    """Turn an out-of-memory error, on a GPU or CPU, into a TriattnError with a remedy, and that of a failed device into
    one line."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # torch.OutOfMemoryError is a RuntimeError; the CPU's allocator raises a plain one.
        if not is_machine_failure(error):
            raise
        if not isinstance(error, MemoryError) and not any(part in str(error).lower() for part in NO_MEMORY):
            raise TriattnError(f"The device failed ({describe_machine_failure(error)}).") from None
        _empty_cache()
        raise TriattnError(f"Not enough memory for {purpose}: use shorter texts or fewer checkpoints.") from None


def _empty_cache() -> None:
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
