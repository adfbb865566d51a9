"""Taps: mechanisms show intermediate tensors, which are kept only if the current thread records them.

Nothing is attached to the model, which all sessions share; without a recording, a tap only looks up one variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType

from torch import Tensor

from triattn_core.trace.site import Site, Sites

NO_ROLES: Mapping[str, tuple[str, ...]] = MappingProxyType({})


@dataclass(frozen=True)
class TappedTensor:
    """A recorded tensor [B, *axes], its quantity and the axes that it sums to one over.

    roles: for an axis that concatenates several roles, their names, such as key and context.
    runs_over: the axes of a distribution that does not sum to one over them, as a sentinel has the rest.
    """

    tensor: Tensor
    axes: tuple[str, ...]
    quantity: str
    sums_over: tuple[str, ...] = ()
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    runs_over: tuple[str, ...] = ()


@dataclass
class Record:
    """The tensors recorded in a `with recording()` block, by site."""

    keep_site: Callable[[Site], bool]
    sites: Sites[TappedTensor] = field(default_factory=Sites)


_record: ContextVar[Record | None] = ContextVar("record", default=None)


@contextmanager
def recording(keep_site: Callable[[Site], bool] = lambda site: True) -> Iterator[Record]:
    """Record tapped tensors within the block, in this thread, from sites for which `keep_site` is true."""
    record = Record(keep_site)
    token = _record.set(record)
    try:
        yield record
    finally:
        _record.reset(token)


def tap(
    site: Site,
    tensor: Tensor,
    axes: tuple[str, ...],
    quantity: str,
    sums_over: tuple[str, ...] = (),
    roles: Mapping[str, tuple[str, ...]] = NO_ROLES,
    runs_over: tuple[str, ...] = (),
) -> None:
    """Show a tensor [B, *axes], as this quantity of a site."""
    record = _record.get()
    site = site.with_quantity(quantity)
    if record is not None and record.keep_site(site):
        record.sites[site] = TappedTensor(tensor.detach(), axes, quantity, sums_over, roles, runs_over)


def keep_weights(site: Site) -> bool:
    """Whether a site is one of weights: `recording(keep_weights)`."""
    return site.quantity == "weight"


def is_recording() -> bool:
    """Whether this thread is recording."""
    return _record.get() is not None


def is_tapped(site: Site, *quantities: str) -> bool:
    """Whether this thread records one of these quantities of a site; if not, what is only shown is not computed."""
    record = _record.get()
    return record is not None and any(record.keep_site(site.with_quantity(name)) for name in quantities)
