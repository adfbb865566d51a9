"""What was read of an encoder is not read again for the next model that uses it, until a file is another."""

from __future__ import annotations

import shutil

import pytest

from triattn_core.checkpoint.registry import find_encoder
from triattn_core.errors import CheckpointError
from triattn_core.models import encoders


def test_an_encoder_that_is_loaded_is_not_read_again(monkeypatch, tmp_path):
    folder = tmp_path / "minilm"
    shutil.copytree(find_encoder("minilm-en"), folder)
    first, _ = encoders.load_encoder(str(folder), "cpu")
    reads = []
    read = encoders.encoder_tensors
    monkeypatch.setattr(encoders, "encoder_tensors", lambda path: reads.append(path) or read(path))
    second, _ = encoders.load_encoder(str(folder), "cpu")
    assert second is first and not reads
    with pytest.raises(CheckpointError, match="digest"):
        encoders.load_encoder(str(folder), "cpu", expected="0" * 64)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4])  # cut short
    with pytest.raises(CheckpointError, match="damaged"):
        encoders.load_encoder(str(folder), "cpu")
    assert len(reads) == 1
