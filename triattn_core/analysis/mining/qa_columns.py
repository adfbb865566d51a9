"""Columns of a case table with the answers of QA readers."""

from __future__ import annotations

from collections.abc import Sequence

from triattn_core.checkpoint.bundle import Bundle
from triattn_core.inference.predict import predict
from triattn_core.tasks import answer_match


def answer_columns(groups: Sequence[Sequence[Bundle]], examples: Sequence) -> dict[str, list]:
    """The most likely span of each reader NAME for each example, in the columns of `case_table.CaseTable`.

    groups: readers that share an encoder.
    """
    if not examples:
        return {}
    task, best = groups[0][0].task, {}
    for group in groups:
        for bundle, answers in zip(group, predict(group, examples)):
            best[bundle.name] = [span[0] for span in answers]
    columns: dict[str, list] = {}
    for name, column in best.items():
        verdicts = [task.verdict(e, [span]) if e.answers else (False, None) for e, span in zip(examples, column)]
        columns[f"{name} start"], columns[f"{name} end"] = (
            [span.start for span in column],
            [span.end for span in column],
        )
        columns[f"{name} confidence"] = [min(round(span.probability, 4), 0.9999) for span in column]
        columns[f"{name} right"], columns[f"{name} f1"] = map(list, zip(*verdicts))
        columns[f"{name} answer"] = []
    for example, *row in zip(examples, *best.values()):
        normalized = [answer_match.normal(example.passage[span.start : span.end]) for span in row]
        for name, span in zip(best, normalized):
            columns[f"{name} answer"].append(normalized.index(span))
    return columns
