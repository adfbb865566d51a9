"""A cache of results bounded by their total size in bytes, not by their number."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import is_dataclass
from threading import Lock
from typing import Any

SMALL = 64  # bytes counted for an opaque object


def approximate_bytes(value: Any, seen: set[int] | None = None) -> int:
    """Approximate bytes of a result: its arrays, tables, texts and their containers; a model counts 0."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if hasattr(value, "memory_usage") and callable(value.memory_usage):  # a table
        usage = value.memory_usage(deep=True)
        return int(usage.sum() if hasattr(usage, "sum") else usage)
    if isinstance(getattr(value, "nbytes", None), int):  # an array, a tensor
        coords = value.coords.variables if hasattr(value, "coords") else {}  # as arrays they take 20 times as long
        return value.nbytes + sum(int(coord.nbytes) for coord in coords.values())
    if isinstance(value, str | bytes):
        return SMALL + len(value)
    if isinstance(value, Mapping):
        return SMALL + sum(approximate_bytes(item, seen) for pair in value.items() for item in pair)
    if isinstance(value, list | tuple | set | frozenset):
        return SMALL + sum(approximate_bytes(item, seen) for item in value)
    if is_dataclass(value) and not hasattr(value, "encoder"):
        return SMALL + sum(approximate_bytes(item, seen) for item in vars(value).values())
    return SMALL


class ResultCache:
    """Results by key; the least recently used are dropped once all of them exceed `limit` bytes."""

    def __init__(self, limit: int):
        self.limit = limit
        self._items: OrderedDict[Hashable, Any] = OrderedDict()
        self._sizes: dict[int, int] = {}
        self._lock = Lock()

    def get(self, key: Hashable, default: Any = None) -> Any:
        """The result stored for a key, or `default`."""
        with self._lock:
            if key not in self._items:
                return default
            self._items.move_to_end(key)
            return self._items[key]

    def put(self, key: Hashable, value: Any) -> None:
        """Store a result; the newest stays even if it alone exceeds the limit."""
        size = approximate_bytes(value)
        with self._lock:
            self._items[key] = value
            self._items.move_to_end(key)
            self._sizes[id(value)] = size
            while len(self._items) > 1 and self._total() > self.limit:
                self._items.popitem(last=False)

    def shrink(self, limit: int) -> None:
        """Drops the least recently used until all hold no more than `limit` bytes."""
        with self._lock:
            while self._items and self._total() > limit:
                self._items.popitem(last=False)

    @property
    def bytes(self) -> int:
        """Total bytes of all results; one stored under two keys counts once."""
        with self._lock:
            return self._total()

    def __len__(self) -> int:
        return len(self._items)

    def _total(self) -> int:
        ids = {id(value) for value in self._items.values()}
        self._sizes = {id_: size for id_, size in self._sizes.items() if id_ in ids}
        return sum(self._sizes.values())
