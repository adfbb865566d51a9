"""What readers answer to mined questions, as columns of their table."""

from __future__ import annotations

from collections.abc import Sequence

from triattn_core import spans
from triattn_core.checkpoint import Bundle


def columns(groups: Sequence[Sequence[Bundle]], examples: Sequence) -> dict[str, list]:
    """For each reader NAME its most likely span of each example, in the columns that `mined.Mined` names.

    groups: readers that share what is read.
    """
    if not examples:
        return {}
    task, best = groups[0][0].task, {}
    for group in groups:
        for bundle, answers in zip(group, spans.answers(group, examples)):
            best[bundle.name] = [one[0] for one in answers]
    found: dict[str, list] = {}
    for name, column in best.items():
        judged = [task.verdict(e, [one]) if e.answers else (False, None) for e, one in zip(examples, column)]
        found[f"{name} start"], found[f"{name} end"] = [one.start for one in column], [one.end for one in column]
        found[f"{name} confidence"] = [min(round(one.probability, 4), 0.9999) for one in column]
        found[f"{name} right"], found[f"{name} f1"] = map(list, zip(*judged))
        found[f"{name} answer"] = []
    for example, *row in zip(examples, *best.values()):
        said = [task.normal(example.passage[one.start : one.end]) for one in row]
        for name, one in zip(best, said):
            found[f"{name} answer"].append(said.index(one))
    return found
