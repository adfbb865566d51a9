"""Kinds of checkpoint: what a config.json's "kind" names.

To add one: a file here with its `KIND`, modelled on `sentence.py`, and a line in the table.  A kind's file is imported
when it is asked for, and imports torch only where a model runs, so that pages may ask any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from triattn_core.kinds.kind import Frozen, Kind

__all__ = ["KINDS", "NO_KIND", "Frozen", "Kind", "kind_of", "listed_kind", "load_kind"]

# The file of each.
KINDS: dict[str, str] = {
    "tan": "triattn_core.kinds.tan",
    "sentence": "triattn_core.kinds.sentence",
    "reader": "triattn_core.kinds.reader",
    "coin": "triattn_core.kinds.coin",
    "laboratory": "triattn_core.kinds.laboratory",
    "operands": "triattn_core.kinds.operands",
    "kinship": "triattn_core.kinds.kinship",
    "tagger": "triattn_core.kinds.tagger",
    "translation": "triattn_core.kinds.translation",
}
NO_KIND = Kind()  # of a config that names none: no fact holds


@cache
def load_kind(name: str) -> Kind:
    """The kind of this name in `KINDS`.  Raises KeyError."""
    return import_module(KINDS[name]).KIND


def kind_of(config: Any) -> Kind:
    """The kind of a config, which `read_config` has read."""
    return load_kind(config.kind)


def listed_kind(settings: Mapping[str, Any]) -> Kind:
    """The kind that the contents of a config.json name, read but not checked; NO_KIND if there is none of that name."""
    name = settings.get("kind")
    return load_kind(name) if isinstance(name, str) and name in KINDS else NO_KIND
