"""The maps of side by side, and the difference of two, as panels of a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from triattn_core.trace.aggregation import BESIDE
from triattn_core.views.lib.marks import Bars, Cells, Mark, Profile
from triattn_core.views.lib.palette import Scale
from triattn_core.views.lib.panel import Answer, Values
from triattn_core.views.lib.panel import Panel as FigurePanel
from triattn_core.views.side_by_side.panels import HIDDEN, Gap, Panel, forms
from triattn_core.views.side_by_side.scales import NOTHING, Difference, key_count

NOTES = {
    "weight": {
        "bi": "two-way",
        "bi_joint": "its keys alone",
        "cbi": "context added",
        "tri": "three-way, Σ context",
        "coin": "own context added",
        "other": "the other text alone",
    },
    "relevance": {
        "bi": "two-way",
        "bi_joint": "its keys alone",
        "cbi": "context added",
        "tri": "three-way, joined",
        "coin": "own context added",
    },
}
PAIR = ("query", "key")
ATTENDS = "what “{query:plain}” attends to"


def map_panel(panel: Panel, title: str, index: int, scale: Scale, cells: Sequence[int]) -> FigurePanel:
    """One model's map.  cells: how many cells of the model each key joins."""
    quantity = panel.map_values.attrs["quantity"]
    drawn = "weights" if quantity == "weight" else "values"
    values = panel.map_values.values
    arrays = {"levels": Values(PAIR, scale.levels(values)), **_numbers(panel, cells)}
    if drawn == "values":
        arrays["values"] = Values(PAIR, values)
    if (missing := ~np.isfinite(values)).any():
        arrays["masked"] = Values(PAIR, missing)
    return FigurePanel(
        title,
        *PAIR,
        Cells("levels", "main", masked="masked" if missing.any() else ""),
        arrays,
        marks=(Profile(drawn, name="" if index else ATTENDS),),
        place=(0, index),
        note=NOTES[quantity].get(panel.mechanism, "") if panel.note is None else panel.note,
        answer=Answer(panel.label, panel.probability, panel.right, panel.score),
        ink=panel.mechanism,
        help=panel.name,
    )


def _numbers(panel: Panel, cells: Sequence[int]) -> dict[str, Values]:
    """Weights and what is said of them: ranks (0: there is none), keys of a row, an even share of the whole
    softmax, entropies, the strongest key (−1: it is not among the columns)."""
    weights = panel.weights.values
    hidden_keys, hidden_cells = panel.weights.attrs.get(HIDDEN, NOTHING)["key"]
    there = ~np.isnan(weights)
    keys = hidden_keys + there.sum(1)
    ranks = np.where(there, panel.rank, 0)
    first = np.where((ranks == 1).any(1), (ranks == 1).argmax(1), -1)
    total = np.maximum(hidden_cells + panel.weights.attrs.get(BESIDE, 0) + (there * np.asarray(cells)).sum(1), 1)
    folded = any(count != 1 for count in cells)
    return {
        "weights": Values(PAIR, weights),
        "ranks": Values(PAIR, ranks.astype(np.uint8 if ranks.max(initial=0) < 256 else np.uint16)),
        "keys": Values(("query",), keys.astype(np.uint16)),
        "even": Values(PAIR, np.asarray(cells) / total[:, None]) if folded else Values(("query",), 1 / total),
        "entropy": Values(("query",), panel.entropy),
        "entropy_most": Values(("query",), np.log2(np.maximum(keys, 1))),
        "best": Values(("query",), first.astype(np.float32)),
    }


def gap_panel(gap: Gap, difference: Difference, names: Sequence[str], panels: Sequence[Panel]) -> FigurePanel:
    """The difference of two maps, and the divergence of their rows beside it."""
    short, values = forms(names[gap.left], names[gap.right]), difference.values.values
    arrays = {"levels": Values(PAIR, difference.levels), "values": Values(PAIR, values)}
    arrays["divergence"] = Values(("query",), gap.divergence)
    if (missing := np.isnan(values)).any():
        arrays["masked"] = Values(PAIR, missing)
    if difference.within is not None:
        arrays["within"] = Values(PAIR, difference.within)
    counted: dict[str, Any] = {}
    if gap.overlap is not None:
        arrays["overlap"] = Values(("query",), gap.overlap)
        counted = {"counts": "overlap", "counted": f"top {gap.top}"}
    marks: list[Mark] = [
        Profile("values", name="change for “{query:plain}”", signed=True),
        Bars(
            "divergence", "right", "Divergence", ("Jensen–Shannon", "of weights, bits"), printed="JSD, bits", **counted
        ),
    ]
    return FigurePanel(
        difference.title,
        *PAIR,
        Cells("levels", "difference", *(name if name in arrays else "" for name in ("masked", "within"))),
        arrays,
        marks=marks,
        place=(1, 0),
        lines=[f"teal: {short[0]} is higher", f"brown, −: {short[1]} is higher", *filter(None, [gap.noisy])],
    )


def chance(gap: Gap, panels: Sequence[Panel]) -> float:
    """How many of the strongest keys two rows would share by chance."""
    a, b = ((~np.isnan(panels[i].weights.values)).any(axis=0) for i in (gap.left, gap.right))
    hidden_keys = key_count(panels[0].weights) - len(a)  # keys that are hidden are among the strongest too
    first, second, both = a.sum() + hidden_keys, b.sum() + hidden_keys, (a & b).sum() + hidden_keys
    return float(gap.top**2 * both / max(1, first * second))  # each of k keys stands in the other's k of b
