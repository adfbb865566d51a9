"""The laboratory's false friends: third-order attention learns the task, two-way attention of this size does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triattn_core.errors import InputError
from triattn_core.studies.study import Study
from triattn_core.tasks.laboratory import LABORATORY, Example
from triattn_core.trace.axes import TRUE_CELLS

if TYPE_CHECKING:
    import xarray as xr

    from triattn_core.checkpoint.bundle import Bundle

TASK = LABORATORY["false-friends"]


def measure_lead(bundles: Sequence[Bundle], example: Example) -> float:
    """The probability of the right colour under Tri minus that under Bi, in points."""
    from triattn_core.inference.explain import explain

    if example.label is None:
        raise InputError("In this row no one colour is right: the study has no number for it.")
    tri, bi = (explain(bundle, example, lambda site: False)[0].probabilities[example.label] for bundle in bundles)
    return 100 * (tri - bi)


def maps(bundles: Sequence[Bundle], example: Example) -> dict[str, xr.DataArray]:
    """Tri's cube for the query, cards down and languages across; and Bi's weights of the query over all tokens."""
    from triattn_core.inference.explain import explain

    cube = explain(bundles[0], example)[1].site("layer.0/a_over_b/weight").mean("head")
    joint = explain(bundles[1], example)[1].site("layer.0/joint/weight").mean("head")
    cube = cube.isel(query=0, drop=True).rename(key="query", context="key")
    joint = joint.isel(query=slice(0, 1)).rename(query="key", key="query")
    joint["key_token"] = "query", ["itself", *example.keys, *example.context]  # the coordinates keep their old names
    ((card, language),) = example.truth
    true_cells = [(1 + card, 0), (1 + len(example.keys) + language, 0)]
    return {
        "Tri: each card with each language": cube.assign_attrs({TRUE_CELLS: [(card, language)]}),
        "Bi: each card and each language alone": joint.assign_attrs({TRUE_CELLS: true_cells}),
    }


OPENING: Example = TASK.examples()[TASK.OPENING_ROW]

STUDY = Study(
    order=10,
    title="Who has the fish?",
    checkpoints=("false-friends-tri-scaled-dot", "false-friends-bi-joint-1"),
    examples=TASK.examples()[1:5],
    measure=measure_lead,
    unit="points",
    shown=86.3,
    above=50.0,
    margin=40.0,
    number="P(right colour) of Tri less that of Bi",
    about=(
        "The query is the word that is asked for, a key is a card, a context token is a language spoken tonight. Each "
        "card names another thing in each language, so a card alone says nothing, and a language alone says nothing: "
        "only the two together (outlined)."
    ),
    claim=(
        "After 1,000 steps of training Tri (scaled dot), which weighs card and language together, is {value:.0f} "
        "points surer of the right colour than one layer of two-way attention, which weighs each alone and stays at "
        "chance."
    ),
    limits=(
        "In ten times as many steps that one layer still stays there (in thirty times it has 19 %); C-Bi, whose keys "
        "are mixed with the context first, comes to 41 to 49 %, and two layers learn it with two of three seeds: the "
        "second can look up what the first found. And third order is not enough: in 1,000 steps bilinear scores stay "
        "at chance at all three learning rates."
    ),
    refuted=(
        "One layer of two-way attention (Bi) of this size that is right in clearly more than 16.7 % of 4,000 rows "
        "(whose standard error is 0.6) after 1,000 steps or 10,000: it is not (“Against training” in the Laboratory)."
    ),
    change="Change “Neth” to “Brei”: the right pair moves, and Tri follows.",
    edited=TASK.solve(
        OPENING.query, OPENING.keys, tuple("Brei" if token == "Neth" else token for token in OPENING.context)
    ),
    page="laboratory",
    opens={},
    show=lambda example: [TASK.say(example)],
    maps=maps,
)
