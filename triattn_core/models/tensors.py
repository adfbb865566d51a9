"""Weights on disk: safetensors only, with a digest that says if they are the recorded ones."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from triattn_core.errors import CheckpointError

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
    """Raises CheckpointError in one line for a file that is absent, a pickle, or cut short."""
    try:
        with open(path, "rb") as file:
            head = file.read(4)
    except OSError:
        raise CheckpointError(f"{path}: no such file; copy the checkpoint anew, or train it") from None
    try:
        return load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        if head.startswith(PICKLES):  # asked now alone: a header may be so long that safetensors begin so too
            raise CheckpointError(
                f"{path}: a pickle, which can run code when opened; only safetensors are read: convert it with "
                "safetensors.torch.save_file"
            ) from None
        raise CheckpointError(f"{path}: damaged or cut short ({error}); copy the checkpoint anew") from None


def write_tensors(path: Path, tensors: dict[str, torch.Tensor]) -> str:
    """Writes in half precision, completely or not at all; returns the digest."""
    halves = {name: tensor.detach().cpu().half().contiguous() for name, tensor in tensors.items()}
    part = path.with_suffix(".part")
    save_file(halves, part)
    os.replace(part, path)
    return digest(halves)
