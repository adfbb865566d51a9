"""What is said of the chosen cell of a cube: its numbers, and one plain sentence."""

from __future__ import annotations

from triattn_core.trace.axes import QUANTITIES
from triattn_core.trace.distribution import Distribution
from triattn_core.views.cube.cells import CubeCells
from triattn_core.views.lib.readout import Case, Number, Readout, Row, Sentence

AGAINST = (
    "The weight over what even attention would give this cell; a group counts as many as the model's cells that it "
    "joins"
)
SHARE = (
    "The weight over the number of rows: each query, in each feature where it has those, holds the same mass, but for "
    "a query that may attend to nothing"
)
CENTRED = (
    "The score before the softmax, centred: minus the mean of the scores that share its softmax; scores of a group are "
    "joined, so that it changes with the fold"
)
RAW = "The score before the softmax, not centred"


def readout(shown: Distribution, cells: CubeCells) -> Readout:
    """Over the exact numbers of `numbers.exact_numbers`, or those of a page, and over `numbers.evens`."""
    outside = [axis for axis in cells.axes if axis not in shown.axes]
    each, among = (sep.join(cells.roles[axis] for axis in of) for sep, of in ((" and ", outside), (" × ", shown.axes)))
    row = f"rank in this {each if outside == ['query'] else 'row'}"
    rank = (row, f"Largest value first, over {among} of this {each}", Number("rank", "rank", of="of"))
    against = ("against even", AGAINST, Number("weight", "times", over="even"))
    if cells.array.attrs["quantity"] == "weight":
        score = "relevance, joined" if cells.joins else "relevance, centred"
        scored = [(score, CENTRED, Number("relevance"))] if shown.relevance is not None else []
        facts = [("share of all mass", SHARE, Number("weight", "percent", over="rows")), against, *scored, rank]
    else:
        facts = [("as scored", RAW, Number("raw")), ("weight", QUANTITIES["weight"], Number("weight")), against, rank]
    columns, numbers = [(name, says) for name, says, _ in facts], [number for *_, number in facts]
    return Readout("", columns, [Row("", 0, numbers)], [Sentence(_cases(shown, cells))], [])


def _cases(shown: Distribution, cells: CubeCells) -> list[Case]:
    third = cells.axes[2]
    feature, inside = third == "feature", third in shown.axes
    masked = f"{{query}} may not attend to {{key}} with {{{third}}}: a mask leaves it out."
    if feature:
        masked = "{query} may not attend to {key}: this head's mask leaves the pair out, in every feature."
    with_third = f"{'in feature' if feature else 'read with'} {{{third}}}"
    weights = cells.array.attrs["quantity"] == "weight"

    if not weights:
        score = "scores {about}{relevance:size} {relevance:side} the mean of its {of:count} "
        said = f"For {{query}}, {{key}} {with_third} {score}{'pairs' if inside else 'keys'}."
    elif not shown.normalised:
        said = f"{{query}} gives {{about}}{{weight}} to {{key}} {with_third}; the weights do not sum to one."
    else:
        share = "gives {about}{weight:percent} of its attention to {key}"
        said = f"{{query}} {share} {with_third}." if inside or feature else f"{{query}} with {{{third}}} {share}."
    return [Case(masked, "masked"), Case(said)]
