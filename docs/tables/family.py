"""The family of third-order scores in docs/results.md, from the records: `python -m docs.tables.family`.

A test holds it against the page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from docs.tables.laboratory import seeds_text
from triattn_core.results.third_order import FAMILY, MEMBERS, TASKS, reached
from triattn_core.results.third_order_theory import CANNOT, CLAIMS, NOT_LONG, TWO_WAY, agreement
from triattn_core.scenes.printing import third_order_table
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.views.lib.number_format import half_up


def accuracy() -> Iterator[str]:
    """A row a task, a column a score: test accuracy of each seed."""
    table, columns = reached(), [*MEMBERS, TWO_WAY]
    names = [*(score.label for score in MEMBERS.values()), TWO_WAY]
    yield f"| Task (chance) | Steps | {' | '.join(names)} |"
    yield "|---|---:|" + "---|" * len(names)
    for name in TASKS:
        cells = [table.get((name, column)) for column in columns]
        steps = next(cell.steps for cell in cells if cell is not None)
        task, chance = LABORATORY[name], half_up(LABORATORY[name].baseline()["chance"], 1)
        texts = ("" if cell is None else seeds_text(cell.accuracy) + _of(cell.model) for cell in cells)
        yield f"| {task.LABEL} ({chance} %) | {steps:,} | {' | '.join(texts)} |"


def _of(model: str) -> str:
    return f" ({model})" if model else ""


def weights() -> Iterator[str]:
    """The same of the weight on the true cells, where there is a cube."""
    table = reached()
    yield f"| Task | {' | '.join(score.label for score in FAMILY.values())} |"
    yield "|---|" + "---|" * len(FAMILY)
    for name in TASKS:
        cells = [table.get((name, column)) for column in FAMILY]
        texts = ("" if cell is None or cell.mass is None else seeds_text(cell.mass) for cell in cells)
        yield f"| {LABORATORY[name].LABEL} | {' | '.join(texts)} |"


def theory() -> Iterator[str]:
    """A row for each thing that is proved of a score on a task, held against what was measured."""
    table = reached()
    yield "| Task | Score | Proved | Because | Source | Measured, % | Agreement |"
    yield "|---|---|---|---|---|---|---|"
    for (task, score), claim in CLAIMS.items():
        cell = table.get((task, score))
        label = MEMBERS[score].label if score in MEMBERS else score
        measured = seeds_text(cell.accuracy) if cell else ""
        against = agreement(task, score, cell.accuracy) if cell else ""
        agreed = "yes" if cell and not against else ""
        if claim.says == NOT_LONG:
            agreed = "says nothing at this size"
        elif claim.says == CANNOT and cell and cell.mass and not against:
            agreed = f"yes: at most {half_up(max(cell.mass), 1)} % of the weight is on it"
        facts = (LABORATORY[task].LABEL, label, claim.says, claim.why, claim.source, measured, against or agreed)
        yield f"| {' | '.join(facts)} |"


if __name__ == "__main__":
    if "--latex" in sys.argv[1:]:
        print(third_order_table.latex(), end="")
    elif "--csv" in sys.argv[1:]:
        print(third_order_table.rows().to_csv(index=False), end="")
    else:
        print(*accuracy(), "", *weights(), "", *theory(), sep="\n")
