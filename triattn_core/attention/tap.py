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

    keep_site: Callable[[str], bool]
    sites: dict[str, TappedTensor] = field(default_factory=dict)


_record: ContextVar[Record | None] = ContextVar("record", default=None)


@contextmanager
def recording(keep_site: Callable[[str], bool] = lambda site: True) -> Iterator[Record]:
    """Record tapped tensors within the block, in this thread, from sites for which `keep_site` is true."""
    record = Record(keep_site)
    token = _record.set(record)
    try:
        yield record
    finally:
        _record.reset(token)


def tap(
    site: str,
    tensor: Tensor,
    axes: tuple[str, ...],
    quantity: str,
    sums_over: tuple[str, ...] = (),
    roles: Mapping[str, tuple[str, ...]] = NO_ROLES,
    runs_over: tuple[str, ...] = (),
) -> None:
    """Show a tensor [B, *axes] at a site such as `layer.0/a_over_b/weight`."""
    record = _record.get()
    if record is not None and record.keep_site(site):
        record.sites[site] = TappedTensor(tensor.detach(), axes, quantity, sums_over, roles, runs_over)


def is_recording() -> bool:
    """Whether this thread is recording."""
    return _record.get() is not None


def is_tapped(*sites: str) -> bool:
    """Whether this thread records one of the sites; if not, tensors that are only shown need not be computed."""
    record = _record.get()
    return record is not None and any(record.keep_site(site) for site in sites)
