"""Override a model's attention, per thread: its weights by a function or by even ones, or one head's output by zeros.

As with taps, nothing is attached to the model, which all sessions share; without an override, this only looks up one
variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

from triattn_core.trace.site import Site

Change = Callable[[Site, Tensor, Mapping[str, Tensor]], Tensor]
_change: ContextVar[Change | None] = ContextVar("change", default=None)
_evened: ContextVar[list[int] | None] = ContextVar("evened", default=None)
_silent: ContextVar[tuple[Site, int, list[int]] | None] = ContextVar("silent", default=None)


@contextmanager
def replacing(change: Change) -> Iterator[None]:
    """Within the block, in this thread, attention uses `change(site, weights, keeps)` in place of its weights.

    weights: [B, head, query, key] or [B, head, query, key, context]; keeps: of query, key and context, [B, n] bool.
    """
    token = _change.set(change)
    try:
        yield
    finally:
        _change.reset(token)


def override_weights(
    site: Site, weights: Tensor, keeps: Mapping[str, Tensor], fixed: Callable[..., Tensor] | None = None
) -> Tensor:
    """The weights to use at a site: overridden if this thread overrides them.

    fixed: for a control, the function of `fixed_weights.FIXED` that replaces its weights.
    """
    weights = weights if fixed is None else fixed(weights, keeps)
    change = _change.get()
    return weights if change is None else change(site, weights, keeps)


def is_silenced() -> bool:
    """Whether this thread leaves out a head."""
    return _silent.get() is not None


def is_overridden() -> bool:
    """Whether this thread overrides weights: then they must be computed, whole batches at once."""
    return _change.get() is not None


@contextmanager
def even_scores() -> Iterator[list[int]]:
    """Within the block, in this thread, attention is even over all unmasked keys: that of MTSA, multi-head blocks, COIN
    and the readers.

    Yields a list with one number: how many relevances have been replaced so far.
    """
    count = [0]
    token = _evened.set(count)
    try:
        yield count
    finally:
        _evened.reset(token)


def scores(relevance: Tensor) -> Tensor:
    """The relevance to use: zeros within `even_scores`, otherwise unchanged."""
    count = _evened.get()
    if count is None:
        return relevance
    count[0] += 1
    return torch.zeros_like(relevance)


@contextmanager
def without_head(site: Site, head: int) -> Iterator[list[int]]:
    """Within the block, in this thread, one head's output is zero; nothing else changes.

    site: that of its attention, whatever the quantity; head: from 0.  Yields a list with one number: how many
    outputs have been zeroed so far.
    """
    count = [0]
    token = _silent.set((site, head, count))
    try:
        yield count
    finally:
        _silent.reset(token)


def heads_output(outputs: Tensor, site: Site, dim: int = 1) -> Tensor:
    """The outputs of the heads of `site` to use: with zeros for one head within `without_head`.

    dim: that of the heads.
    """
    silent = _silent.get()
    if silent is None or not silent[0].is_under(site):
        return outputs
    silent[2][0] += 1
    return outputs.index_fill(dim, torch.tensor([silent[1]], device=outputs.device), 0.0)
