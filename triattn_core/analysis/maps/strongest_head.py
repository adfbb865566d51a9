"""The head to show first: the one whose weights depend most on the context for this input."""

from __future__ import annotations

import torch

from triattn_core.analysis.maps.information import context_information
from triattn_core.trace import AttentionTrace


def most_context(trace: AttentionTrace, layer: int, direction: str) -> int | None:
    """The head, from 0, with the largest context information in bits (see `information`); None if the site has no
    heads or no context."""
    name = f"layer.{layer}/{direction}/weight"
    if name not in trace.sites or not {"head", "context"} <= set(trace.sites[name].dims):
        return None
    array = trace.site(name).transpose("head", "query", "key", "context")
    weights = torch.from_numpy(array.values.copy())[None].float()
    return int(context_information(weights, torch.ones(1, weights.shape[2], dtype=torch.bool))[0].argmax())
