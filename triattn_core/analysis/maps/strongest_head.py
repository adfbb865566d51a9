"""The head to show first: the one whose weights depend most on the context for this input."""

from __future__ import annotations

from triattn_core.trace import AttentionTrace
from triattn_core.trace.information import context_information


def most_context(trace: AttentionTrace, layer: int, direction: str) -> int | None:
    """The head, from 0, with the largest context information in bits (see `information`); None if the site has no
    heads or no context."""
    name = f"layer.{layer}/{direction}/weight"
    if name not in trace.sites or not {"head", "context"} <= set(trace.sites[name].dims):
        return None
    weights = trace.site(name).transpose("head", "query", "key", "context").values
    return int(context_information(weights).argmax())
