"""The name of a recorded attention: the layer's number in the model, and whether it is self- or cross-attention."""

from __future__ import annotations

import re

from torch import nn

from triattn_core.recording.module_stack import Running
from triattn_core.trace.site import Site

LAYERS = re.compile(
    r"(?:^|\.)(?:layers?|h|blocks?|blks|resblocks|encoder_layers|decoder_layers|layer_groups|albert_layer_groups"
    r"|hidden_layers|transformer_layers)\.(\d+)(?:\.|$)"
)
NUMBER = re.compile(r"(?:^|\.)(\d+)(?:\.|$)")
CROSS = re.compile(
    r"cross_?att|encoder_?attn|encdec|enc_dec|encoder_decoder|multihead_attn|src_attn|context_attn", re.I
)


def layer_of_path(path: str) -> int | None:
    """The number of the layer in a module path: the first one after the name of a list of layers, else the first.

    >>> layer_of_path("encoder.block.3.layer.0.SelfAttention"), layer_of_path("attn")
    (3, None)
    """
    match = LAYERS.search(path) or NUMBER.search(path)
    return int(match[1]) if match else None


def role_of_path(path: str, model: nn.Module) -> str:
    """`cross`, `encoder` or `decoder` where the model has both, else `attention`."""
    if CROSS.search(path):
        return "cross"
    parts = path.split(".")
    names = {part for name, _ in model.named_modules() for part in name.split(".")}
    if {"encoder", "decoder"} <= names:
        side = next((part for part in parts if part in ("encoder", "decoder")), None)
        if side:
            return side
    return "attention"


def site_of(module: str, running: Running, model: nn.Module) -> Site:
    """The site of the weights of a running module; module: its path, or empty where the layer says enough."""
    return Site(module, layer_of_path(running.path), role_of_path(running.path, model), running.visit, "weight")
