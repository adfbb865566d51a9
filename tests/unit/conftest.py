"""What several unit tests watch."""

from __future__ import annotations

import pytest

from triattn_core.models.encoder import Encoder


@pytest.fixture
def read(monkeypatch) -> list[int]:
    """The sizes of the batches that any encoder reads."""
    found, forward = [], Encoder.forward

    def counted(self, batch):
        found.append(len(batch.query.ids))
        return forward(self, batch)

    monkeypatch.setattr(Encoder, "forward", counted)
    return found
