"""T-trilinear against the dot product: the same reader with another similarity function gives another answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from triattn_core.studies.study import Study
from triattn_core.tasks import questions

if TYPE_CHECKING:
    import xarray as xr

    from triattn_core.checkpoint.bundle import Bundle

ANSWER = "third"
PAPER = next(example for example in questions.examples() if example.id == "paper-3")


def measure_lead(bundles: Sequence[Bundle], example: questions.Example) -> float:
    """The probability of exactly “third” under the first reader minus that under the second, in points."""
    from triattn_core.inference.explain import explain

    probabilities = []
    for bundle in bundles:
        prediction = explain(bundle, example, lambda site: False)[0]
        probabilities.append(dict(zip(prediction.labels, prediction.probabilities)).get(ANSWER, 0.0))
    return 100 * (probabilities[0] - probabilities[1])


def maps(bundles: Sequence[Bundle], example: questions.Example) -> dict[str, xr.DataArray]:
    """The weights of each passage word (across) over the question (down)."""
    from triattn_core.attention.tap import keep_weights
    from triattn_core.inference.explain import explain

    by_title = {}
    for title, bundle in zip(("T-trilinear", "dot product"), bundles):
        _, trace = explain(bundle, example, keep_weights)
        by_title[title] = next(iter(trace.sites.values())).rename(query="key", key="query")
    return by_title


STUDY = Study(
    order=50,
    title="Does the similarity function choose the answer?",
    checkpoints=("squad-t-trilinear", "squad-dot"),
    examples=tuple(
        replace(PAPER, question=text)
        for text in (
            PAPER.question,
            "How many titles had the champion earned by then?",
            "How many Super Bowl titles did the winner have?",
            "How many titles did Denver have after the game?",
        )
    ),
    measure=measure_lead,
    unit="points",
    reported_value=72.5,
    above=20.0,
    margin=20.0,
    number="P(“third”): T-trilinear minus dot product",
    about=(
        "Two readers trained identically except for one formula, the score of a passage word and a question word, so "
        "that all their weights differ."
    ),
    claim="T-trilinear is {value:.0f} points surer of “third” than the dot product.",
    limits=(
        "One passage says nothing about which is better: over the 10,570 test questions the dot product is ahead by "
        "half a point (exact match 56.3 against 55.8, one seed each)."
    ),
    refuted="A paraphrase of the question for which the dot product is as sure of “third” as T-trilinear.",
    change="Change “titles” to “points”: T-trilinear still answers “third”, although it was 24–10.",
    edited=replace(PAPER, question=PAPER.question.replace("titles", "points")),
    page="similarity",
    opens={"example": "paper-3", "functions": ["squad-t-trilinear", "squad-dot"]},
    show=lambda example: [example.question, "The paper's passage on Super Bowl 50"],
    maps=maps,
)
