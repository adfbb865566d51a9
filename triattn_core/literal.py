"""Texts of a config that name an entry of a table, for pydantic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import GetPydanticSchema


def one_of(names: Iterable[str]) -> GetPydanticSchema:
    """For `Annotated[str, one_of(TABLE)]`: validated as a `Literal` of the names, which a type checker cannot read."""
    kind: Any = Literal.__getitem__(tuple(names))
    return GetPydanticSchema(lambda source, handler: handler(kind))
