"""Mines the stored tables again: `python -m triattn_core.analysis.mining.stored_cases`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from triattn_core.analysis.mining import stored_cases
from triattn_core.analysis.mining.case_table import CaseTable
from triattn_core.analysis.mining.runs import Run
from triattn_core.analysis.mining.sources import Source, example_source
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import Entry, list_checkpoints

MECHANISMS = ("bi", "bi-joint", "cbi", "tri")
DATA = {"en": "quora", "zh": "lcqmc"}


def defaults() -> Iterator[tuple[list[Entry], Source]]:
    """The checkpoints and rows of all stored tables: by language what the two pages open with."""
    entries = {entry.name: entry for entry in list_checkpoints()}
    for language, data in DATA.items():
        yield [entries[f"{data}-{name}-living"] for name in MECHANISMS], example_source("pairs", language)


def mine(entries: list[Entry], source: Source) -> CaseTable:
    """Their table, on the CPU."""
    command = "python -m triattn_core.analysis.mining.stored_cases"
    run = Run([load(entry.path, "cpu") for entry in entries], source, command)
    while run.step():
        pass
    return run.case_table()


def main() -> int:
    """Replaces all files; prints their sizes."""
    written = {stored_cases.path(*default): mine(*default) for default in defaults()}
    for file in set(stored_cases.FOLDER.glob("*.parquet")) - set(written):
        file.unlink()
    for file, table in written.items():
        table.save(file)
        print(f"{', '.join(table.names)}: {file.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
