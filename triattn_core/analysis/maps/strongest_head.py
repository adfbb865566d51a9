"""The head to show first: the one whose weights depend most on the context for this input."""

from __future__ import annotations

from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import CUBE
from triattn_core.trace.information import context_information
from triattn_core.trace.site import Site


def most_context(trace: AttentionTrace, layer: int, direction: str) -> int | None:
    """The head, from 0, with the largest context information in bits (see `information`); None if the site has no
    heads or no context."""
    site = Site(layer=layer, role=direction, quantity="weight")
    if site not in trace.sites or not {"head", *CUBE} <= set(trace.site(site).dims):
        return None
    weights = trace.site(site).transpose("head", *CUBE).values
    return int(context_information(weights).argmax())
