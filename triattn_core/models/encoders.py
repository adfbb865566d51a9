"""Encoders by name: one of ours under checkpoints/encoders, a local folder, or a hub name."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from weakref import WeakValueDictionary

import torch
from transformers import AutoConfig, AutoModel
from transformers.utils import cached_file

from triattn_core.errors import CheckpointError
from triattn_core.models.encoder import Encoder
from triattn_core.models.tensors import digest, read_tensors
from triattn_core.shelf import WEIGHTS, encoder, encoders
from triattn_core.text.rows import read_json
from triattn_core.text.tokenizer import Tokenizer

BASE = "base_encoder"  # in config.json: whose tensors stand where the folder has none of its own

_loaded: WeakValueDictionary[tuple, Encoder] = WeakValueDictionary()
_lock = Lock()


def encoder_folder(name: str) -> Path:
    """The local folder of an encoder. Raises CheckpointError where there is none and no network."""
    for path in (encoder(name), Path(name)):
        if path and (path / "config.json").is_file():
            return path
    try:
        files = [cached_file(name, file) for file in ("config.json", WEIGHTS, "tokenizer.json")]
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise CheckpointError(
            f"encoder {name!r}: not under {encoders()}, not a folder, and the hub does not give it ({reason})"
        ) from None
    return Path(files[0]).parent


def load_encoder(name: str, device: str, expected: str | None = None) -> tuple[Encoder, Tokenizer]:
    """The encoder in eval mode on `device`, shared by all that ask for the same weights, and its tokenizer.

    Raises CheckpointError where its tensors are not those of the digest `expected`.
    """
    folder = encoder_folder(name)
    tensors = encoder_tensors(folder)
    found = digest(tensors)
    if expected and found != expected:
        raise CheckpointError(
            f"{folder / WEIGHTS}: digest {found[:12]}, but {expected[:12]} was recorded; copy the encoder anew"
        )
    with _lock:
        encoder = _loaded.get((found, device))
        if encoder is None:
            encoder = _build(folder, tensors).to(device).eval().requires_grad_(False)
            encoder.digest = found
            _loaded[(found, device)] = encoder
    return encoder, Tokenizer(folder / "tokenizer.json", match=encoder.joint.config.type_vocab_size > 2)


def encoder_tensors(folder: Path) -> dict[str, torch.Tensor]:
    """The tensors of an encoder: its own, over those of the encoder that its config names as its base."""
    own, config = read_tensors(folder / WEIGHTS), read_json(folder / "config.json")
    return encoder_tensors(encoder_folder(config[BASE])) | own if config.get(BASE) else own


def _build(folder: Path, tensors: dict[str, torch.Tensor]) -> Encoder:
    joint = AutoModel.from_config(AutoConfig.from_pretrained(folder), attn_implementation="sdpa").float()
    tensors = {name.removeprefix("bert."): tensor.float() for name, tensor in tensors.items()}
    missing, _ = joint.load_state_dict(tensors, strict=False)
    missing = [name for name in missing if not name.endswith("position_ids")]
    if missing:
        raise CheckpointError(f"{folder / WEIGHTS}: {len(missing)} tensors are missing, the first {missing[0]!r}")
    return Encoder(joint)
