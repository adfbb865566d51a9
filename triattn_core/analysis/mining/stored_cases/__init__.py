"""Stored tables of cases: what the checkpoints that Compare and Cases open with answer to our own examples.

A table belongs to these checkpoints, in their order, by their digests, and to these rows; all others are mined.
`python -m triattn_core.analysis.mining.stored_cases` mines them again; `tests/unit/test_stored_cases.py` compares each
with its models.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from triattn_core.analysis.mining.case_table import CaseTable, load
from triattn_core.analysis.mining.sources import Source
from triattn_core.checkpoint.registry import Entry

FOLDER = Path(__file__).parent


def path(entries: Sequence[Entry], source: Source) -> Path:
    """Where the table of these checkpoints over these rows is stored, if it is."""
    parts = [(entry.name, entry.digest, entry.config.get("encoder_digest")) for entry in entries]
    return FOLDER / f"{sha256(json.dumps([*parts, source.sha256]).encode()).hexdigest()}.parquet"


def find(entries: Sequence[Entry], source: Source) -> CaseTable | None:
    """The stored table, or None."""
    file = path(entries, source)
    return load(file) if file.is_file() else None
