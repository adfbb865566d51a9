"""Computes the stored traces again: `python -m triattn_core.inference.stored_traces [CHECKPOINT…]`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import date
from typing import Any

from triattn_core.analysis.intervention.cell_removal import costs_of_strongest
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import Entry, laboratory_checkpoints, list_checkpoints
from triattn_core.inference import stored_traces
from triattn_core.inference.explain import explain
from triattn_core.tasks import TASKS
from triattn_core.tasks.laboratory import LABORATORY

# What pages show as they open: checkpoints by task and language; a page's first example is the first of these.
SHOWN = {
    ("pairs", "en"): ("quora-tri-living", "quora-bi-living", "quora-bi-joint-living", "quora-cbi-living", "quora-coin"),
    ("pairs", "zh"): ("lcqmc-tri-living",),
    ("sentences", "en"): ("trec-mtsa",),
    ("questions", "en"): tuple(
        f"squad-{name}" for name in ("dot", "trilinear", "general3", "t-trilinear", "cosine", "scaled-dot")
    ),
}
COSTED = ("quora-tri-living", "lcqmc-tri-living")
LABORATORY_SHOWN = ("tri-scaled-dot", "bi-joint-1", "bi-joint-2", "cbi")  # of the first laboratory task


def defaults() -> Iterator[tuple[Entry, Any]]:
    """The checkpoints and examples of all stored traces."""
    entries = {entry.name: entry for entry in (*list_checkpoints(), *laboratory_checkpoints())}
    for (task, language), names in SHOWN.items():
        for name in names:
            yield entries[name], TASKS[task].examples(language)[0]
    laboratory = next(iter(LABORATORY.values()))
    row = laboratory.examples()[laboratory.OPENING_ROW]
    for name in LABORATORY_SHOWN:  # the page solves its row anew
        yield entries[f"{laboratory.NAME}-{name}"], laboratory.solve(row.query, row.keys, row.context)


def main() -> int:
    """Replaces the files of these checkpoints, all without names; prints their names and sizes."""
    today, names = date.today().isoformat(), set(sys.argv[1:])
    written = set()
    for entry, example in defaults():
        file = stored_traces.path(entry, example)
        if names and entry.name not in names:
            written.add(file)
            continue
        prediction, trace = explain(load(entry.path, "cpu"), example)
        costs = costs_of_strongest(load(entry.path, "cpu"), example, trace) if entry.name in COSTED else {}
        stored_traces.write(file, stored_traces.key(entry, example), prediction, trace, today, costs)
        written.add(file)
        print(f"{file.name}  {file.stat().st_size:,} bytes")
    for file in set(stored_traces.FOLDER.glob("*.npz")) - written:
        file.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
