"""What side by side says of the chosen cell: its numbers in every map, and how the two that are compared differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from triattn_core.trace.axes import QUANTITIES
from triattn_core.views.lib.readout import Case, Number, Readout, Row, Sentence
from triattn_core.views.side_by_side.described import chance
from triattn_core.views.side_by_side.panels import HIDDEN, Gap, Panel
from triattn_core.views.side_by_side.scales import NOTHING, key_count

SEEDS = ", no more than between seeds"


def readout(
    panels: Sequence[Panel],
    gap: Gap | None,
    names: Sequence[str],
    quantity: str,
    roles: Mapping[str, str],
    across: str,
    corner: str,
) -> Readout:
    """roles: what both axes are called.  across: what the second axis really is.  corner: what tells the maps apart."""
    query, key = roles["query"], roles["key"]
    hidden = panels[0].weights.attrs.get(HIDDEN, NOTHING)["key"][0]
    relevance = ("relevance", "The score before the softmax, centred: minus the mean of this row")
    columns = [
        *([relevance] if quantity == "relevance" else []),
        ("weight", QUANTITIES["weight"]),
        ("rank in its row", f"1 is the largest weight of this {query}"),
        ("against even", "The weight over what even attention would give this cell"),
        (
            "row entropy, bits",
            f"How spread this {query}'s weights are: 0 is one {key}, the most is an even share for all",
        ),
        (f"strongest {key} of this {query}", f"The {key} with the largest weight, and that weight"),
    ]
    numbers = [
        *([Number("values", "there")] if quantity == "relevance" else []),
        Number("weights", "there"),
        Number("ranks", "rank", of="keys"),
        Number("weights", "times", over="even"),
        Number("entropy", of="entropy_most"),
        Number("weights", best="best", otherwise=("hidden" if hidden else "none",)),
    ]
    rows = [Row("{title}", i, numbers) for i in range(len(panels))]
    drawn = "weights" if quantity == "weight" else "values"
    tip = [Sentence([Case("“{query}” to “{key}”")])]
    tip += [Sentence([Case(f"{{title}} {{{drawn}:there}}")], i) for i in range(len(panels))]
    sentences: list[Sentence] = []
    if gap is not None:
        tip.append(_change(len(panels)))
        sentences = difference_sentences(panels, gap, roles, across, len(panels))
    return Readout(corner, columns, rows, sentences, tip)


def _change(place: int) -> Sentence:
    value = "{title} {values:change}"
    return Sentence([Case(value + SEEDS, "within"), Case(value)], place)


def difference_sentences(
    panels: Sequence[Panel], gap: Gap, roles: Mapping[str, str], across: str, place: int
) -> list[Sentence]:
    """The difference in the cell, and that of its rows.  place: of the panel that has them."""
    key = roles["key"]
    if key_count(panels[0].weights) == 1:
        alone = f"As this is read there is one {key}: nothing to compare."
        return [Sentence([Case(alone)], place)]
    cell = "{title} {values:change}"
    first = Sentence([Case(f" in this cell{SEEDS}. ", "within", bold=cell), Case(" in this cell. ", bold=cell)], place)
    mean = float(np.nanmean(gap.divergence)) if not np.isnan(gap.divergence).all() else 0.0
    rows = "The two rows of “{query}” differ by {divergence} bits of 1 (Jensen–Shannon); "
    rows += f"over all queries the mean is {{={mean:.9g}}}."
    missing = "“{query}” stands in one of the inputs only: there is no row to compare."
    second = Sentence([Case(missing, "divergence", None), Case(rows)], place)
    if gap.overlap is None:
        return [first, second]
    keys = f"{key}s" if key == across else f"{key} positions"
    same = f" Of their {gap.top} strongest {keys} {{overlap:count}} {{verb}} the same "
    same += f"(by chance {{={chance(gap, panels):.4f}}})."
    third = Sentence(
        [
            Case("", "overlap", None),
            Case(same.replace("{verb}", "is"), "overlap", 1),
            Case(same.replace("{verb}", "are")),
        ],
        place,
    )
    return [first, second, third]
