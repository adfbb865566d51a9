"""Laboratory tasks: rows generated from a seed whose right answer, and the cells that carry it, are known.

To add one: a file here, a line in the table.
"""

from __future__ import annotations

from triattn_core.tasks.laboratory.composition import FUNCTION_COMPOSITION, RELATION_COMPOSITION
from triattn_core.tasks.laboratory.example import Example, Vocabulary
from triattn_core.tasks.laboratory.false_friends import FALSE_FRIENDS
from triattn_core.tasks.laboratory.match import MATCH2, MATCH3
from triattn_core.tasks.laboratory.planted import PLANTED_SUM, PLANTED_XOR
from triattn_core.tasks.laboratory.task import LaboratoryTask
from triattn_core.tasks.laboratory.two_facts import TWO_FACTS

LABORATORY: dict[str, LaboratoryTask] = {
    task.NAME: task
    for task in (
        FALSE_FRIENDS,
        PLANTED_SUM,
        PLANTED_XOR,
        MATCH2,
        MATCH3,
        TWO_FACTS,
        FUNCTION_COMPOSITION,
        RELATION_COMPOSITION,
    )
}

__all__ = ["LABORATORY", "Example", "LaboratoryTask", "Vocabulary"]
