"""Chooses the question that Similarity opens on: `python -m triattn_core.analysis.default_question`.

A question is fit if right and wrong answers are both among the readers that the page opens with.  Of those it is the
one with the largest product of how evenly they are split and of the mean probability of their answers, so that readers
differ and do not merely guess.  With `--write` it is moved before the other examples, and the numbers of all are
written; stored traces must be computed again afterwards.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, cast

from triattn_core.analysis.default_example import record
from triattn_core.checkpoint.bundle import Bundle, load
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.inference.explain import explain
from triattn_core.inference.predictions import Answer
from triattn_core.tasks import questions

CHECKPOINTS = ("squad-dot", "squad-trilinear", "squad-general3", "squad-t-trilinear")  # that Similarity opens with


def score(bundles: Sequence[Bundle], example: questions.Example) -> dict[str, Any]:
    """Which readers are right, by exact match, and the mean probability of their best answers."""
    answers = [cast(Answer, explain(bundle, example, lambda site: False)[0]).spans for bundle in bundles]
    right = {bundle.name: bool(questions.verdict(example, spans)[0]) for bundle, spans in zip(bundles, answers)}
    mean = sum(float(spans[0][2]) for spans in answers) / len(answers)
    return {"id": example.id, "right": right, "probability": round(mean, 3)}


def appeal(row: Mapping[str, Any]) -> float:
    """The mean probability of the answers times how many readers are on the smaller side of right and wrong; 0 where
    all are right or all are wrong."""
    right = sum(row["right"].values())
    return row["probability"] * min(right, len(row["right"]) - right)


def main() -> int:
    """Prints the score of each question and why one was chosen."""
    entries = {entry.name: entry for entry in list_checkpoints()}
    bundles = [load(entries[name].path, "cpu") for name in CHECKPOINTS]
    rows = [score(bundles, example) for example in questions.examples()]
    best = max(rows, key=appeal)
    for row in rows:
        print(row["id"], row["probability"], *map(int, row["right"].values()))
    right = [name for name, is_right in best["right"].items() if is_right]
    why = (
        f"{best['id']}: {', '.join(right)} right, the others wrong; mean probability {best['probability']}. In "
        f"{sum(appeal(row) > 0 for row in rows)} of {len(rows)} questions the readers are not all right or all wrong."
    )
    print(why)
    if "--write" in sys.argv:
        record(questions.NAME, "en", best["id"], why, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
