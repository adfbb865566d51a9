"""One cluster for all tests with Ray: starting one, and its first worker processes, takes longer than most tests."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import stand_in

os.environ.setdefault("RAY_worker_niceness", "0")  # by default 15: beside another process of tests they would starve


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All are slow; the signal ends a test that is late, where a thread would end its process."""
    for item in items:
        if item.nodeid.startswith("tests/on_ray/"):
            item.add_marker("slow")
            item.add_marker(pytest.mark.timeout(600, method="signal", func_only=True))


@pytest.fixture(scope="package", autouse=True)
def only_ray() -> Iterator[None]:
    """No other run of these tests uses Ray meanwhile: the port in the guide is free, and memory is enough for one."""
    with open(Path(tempfile.gettempdir(), "triattn-tests-ray.lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="package")
def address(only_ray) -> Iterator[str]:
    """Of a Ray cluster of two nodes, simulated here."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install '.[scale]'")
    from ray.cluster_utils import Cluster as Simulated

    ray.cloudpickle.register_pickle_by_value(stand_in)
    nodes = Simulated(initialize_head=True, head_node_args={"num_cpus": 4, "include_dashboard": False})
    nodes.add_node(num_cpus=4)
    yield nodes.address
    ray.shutdown()
    nodes.shutdown()
