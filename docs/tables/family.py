"""The family of third-order scores in docs/results.md, from the records: `python -m docs.tables.family`.

A test holds it against the page.
"""

from __future__ import annotations

from collections.abc import Iterator

from docs.tables.laboratory import seeds_text
from triattn_core.results.third_order import FAMILY, TASKS, TWO_WAY, reached
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.views.lib.number_format import half_up


def accuracy() -> Iterator[str]:
    """A row a task, a column a score: test accuracy of each seed."""
    table, columns = reached(), [*FAMILY, TWO_WAY]
    names = [*(score.label for score in FAMILY.values()), TWO_WAY]
    yield f"| Task (chance) | Steps | {' | '.join(names)} |"
    yield "|---|---:|" + "---|" * len(names)
    for name in TASKS:
        cells = [table.get((name, column)) for column in columns]
        steps = next(cell.steps for cell in cells if cell is not None)
        task, chance = LABORATORY[name], half_up(LABORATORY[name].baseline()["chance"], 1)
        texts = ("" if cell is None else seeds_text(cell.accuracy) for cell in cells)
        yield f"| {task.LABEL} ({chance} %) | {steps:,} | {' | '.join(texts)} |"


def weights() -> Iterator[str]:
    """The same of the weight on the true cells, where there is a cube."""
    table = reached()
    yield f"| Task | {' | '.join(score.label for score in FAMILY.values())} |"
    yield "|---|" + "---|" * len(FAMILY)
    for name in TASKS:
        cells = [table.get((name, column)) for column in FAMILY]
        texts = ("" if cell is None or cell.mass is None else seeds_text(cell.mass) for cell in cells)
        yield f"| {LABORATORY[name].LABEL} | {' | '.join(texts)} |"


if __name__ == "__main__":
    print(*accuracy(), "", *weights(), sep="\n")
