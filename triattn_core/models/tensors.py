"""Weights on disk: safetensors only, with a digest that says if they are the recorded ones."""

from __future__ import annotations

import hashlib
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
    found = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        found.update(tensor.reshape(-1).view(torch.uint8).numpy())
    return found.hexdigest()


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Raises CheckpointError in one line for a file that is absent, a pickle, cut short, or has NaN or infinities."""
    require_regular(path)
    try:
        with open(path, "rb") as file:
            head = file.read(4)
    except OSError:
        raise CheckpointError(f"{path}: no such file; copy the checkpoint anew, or train it") from None
    try:
        return _finite(path, load_file(path))
    except (SafetensorError, OSError, ValueError) as error:
        if head.startswith(PICKLES):  # asked now alone: a header may be so long that safetensors begin so too
            raise CheckpointError(
                f"{path}: a pickle, which can run code when opened; only safetensors are read: convert it with "
                "safetensors.torch.save_file"
            ) from None
        raise CheckpointError(f"{path}: damaged or cut short ({error}); copy the checkpoint anew") from None


def _finite(path: Path, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors. Raises CheckpointError where a weight is NaN or infinite: nothing that follows would be a number."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and tensor.numel() and not _all_finite(tensor):
            raise CheckpointError(f"{path}: a weight of {name!r} is not a finite number; train it, or copy it, anew")
    return tensors


def _all_finite(tensor: torch.Tensor) -> bool:
    """Float16 by its exponent's bits, of which all are set: torch takes ten times as long."""
    if tensor.dtype is not torch.float16:
        return bool(tensor.isfinite().all())
    return bool(((tensor.numpy().view(np.uint16) & 0x7C00) != 0x7C00).all())


def write_tensors(path: Path, tensors: dict[str, torch.Tensor]) -> str:
    """Writes in half precision, completely or not at all; returns the digest."""
    halves = {name: tensor.detach().cpu().half().contiguous() for name, tensor in tensors.items()}
    with replacing(path) as part:
        save_file(halves, part)
    return digest(halves)
