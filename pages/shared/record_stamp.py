"""Cache keys that change when the run records or the checkpoints change on disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from pages.shared.page_run import once_a_run
from triattn_core.checkpoint.registry import Entry
from triattn_core.results.run_records import new_records_folder, records_folder


@once_a_run
def record_stamp() -> str:
    """A digest of path, modification time in ns and size in bytes of every file of records."""
    return _digest([stamp for folder in {records_folder(): 0, new_records_folder(): 0} for stamp in _stamps(folder)])


def _digest(parts: Sequence[tuple]) -> str:
    """Short: Streamlit walks through the keys of its caches in Python, each time they are asked."""
    return sha256(repr(parts).encode()).hexdigest()[:16]


def _stamps(folder: Path) -> list[tuple[str, int, int]]:
    if not folder.is_dir():
        return []
    with os.scandir(folder) as files:  # called a hundred times per page: pathlib takes ten times as long
        stats = [(file.path, file.stat()) for file in files if file.name.endswith(".jsonl")]
    return sorted((path, stat.st_mtime_ns, stat.st_size) for path, stat in stats)


def checkpoint_stamp(entries: Sequence[Entry]) -> str:
    """A digest of name and digest of each checkpoint, and of when its metrics were written; 0 where it has none."""
    return _digest([(entry.name, entry.digest, _modified_at(entry.path / "metrics.json")) for entry in entries])


def _modified_at(file: Path) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0
