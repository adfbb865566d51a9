"""What several unit tests use."""

from __future__ import annotations

from pathlib import Path

import pytest

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
