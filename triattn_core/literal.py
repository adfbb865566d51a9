"""Texts of a config that name an entry of a table, for pydantic."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Literal

from pydantic import AfterValidator, GetPydanticSchema

from triattn_core.errors import choices


def one_of(names: Iterable[str]) -> GetPydanticSchema:
    """For `Annotated[str, one_of(TABLE)]`: validated as a `Literal` of the names, which a type checker cannot read."""
    kind: Any = Literal.__getitem__(tuple(names))
    return GetPydanticSchema(lambda source, handler: handler(kind))


def known(table: Collection[str]) -> AfterValidator:
    """For `Annotated[str, known(TABLE)]`, of a long table: the error suggests the closest name."""

    def check(name: str) -> str:
        if name not in table:
            raise ValueError(f"unknown {name!r}; {choices(name, table)}")
        return name

    return AfterValidator(check)
