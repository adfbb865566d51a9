"""The panels of COIN's blocks: for each a line of maps, both sentences over themselves, and its gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import xarray as xr

from triattn_core.trace.aggregation import cell_counts
from triattn_core.views.coin.blocks import NEEDS, Block
from triattn_core.views.lib.marks import Bars, Cells
from triattn_core.views.lib.panel import Panel, Values
from triattn_core.views.lib.readout import Case, Sentence

GATES = Bars(
    "gate", "right", "Gate", ("0 takes in, 1 keeps", "line: half of the features"),
    size=180, low="gate_low", high="gate_high", ink="coin",
)  # fmt: skip
ABLATED = "Block {} is ablated: it passes its input on unchanged."
OWN = ("Self-alignment", "each word over its own sentence")


@dataclass(frozen=True)
class Kind:
    """One of the maps of a line.  array: what it draws; where it has none, `empty` says why.  says: its number."""

    title: str
    note: str = ""
    array: str = ""
    paper: str = "weight"
    empty: str = ""

    @property
    def says(self) -> str:
        """The template of its number."""
        return "{changed:signed}" if self.array == "changed" else f"{{{self.array}}}"


def kinds(whole: Sequence[Block | None], shown: Sequence[Block | None]) -> list[Kind]:
    """The maps of a line, in places that stay when the context term is ablated."""
    if all(block is None or block.plain is None for block in whole):
        return [Kind("alignment", "no context term", "weight")]
    if any(shown) and all(block is None or block.plain is None for block in shown):
        return [
            Kind("with context", empty="The context term is ablated."),
            Kind("without", "what the block uses", "weight"),
            Kind("difference", empty="Nothing to compare with."),
        ]
    return [
        Kind("with context", "what the block uses", "weight"),
        Kind("without", "same states, term left out", "plain", "without context"),
        Kind("difference", "what context changed", "changed", "difference"),
    ]


def map_panels(
    whole: Sequence[Block | None],
    shown: Sequence[Block | None],
    spreads: Sequence[float | None],
    orders: Sequence[Sequence[int] | None],
    even: int,
) -> list[Panel]:
    """The maps of all blocks; the first of a block has its numbers.  even: see `_arrays`."""
    panels, lines = [], kinds(whole, shown)
    gated = any(block is not None and block.gate is not None for block in whole)
    for i, (block, model, evenness, order) in enumerate(zip_longest(shown, whole, spreads, orders)):
        places = iter(range(len(lines)))
        for j, kind in enumerate(lines):
            panels.append(
                Panel(
                    kind.title,
                    *NEEDS,
                    Cells(kind.array or "none", "change" if kind.title == "difference" else "weight"),
                    {} if block is None or j else _arrays(block, model, evenness, order, even),
                    marks=[GATES] if gated and kind is lines[-1] else (),
                    place=(i, next(places) if kind.array else 0),
                    note=kind.note,
                    chooses=("block", i),
                    paper_title=f"block {i + 1}: {kind.paper}",
                    empty=kind.empty if block is not None else ABLATED.format(i + 1) * (not j),
                    group=f"block {i + 1}",
                )
            )
    return panels


def own_panels(whole: Sequence[Block | None], shown: Sequence[Block | None], direction: str) -> list[Panel]:
    """Both sentences over themselves in each block; none where the model has none."""
    if all(block is None or block.own is None for block in whole):
        return []
    sides = list(zip(NEEDS, direction.upper().split("_OVER_")))
    return [
        Panel(
            side,
            axis,
            f"own {axis}",
            Cells(f"own_{axis}", "weight"),
            {},
            ink=axis,
            chooses=("block", i),
            on_paper=False,
            empty="ablated",
            group=f"block {i + 1}",
            small=OWN,
            tip=() if i else _tip(f"{{{axis}}} over {{own {axis}}}", f"self-alignment {{own_{axis}}}"),
        )
        for i in range(len(shown))
        for axis, side in sides
    ]


def feature_panel(count: int) -> Panel:
    """The gate of the chosen block, token × feature.  count: of features."""
    return Panel(
        "Gate of block {block:nth}",
        "query",
        "feature",
        Cells("features", "gate", order="order"),
        {},
        note=f"token × feature, {count} features ordered by likeness",
        follows="block",
        on_paper=False,
        tip=_tip("{query}", "feature {feature:nth}: keeps {features}"),
    )


def _tip(first: str, second: str) -> list[Sentence]:
    return [Sentence([Case(first)]), Sentence([Case("block {block:nth}, " + second)])]


def _arrays(
    block: Block, model: Block | None, evenness: float | None, order: Sequence[int] | None, even: int
) -> dict[str, Values]:
    """All numbers of a block.  model: the same block of the whole model.  even: of how many tokens the keys are, where
    some join several; else 0."""
    maps = {"weight": block.weight, "score": block.score, "plain": block.plain}
    arrays = {name: _floats(NEEDS, array) for name, array in maps.items() if array is not None}
    if block.changed is not None:
        arrays["changed"] = _floats(NEEDS, block.changed)
    arrays["best"] = _places("query", block.weight)
    for axis, own, usual in zip_longest(NEEDS, block.own or (), (model and model.own) or ()):
        if own is not None:
            arrays[f"own_{axis}"] = _floats((axis, f"own {axis}"), own)
        if usual is not None:
            arrays[f"most_{axis}"] = _places(axis, usual if own is None else own)
        if usual is not None and own is not usual:
            arrays[f"usual_{axis}"] = _places(axis, usual)
    if block.gate is not None:
        low, high = (block.gate.quantile(share, "feature") for share in (0.25, 0.75))
        gates = {"gate": block.gate.mean("feature"), "gate_low": low, "gate_high": high}
        arrays |= {name: _floats(("query",), gate) for name, gate in gates.items()}
    if block.gate is not None and order is not None:
        arrays["features"] = _floats(("query", "feature"), block.gate.transpose("query", "feature"))
        arrays["order"] = Values(("feature",), np.array(order, np.uint16))
    if even:
        counts = cell_counts(block.weight, "key")
        arrays |= {"cells": Values(("key",), counts.astype(np.uint16)), "even": Values(("key",), counts / even)}
    return arrays | ({} if evenness is None else {"spread": Values((), np.array([evenness]))})


def _floats(over: tuple[str, ...], array: xr.DataArray) -> Values:
    return Values(over, array.values.astype(np.float32))


def _places(axis: str, array: xr.DataArray) -> Values:
    """Where each row of an array has its largest value."""
    return Values((axis,), array.values.argmax(1).astype(np.uint16))
