"""Weights on disk: safetensors only, with a digest to check that they are the recorded ones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from triattn_core.checkpoint.registry import require_regular
from triattn_core.errors import CheckpointError
from triattn_core.text.atomic_write import replacing

PICKLES = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


def digest(tensors: dict[str, torch.Tensor]) -> str:
    """SHA-256 over names, types, shapes and bytes, in the order of the names."""
    sha = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        sha.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        sha.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return sha.hexdigest()


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Read tensors.  Raises CheckpointError, in one line, if the file is missing, a pickle, truncated, or has NaN or
    infinite values."""
    require_regular(path)
    try:
        with open(path, "rb") as file:
            head = file.read(4)
    except OSError:
        raise CheckpointError(f"{path}: no such file; copy the checkpoint again, or train it") from None
    try:
        return _finite(path, load_file(path))
    except (SafetensorError, OSError, ValueError) as error:
        if head.startswith(PICKLES):  # checked only now: safetensors with a long header may begin with the same bytes
            raise CheckpointError(
                f"{path}: a pickle, which can run code when opened; only safetensors are read: convert it with "
                "safetensors.torch.save_file"
            ) from None
        raise CheckpointError(f"{path}: damaged or cut short ({error}); copy the checkpoint again") from None


def _finite(path: Path, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Returns the tensors.  Raises CheckpointError if a weight is NaN or infinite."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and tensor.numel() and not _all_finite(tensor):
            raise CheckpointError(f"{path}: a weight of {name!r} is not a finite number; train it, or copy it, again")
    return tensors


def _all_finite(tensor: torch.Tensor) -> bool:
    """Float16 by its exponent's bits, of which all are set: torch takes ten times as long."""
    if tensor.dtype is not torch.float16:
        return bool(tensor.isfinite().all())
    return bool(((tensor.numpy().view(np.uint16) & 0x7C00) != 0x7C00).all())


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor]) -> str:
    """Write tensors in half precision, atomically; returns the digest."""
    half_tensors = {name: tensor.detach().cpu().half().contiguous() for name, tensor in tensors.items()}
    with replacing(path) as part:
        save_file(half_tensors, part)
    return digest(half_tensors)
