"""The device: by name, by environment, by itself; and running out of memory as one line."""

from __future__ import annotations

import pytest
import torch

from triattn_core import device
from triattn_core.errors import ConfigError, TriattnError


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
        assert device.choose() == first


def test_the_name_goes_before_the_environment(machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine("cuda", "mps")
    monkeypatch.setenv(device.VARIABLE, "CPU")
    assert device.choose() == "cpu"
    assert device.choose("cuda:1") == "cuda:1"


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "cuda:2", "mps:"])
def test_an_unknown_or_absent_device_is_one_line(machine, name: str) -> None:
    machine("cuda")
    with pytest.raises(ConfigError) as caught:
        device.choose(name)
    assert "\n" not in str(caught.value) and repr(name) in str(caught.value)


def test_describe_says_what_runs_the_models(machine) -> None:
    machine()
    found = device.describe()
    assert (found.name, found.title, found.chosen) == ("cpu", "CPU", "found")
    assert 0 < found.free <= found.total and found.cores >= 1
    assert dict(found.versions)["torch"] == torch.__version__


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
