"""The device: by name, by environment, by itself; memory that is kept, and running out of it as one line."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from triattn_core.errors import ConfigError, TriattnError
from triattn_core.inference import device

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch):
    """A machine with the devices that a test says."""

    def having(*kinds: str, count: int = 2) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: "cuda" in kinds)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count if "cuda" in kinds else 0)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: "mps" in kinds)

    monkeypatch.delenv(device.VARIABLE, raising=False)
    return having


def test_cuda_then_mps_then_cpu(machine) -> None:
    for kinds, first in ((("cuda", "mps"), "cuda"), (("mps",), "mps"), ((), "cpu")):
        machine(*kinds)
        assert device.choose_device() == first


def test_the_name_goes_before_the_environment(machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine("cuda", "mps")
    monkeypatch.setenv(device.VARIABLE, "CPU")
    assert device.choose_device() == "cpu"
    assert device.choose_device("cuda:1") == "cuda:1"


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "cuda:2", "mps:"])
def test_an_unknown_or_absent_device_is_one_line(machine, name: str) -> None:
    machine("cuda")
    with pytest.raises(ConfigError) as caught:
        device.choose_device(name)
    assert "\n" not in str(caught.value) and repr(name) in str(caught.value)


def test_describe_says_what_runs_the_models(machine) -> None:
    machine()
    device_info = device.describe_device()
    assert (device_info.name, device_info.title, device_info.chosen_by) == ("cpu", "CPU", "found")
    assert 0 < device_info.free <= device_info.total and device_info.cores >= 1
    assert dict(device_info.versions)["torch"] == torch.__version__


@pytest.mark.parametrize(
    "error",
    [MemoryError(), torch.OutOfMemoryError("CUDA out of memory."), RuntimeError("DefaultCPUAllocator: can't allocate")],
)
def test_running_out_of_memory_is_one_line(error: Exception) -> None:
    with pytest.raises(TriattnError, match="^Not enough memory for these texts:"), device.memory_guard("these texts"):
        raise error


def test_other_errors_pass() -> None:
    with pytest.raises(RuntimeError, match="shape"), device.memory_guard("these texts"):
        raise RuntimeError("shape mismatch")


# --- freed memory ---

FAULTS = """
import resource
from triattn_core.inference.device import keep_freed_memory

for _ in range({times}):
    keep_freed_memory()
for turn in range(6):
    blocks = [bytearray(b"x") * (40 << 20) for _ in range(4)]
    del blocks
    if turn == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(times: int) -> int:
    """Pages asked of the system by five rounds of four blocks of 40 MiB, after as many calls."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    command = [sys.executable, "-c", FAULTS.format(times=times)]
    return int(subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="no glibc")
def test_freed_memory_is_kept_for_the_next_blocks() -> None:
    given_back, once, twice = map(faults, (0, 1, 2))
    assert given_back > 100  # twin: without the call each round asks anew
    assert once < given_back / 10 > twice


class NoLibrary:
    """A C library without glibc's settings, as musl's is."""


@pytest.mark.parametrize("failing", [OSError("libc.so.6: cannot open shared object file"), None], ids=["none", "musl"])
def test_without_glibc_nothing_happens(monkeypatch: pytest.MonkeyPatch, failing: OSError | None) -> None:
    asked: list[str] = []

    def library(name: str) -> NoLibrary:
        asked.append(name)
        if failing:
            raise failing
        return NoLibrary()

    monkeypatch.setattr(ctypes, "CDLL", library)
    assert device.keep_freed_memory() is None
    assert len(asked) == 1
