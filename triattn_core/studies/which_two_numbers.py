"""A word problem of GSM8K's kind: the pair of numbers that makes a third, under third-order and two-way attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from triattn_core.errors import InputError
from triattn_core.studies.study import Study
from triattn_core.tasks.operands.example import Example
from triattn_core.tasks.operands.typed_problem import show
from triattn_core.trace.axes import TRUE_CELLS

if TYPE_CHECKING:
    import xarray as xr

    from triattn_core.checkpoint.bundle import Bundle

TITLES = ("Tri: each pair of numbers", "Pairwise scores: each pair", "Two-way: each number alone, multiplied")


LEADS = {"sum": (70, 98), "product": (1, 39)}  # least and most of the study's problems, points
BY_QUESTION = (
    "How far the other forms smear depends on the question: in the study's five problems Tri leads by {} to {} points "
    "of weight where a sum is asked for, by {} to {} where the product of the first two numbers is."
).format(*LEADS["sum"], *LEADS["product"])


def problem(text: str, made: float) -> Example:
    """An example of a problem and the number asked for."""
    return Example.from_row({"problem": text, "makes": made})


def cells(bundle: Bundle, example: Example) -> np.ndarray:
    """The weight of each ordered pair of numbers [n, n]."""
    from triattn_core.analysis.operand_weights import pair_weights
    from triattn_core.inference.explain import explain

    return pair_weights(explain(bundle, example)[1])


def measure_lead(bundles: Sequence[Bundle], example: Example) -> float:
    """The weight on the pairs that make the number under Tri minus the larger of the others', in points."""
    from triattn_core.analysis.operand_weights import fitting_mask

    mask = fitting_mask(example)
    if not mask.any():
        raise InputError("No two numbers of this problem make the number asked for: the study has no number for it.")
    tri, *others = (float(cells(bundle, example)[mask].sum()) for bundle in bundles)
    return 100 * (tri - max(others))


def maps(bundles: Sequence[Bundle], example: Example) -> dict[str, xr.DataArray]:
    """The pairs of numbers, first operand down and second across, with those that make the number outlined."""
    import xarray as xr

    from triattn_core.analysis.operand_weights import fitting_mask

    names = [show(number.value) for number in example.numbers]
    coordinates = {"query_token": ("query", names), "key_token": ("key", names)}
    true = [(int(i), int(j)) for i, j in np.argwhere(fitting_mask(example))]
    return {
        title: xr.DataArray(cells(bundle, example), dims=("query", "key"), coords=coordinates, attrs={TRUE_CELLS: true})
        for title, bundle in zip(TITLES, bundles)
    }


OPENING = problem("A farmer has 3 crates of 24 eggs and sells 15 of them on Monday and 8 on Tuesday.", 23.0)

STUDY = Study(
    order=5,
    title="Which two numbers make this one?",
    checkpoints=("gsm8k-tri", "gsm8k-strassen", "gsm8k-bi"),
    examples=(
        OPENING,
        problem("A baker has 4 trays of 36 rolls and sells 25 of them before noon and 17 after it.", 42.0),
        problem("Nadia has 6 albums of 48 photos. She adds 19 photos in May and 14 photos in June.", 33.0),
        problem("A hall has 7 rows of 26 seats. On Friday 31 people come, and on Saturday 45 people come.", 76.0),
        problem("Tom buys 5 boxes of 18 pencils. He gives 13 pencils to a sister and 9 pencils to a brother.", 22.0),
    ),
    measure=measure_lead,
    unit="points",
    reported_value=84.7,
    above=50.0,
    margin=40.0,
    number="Weight on the pair that makes it: Tri minus the better of the others",
    about=(
        "Word problems as people write them: the query is a number that two of the problem's numbers make (23), key "
        "and context are the numbers of the problem. The pair that makes it is outlined; the numbers in the maps are "
        "attention weights. The models learnt from the annotated steps of GSM8K."
    ),
    claim=(
        "After as many steps with the same inputs, Tri (scaled dot) has {value:.0f} points more of its weight on the "
        "pair that makes 23 than pairwise scores or one layer of two-way attention, whose weights smear. Over 2,910 "
        "test steps of GSM8K (three seeds) Tri's strongest pair is the annotated one in 83.6 %, that of pairwise "
        "scores in 58.9, of one and two layers of two-way attention in 51.8 and 61.8."
    ),
    limits=(
        f"{BY_QUESTION} "
        "A task derived from GSM8K, not its own metric. The loss is on the weights themselves, and the inputs (cosines "
        "of values and logarithms) suit a product. Picking evenly among the pairs that fit by arithmetic is right in "
        "74.0 %. Pairwise scores after a two-way layer find 70.2 %, and in ten times the steps 85.5 %: then "
        "Tri's lead at its own number of steps is gone (trained as long it gets 88.8 %)."
    ),
    refuted=(
        "A two-way or pairwise form of this size that gets 84 % in as many steps with these inputs. Over all test "
        "steps: triattn evaluate gsm8k-tri gsm8k-strassen gsm8k-bi test.jsonl, on GSM8K's own file."
    ),
    change="In the problem change “8 on Tuesday” to “11 on Tuesday”: the number asked for becomes 26, and Tri follows.",
    edited=problem("A farmer has 3 crates of 24 eggs and sells 15 of them on Monday and 11 on Tuesday.", 26.0),
    page="laboratory",
    opens={"laboratory": "Word problems"},
    show=lambda example: [example.text, f"Which two numbers make {show(example.result)}?"],
    maps=maps,
)
