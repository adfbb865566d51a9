"""Other weights, or even ones, in place of a model's own: a mechanism asks whether somebody, in its thread, wants them.

As with taps nothing hangs on the model, which all sessions share; when nobody replaces, it is a lookup of one variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

Change = Callable[[str, Tensor, Mapping[str, Tensor]], Tensor]
_change: ContextVar[Change | None] = ContextVar("change", default=None)
_evened: ContextVar[list[int] | None] = ContextVar("evened", default=None)


@contextmanager
def replacing(change: Change) -> Iterator[None]:
    """Inside, in this thread, attention goes on with `change(site, weights, keeps)` in place of its weights.

    weights: [B, head, query, key] or [B, head, query, key, context]; keeps: of query, key and context, [B, n] bool.
    """
    token = _change.set(change)
    try:
        yield
    finally:
        _change.reset(token)


def instead(
    site: str, weights: Tensor, keeps: Mapping[str, Tensor], fixed: Callable[..., Tensor] | None = None
) -> Tensor:
    """The weights to go on with at a site such as `layer.0/a_over_b/weight`.

    fixed: what a control has in place of its own weights, of `fixed_weights.FIXED`.
    """
    weights = weights if fixed is None else fixed(weights, keeps)
    change = _change.get()
    return weights if change is None else change(site, weights, keeps)


def replaced() -> bool:
    """Whether somebody replaces weights in this thread: then they have to be made, whole batches at once."""
    return _change.get() is not None


@contextmanager
def even_scores() -> Iterator[list[int]]:
    """Inside, in this thread, MTSA, COIN and the readers attend evenly to what their masks let them see.

    Yields a list with one number: how many relevances were replaced so far.
    """
    count = [0]
    token = _evened.set(count)
    try:
        yield count
    finally:
        _evened.reset(token)


def scores(relevance: Tensor) -> Tensor:
    """The relevance to go on with: zeros where even weights are wanted, else as it is."""
    count = _evened.get()
    if count is None:
        return relevance
    count[0] += 1
    return torch.zeros_like(relevance)
