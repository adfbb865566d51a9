"""The printed values of a paper's tables, as one digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from triattn_core.results.paper_schema import Table


def digest_values(tables: Mapping[int, Table]) -> str:
    """SHA-256 of number, row name and printed values of each row, in order: it changes with any of them."""
    values = [[number, row.name, row.values] for number, table in tables.items() for row in table.rows]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()
