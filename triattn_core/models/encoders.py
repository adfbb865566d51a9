"""Encoders by name: one of ours under checkpoints/encoders, a local folder, or a hub name."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock
from weakref import WeakValueDictionary

import torch

from triattn_core.checkpoint.encoder_folders import encoder_folder
from triattn_core.checkpoint.registry import WEIGHTS, require_regular
from triattn_core.errors import CheckpointError
from triattn_core.models.encoder import Encoder
from triattn_core.models.tensors import digest, read_tensors
from triattn_core.text.rows import read_json
from triattn_core.text.tokenizer import Tokenizer

BASE = "base_encoder"  # key in config.json: the encoder that supplies the tensors missing in this folder

_loaded: WeakValueDictionary[tuple, Encoder] = WeakValueDictionary()
_digests: dict[tuple, str] = {}  # by the state of an encoder's files, so that unchanged files are read once
_lock = Lock()


def load_encoder(name: str, device: str, expected: str | None = None) -> tuple[Encoder, Tokenizer]:
    """The encoder in eval mode on `device`, shared by all users of the same weights, and its tokenizer.

    Raises CheckpointError if the digest of its tensors is not `expected`.
    """
    folder = encoder_folder(name)
    require_regular(folder / "tokenizer.json")
    state = _file_state(folder)
    with _lock:
        actual = _digests.get(state, "")
        encoder = _loaded.get((actual, device))
    tensors: dict[str, torch.Tensor] = {}
    if encoder is None:
        tensors = encoder_tensors(folder)
        actual = digest(tensors)
    if expected and actual != expected:
        raise CheckpointError(
            f"{folder / WEIGHTS}: digest {actual[:12]}, but {expected[:12]} was recorded; copy the encoder again"
        )
    with _lock:
        encoder = encoder or _loaded.get((actual, device))
        if encoder is None:
            encoder = _build(folder, tensors).to(device).eval().requires_grad_(False)
            encoder.digest = actual
            _loaded[(actual, device)] = encoder
        _digests[state] = actual
    return encoder, Tokenizer(folder / "tokenizer.json", match=encoder.joint.config.type_vocab_size > 2)


def encoder_tensors(folder: Path) -> dict[str, torch.Tensor]:
    """The tensors of an encoder: its own, and otherwise those of the base encoder that its config names."""
    own_tensors, config = read_tensors(folder / WEIGHTS), read_json(folder / "config.json")
    return encoder_tensors(encoder_folder(config[BASE])) | own_tensors if config.get(BASE) else own_tensors


def _file_state(folder: Path) -> tuple:
    """A stamp that changes when a file of an encoder, or of its base, is written or replaced."""
    config = read_json(folder / "config.json")
    stamps = [(str(path), *_stamp(path)) for path in (folder / "config.json", folder / WEIGHTS)]
    return (*stamps, *(_file_state(encoder_folder(config[BASE])) if config.get(BASE) else ()))


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        facts = os.stat(path)
    except OSError:
        return (0, 0, 0)
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _build(folder: Path, tensors: dict[str, torch.Tensor]) -> Encoder:
    from transformers import AutoConfig, AutoModel  # slow import: only when a model is loaded

    tensors = {name.removeprefix("bert."): tensor.float() for name, tensor in tensors.items()}
    try:
        with torch.device("meta"):  # random weights would be drawn, only to be replaced
            joint = AutoModel.from_config(AutoConfig.from_pretrained(folder), attn_implementation="sdpa").float()
        missing, _ = joint.load_state_dict(tensors, strict=False, assign=True)
    except (TypeError, ValueError, RuntimeError) as error:  # sizes that make no network, or do not fit the tensors
        raise CheckpointError(f"{folder / 'config.json'}: {str(error).splitlines()[-1].strip()}") from None
    missing = [name for name in missing if not name.endswith("position_ids")]
    if missing:
        raise CheckpointError(f"{folder / WEIGHTS}: {len(missing)} tensors are missing, the first {missing[0]!r}")
    places = joint.embeddings
    places.position_ids = torch.arange(joint.config.max_position_embeddings).expand((1, -1))  # no file stores them
    places.token_type_ids = torch.zeros_like(places.position_ids)
    return Encoder(joint)
