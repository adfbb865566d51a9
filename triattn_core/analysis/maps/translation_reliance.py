"""What a translation model leans on: its BLEU minus that with even weights in the encoder, the decoder or between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from triattn_core.analysis.maps.even_reliance import measure_even_reliance
from triattn_core.attention.fixed_weights import even
from triattn_core.attention.weight_override import Change, replacing
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.models.translation import CROSS, TARGET
from triattn_core.trace.site import Site

PARTS = {"even_cross-attention": CROSS, "even_decoder": TARGET}


def measure_translation_reliance(
    bundle: Bundle, examples: Sequence, progress: Callable[[int], object] = lambda count: None
) -> dict[str, Any]:
    """As `measure_even_reliance`, whose "even" is the encoder's self-attention, and of each of PARTS alone.

    Each sentence is translated anew, by beam search.
    """
    return measure_even_reliance(
        bundle, examples, progress, {name: replacing(evenly(module)) for name, module in PARTS.items()}
    )


def evenly(module: str) -> Change:
    """Makes the weights of a module even: over the whole source, or over the sub-words so far."""

    def change(site: Site, weights: Tensor, keeps: Mapping[str, Tensor]) -> Tensor:
        if site.module != module:
            return weights
        if module == CROSS:
            return even(weights, keeps)
        read = torch.ones_like(weights).tril()
        return read / read.sum(-1, keepdim=True)

    return change
