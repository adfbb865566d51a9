"""The name of a recorded attention: the layer's number in the model, and whether it is self- or cross-attention."""

from __future__ import annotations

import re

from torch import nn

from triattn_core.recording.module_stack import Running
from triattn_core.trace.site import Site

CROSS = re.compile(
    r"cross_?att|encoder_?attn|encdec|enc_dec|encoder_decoder|multihead_attn|src_attn|context_attn", re.I
)

SIDES = ("encoder", "decoder")


def role_of_path(path: str, has_sides: bool = False) -> str:
    """`cross`; `encoder` or `decoder` where the model has both (`has_sides`); else `attention`."""
    if CROSS.search(path):
        return "cross"
    side = next((part for part in path.split(".") if part in SIDES), "")
    return side if has_sides and side else "attention"


def has_encoder_and_decoder(model: nn.Module) -> bool:
    """Whether a model has an encoder and a decoder of several modules each: a last projection may be called so too."""
    inner = {part for name, _ in model.named_modules() for part in name.split(".")[:-1]}
    return set(SIDES) <= inner


def model_type(model: nn.Module) -> str:
    """The type that the config of a Hugging Face model names, else the name of its class."""
    return str(getattr(getattr(model, "config", None), "model_type", type(model).__name__))


def site_of(module: str, running: Running, has_sides: bool = False) -> Site:
    """The site of the weights of a running module; module: its path, or empty where the layer says enough."""
    return Site(module, running.layer, role_of_path(running.path, has_sides), running.visit, "weight")
