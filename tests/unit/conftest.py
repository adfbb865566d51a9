"""What several unit tests use."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import stand_in
from tests.support.reader_world import make_world
from triattn_core.models.encoder import Encoder


@pytest.fixture
def read(monkeypatch) -> list[int]:
    """The sizes of the batches that any encoder reads."""
    batch_sizes, forward = [], Encoder.forward

    def counted(self, batch):
        batch_sizes.append(len(batch.query.ids))
        return forward(self, batch)

    monkeypatch.setattr(Encoder, "forward", counted)
    return batch_sizes


@pytest.fixture(scope="module")
def reader_world(tmp_path_factory) -> Path:
    """A folder with an encoder in `checkpoints` and two sets of questions in `data`."""
    return make_world(tmp_path_factory.mktemp("world"))


@pytest.fixture
def use_reader_world(reader_world: Path, monkeypatch) -> None:
    """Checkpoints are found in its `checkpoints`."""
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(reader_world / "checkpoints"))


@pytest.fixture(scope="module")
def only_ray() -> Iterator[None]:
    """No other test uses Ray meanwhile, in whichever process: `ray stop` ends every cluster of this machine."""
    with open(Path(tempfile.gettempdir(), "triattn-tests-ray.lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="module")
def address(only_ray) -> Iterator[str]:
    """Of a Ray cluster of two nodes, simulated here."""
    import ray
    from ray.cluster_utils import Cluster as Simulated

    ray.cloudpickle.register_pickle_by_value(stand_in)
    nodes = Simulated(initialize_head=True, head_node_args={"num_cpus": 4, "include_dashboard": False})
    nodes.add_node(num_cpus=4)
    yield nodes.address
    ray.shutdown()
    nodes.shutdown()
