"""The laboratory's false friends: third-order attention learns the task, two-way attention of this size does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triattn_core.errors import InputError
from triattn_core.studies.study import Study
from triattn_core.tasks.laboratory import LABORATORY, Example
from triattn_core.trace.axes import TRUE_CELLS
from triattn_core.trace.site import Site

if TYPE_CHECKING:
    import xarray as xr

    from triattn_core.checkpoint.bundle import Bundle

TASK = LABORATORY["false-friends"]


def measure_lead(bundles: Sequence[Bundle], example: Example) -> float:
    """The probability of the right colour under Tri minus that under Bi, in points."""
    from triattn_core.inference.explain import explain

    if example.label is None:
        raise InputError("This row has no single right colour: the study has no number for it.")
    tri, bi = (explain(bundle, example, lambda site: False)[0].probabilities[example.label] for bundle in bundles)
    return 100 * (tri - bi)


def maps(bundles: Sequence[Bundle], example: Example) -> dict[str, xr.DataArray]:
    """Tri's cube for the query, cards down and languages across; and Bi's weights of the query over all tokens."""
    from triattn_core.inference.explain import explain

    cube = explain(bundles[0], example)[1].site(Site(layer=0, role="a_over_b", quantity="weight")).mean("head")
    joint = explain(bundles[1], example)[1].site(Site(layer=0, role="joint", quantity="weight")).mean("head")
    cube = cube.isel(query=0, drop=True).rename(key="query", context="key")
    joint = joint.isel(query=slice(0, 1)).rename(query="key", key="query")
    joint["key_token"] = "query", ["itself", *example.keys, *example.context]  # the coordinates keep their old names
    ((card, language),) = example.truth
    true_cells = [(1 + card, 0), (1 + len(example.keys) + language, 0)]
    return {
        "Tri: each card with each language": cube.assign_attrs({TRUE_CELLS: [(card, language)]}),
        "Bi-joint: each card and each language alone": joint.assign_attrs({TRUE_CELLS: true_cells}),
    }


OPENING: Example = TASK.examples()[TASK.OPENING_ROW]

STUDY = Study(
    order=10,
    title="Who has the fish?",
    checkpoints=("false-friends-tri-scaled-dot", "false-friends-bi-joint-1"),
    examples=TASK.examples()[1:5],
    measure=measure_lead,
    unit="points",
    reported_value=86.3,
    above=50.0,
    margin=40.0,
    number="P(right colour): Tri minus Bi-joint",
    about=(
        "The query is the word that is asked for, a key is a card, a context token is a language spoken tonight. Each "
        "card's word means something different in each language: only the card and the language together (outlined) "
        "give the answer. The numbers in the maps are attention weights, not probabilities."
    ),
    claim=(
        "After 1,000 steps of training Tri (scaled dot), which weighs card and language together, gives the right "
        "colour {value:.0f} points more probability in this row than one layer of two-way attention (Bi-joint), which "
        "weighs each alone and stays at chance."
    ),
    limits=(
        "The same model with pairwise scores, none of which reads three tokens, gets 17 to 18 % of 4,000 rows right. "
        "With ten times the steps two layers learn the task too (two of three seeds), C-Bi gets 41 to 48 % of rows "
        "right, and one layer stays at chance; with thirty times one layer gets 19 % (chance 16.7). Third order alone "
        "is not enough either: with bilinear scores Tri stays at chance after 1,000 steps, at three learning rates."
    ),
    refuted=(
        "One layer of two-way attention (Bi-joint) of this size that is right in more than 25 % of 4,000 rows like "
        "these, in up to thirty times the steps. The most so far is 19.3 % (“Against training” in the Laboratory)."
    ),
    change="Under “Spoken tonight” change “Neth” to “Brei”: the right pair moves, and Tri follows.",
    edited=TASK.solve(
        OPENING.query, OPENING.keys, tuple("Brei" if token == "Neth" else token for token in OPENING.context)
    ),
    page="laboratory",
    opens={},
    show=lambda example: [TASK.say(example)],
    maps=maps,
)
