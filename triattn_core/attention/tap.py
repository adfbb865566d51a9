"""Taps: mechanisms show what passes, and only who asked, in its own thread, keeps it.

Nothing hangs on the model, which all sessions share; when nobody records, a tap is a lookup of one variable.
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
class Tapped:
    """A recorded tensor [B, *axes]: what it is and what it sums to one over.

    roles: of an axis along which several roles stand one after the other, their names, such as key and context.
    """

    tensor: Tensor
    axes: tuple[str, ...]
    quantity: str
    sums_over: tuple[str, ...] = ()
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass
class Record:
    """What a `with recording()` block has kept, by site."""

    wanted: Callable[[str], bool]
    sites: dict[str, Tapped] = field(default_factory=dict)


_record: ContextVar[Record | None] = ContextVar("record", default=None)


@contextmanager
def recording(wanted: Callable[[str], bool] = lambda site: True) -> Iterator[Record]:
    """Keep every tapped tensor whose site is wanted, in this thread, inside the block."""
    record = Record(wanted)
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
) -> None:
    """Show a tensor [B, *axes] at a site such as `layer.0/a_over_b/weight`."""
    record = _record.get()
    if record is not None and record.wanted(site):
        record.sites[site] = Tapped(tensor.detach(), axes, quantity, sums_over, roles)


def recorded() -> bool:
    """Whether somebody records in this thread."""
    return _record.get() is not None


def tapped(*sites: str) -> bool:
    """Whether somebody records one of the sites in this thread: if not, what is only to be shown need not be made."""
    record = _record.get()
    return record is not None and any(record.wanted(site) for site in sites)
