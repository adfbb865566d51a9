"""A paper's tables: their size, and their printed values as one digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from triattn_core.results.paper_schema import Table


def check_size(table: Table, number: int, size: tuple[int, int]) -> None:
    """Asserts that a table has its number, that many rows and printed columns, and a name of its own for each row."""
    assert (len(table.rows), sum(column.printed for column in table.columns)) == size
    assert table.number == number and len({row.name for row in table.rows}) == len(table.rows)


def digest_values(tables: Mapping[int, Table]) -> str:
    """SHA-256 of number, row name and printed values of each row, in order: it changes with any of them."""
    values = [[number, row.name, row.values] for number, table in tables.items() for row in table.rows]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()
