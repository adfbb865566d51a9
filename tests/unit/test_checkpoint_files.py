"""What a config says of itself, and safetensors that begin like a pickle."""

from __future__ import annotations

import json

import torch
from safetensors.torch import save_file

from tests.support.tiny import config
from triattn_core.models.tensors import read_tensors


def test_a_config_says_what_it_is():
    assert set(config("tri")) >= {"format", "kind", "task", "model", "data", "training"}


def test_safetensors_that_begin_like_a_pickle_are_read(tmp_path):
    """A header of 1,152 bytes makes the file begin with 80 04, as pickles of protocol 4 do."""
    path, tensors = tmp_path / "model.safetensors", {"a": torch.ones(2)}
    header = {"__metadata__": {"x": ""}, "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
    room = 1152 - len(json.dumps(header, separators=(",", ":")))
    save_file(tensors, path, metadata={"x": "y" * room})
    assert path.read_bytes()[:2] == b"\x80\x04"
    assert read_tensors(path)["a"].tolist() == [1, 1]
