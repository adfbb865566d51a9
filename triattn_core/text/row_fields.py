"""The fields of a row: texts, lists of texts and labels, also under the names that owners of data sets give them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from triattn_core.errors import DataError

WHOLE = re.compile(r"[0-9]{1,15}\.0+")


def field(row: dict, name: str, where: str, *owners: str) -> str:
    """The text of a field.  owners: what the owners of data sets call it.  Raises DataError that names it."""
    name = present(row, name, where, *owners)
    if not isinstance(row[name], str):
        raise DataError(f"{where}: field {name!r} must be text, got {row[name]!r:.40}")
    return row[name]


def present(row: Mapping, name: str, where: str, *owners: str) -> str:
    """The first of some names that a row has.  Raises DataError that says which fields there are."""
    found = next((one for one in (name, *owners) if one in row), None)
    if found is None:
        listed = ", ".join(map(str, row)) or "none"
        raise DataError(f"{where}: field {name!r} is absent; there are {listed:.120}")
    return found


def texts_field(row: dict, name: str, where: str) -> tuple[str, ...]:
    """The texts of a list field.  Raises DataError that names it."""
    values = row[present(row, name, where)]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise DataError(f"{where}: field {name!r} must be a list of texts, got {values!r:.40}")
    return tuple(values)


def number(row: dict, name: str, where: str, below: int) -> int | None:
    """The integer of a field, from 0 to below `below`, also as "1" or 1.0; None if the row has none.  Raises DataError
    that names it."""
    value = whole(row.get(name))
    if value is not None and (type(value) is not int or not 0 <= value < below):
        expected = "0 or 1" if below == 2 else f"a whole number from 0 to {below - 1}"
        raise DataError(f"{where}: field {name!r} must be {expected}, got {value!r:.40}")
    return value


def unnested(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row, with two texts that stand in one field apart: {"questions": {"text": [a, b]}}, as the hub has Quora."""
    nested = row.get("questions")
    texts = nested.get("text") if isinstance(nested, Mapping) else None
    if not isinstance(texts, list) or len(texts) != 2 or "question1" in row or "question2" in row:
        return dict(row)
    return {**row, "question1": texts[0], "question2": texts[1]}


def whole(value: Any) -> Any:
    """The integer that a text or a float of one stands for; anything else as it is."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and WHOLE.fullmatch(value):  # of a table as text, where some labels are missing
        return int(value.partition(".")[0])
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdecimal() and len(value) < 20:
        return int(value)
    return value
