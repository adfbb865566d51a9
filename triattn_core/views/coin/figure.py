"""COIN's blocks, one below the other: how each aligns the sentences with the context term and without it, what that
changed, each sentence over itself, and the gate (Figure 4 of "Context-aware Interaction Network" draws the first)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from textwrap import shorten
from typing import Any

import numpy as np
import xarray as xr

from triattn_core.trace import AttentionTrace
from triattn_core.views.coin.blocks import NEEDS, Answer, Block, blocks, first_cell, spread
from triattn_core.views.coin.marks import marks
from triattn_core.views.coin.scales import Scales
from triattn_core.views.coin.sentences import BEYOND, TRAINED, alt, caption, command, fold_notes
from triattn_core.views.lib.canvas import Canvas, script, style
from triattn_core.views.lib.cell import describe_aggregation
from triattn_core.views.lib.palette import pack, scale_payload
from triattn_core.views.lib.payload import map_payload
from triattn_core.views.lib.tokens import cell_axes, read_ends, tokens

SCRIPT = "coin/coin.js"
STYLE = ("lib/map_figure.css", "lib/linked_maps.css", "coin/coin.css")
GATE = {"kind": "linear", "high": 1.0, "steps": 256, "title": "gate, the share that is kept", "ticks": [0, 0.5, 1]}
PARTS = ("plain", "own", "gate")  # of a block, where the model has them


def figure(
    unablated: AttentionTrace,
    trace: AttentionTrace,
    direction: str,
    answers: Sequence[Answer],
    label: str,
    orders: Sequence[Sequence[int] | None] = (),
    cell: Sequence[int] | None = None,
    ungrouped: AttentionTrace | None = None,
) -> Canvas:
    """The canvas of all blocks in one direction.

    unablated: the trace with nothing ablated, of which the tokens are; trace: the one that is shown.  answers:
    predictions with each part ablated, `label` whose probabilities they are.  orders: of each block the features
    of its gate as they stand; without them the gate is drawn as its mean alone.  cell: what is chosen at first: (query,
    key, block, feature, and of each sentence the token that the query, or the key, looks at in its own).

    ungrouped: `trace` before its tokens were joined, of which it is said how evenly a block spreads its weights.

    Scales, places, orders and the first cell are the whole model's: views of a pair differ only in what is ablated.
    """
    all_blocks, shown_blocks, texts = blocks(unablated, direction), blocks(trace, direction), dict(unablated.texts)
    first = next(block for block in all_blocks if block is not None).weight
    scales, feature_count = Scales.of(all_blocks, first.sizes["key"]), _features(all_blocks)
    axes = {axis: tokens(first, texts, axis, np.arange(first.sizes[axis])) for axis in NEEDS}
    start_cell = tuple(cell or first_cell(all_blocks, texts, feature_count))
    spreads = [None if block is None else spread(block.weight) for block in blocks(ungrouped or trace, direction)]
    payload = map_payload(texts, axes, start_cell, caption(trace, direction)) | {
        "sides": direction.upper().split("_OVER_"),
        **_scales(scales),
        **_has(all_blocks),
        "blocks": [_block(*parts) for parts in zip_longest(shown_blocks, spreads, orders)],
        "wide": feature_count,
        "features": any(order is not None for order in orders),
        "answers": [vars(answer) for answer in answers],
        "label": label,
        **_ablation(unablated, trace, direction),
        "read": read_ends(axes),
        "alt": alt(shown_blocks, answers, label, texts),
        "folded": bool(describe_aggregation(first)),
        "notes": _notes(unablated, spreads, direction, scales.exceeded(shown_blocks)),
    }
    own_sizes = {f"own {axis}": first.sizes[axis] for axis in ("query", "key")}
    return Canvas(
        payload,
        script(SCRIPT),
        style(*STYLE),
        "COIN: " + shorten(" / ".join(texts.values()), 90, placeholder=" …"),
        payload["alt"],
        height=900,
        caption=payload["caption"],
        texts=texts,
        cell=start_cell,
        axes=cell_axes(axes, {"block": len(shown_blocks), "feature": feature_count, **own_sizes}),
        maps=marks(shown_blocks, scales, axes, start_cell),
    )


def _ablation(unablated: AttentionTrace, trace: AttentionTrace, direction: str) -> dict[str, Any]:
    off = str(trace.meta.get("off", ""))
    return {"off": off, "command": command(unablated, direction, off), "trained": TRAINED}


def _scales(scales: Scales) -> dict[str, dict]:
    return {"scale": scale_payload(scales.weight), "gap": scale_payload(scales.change), "gate": GATE}


def _has(all_blocks: Sequence[Block | None]) -> dict[str, Any]:
    """What the blocks of the whole model have: of each the strongest tokens of its own sentences, and which parts."""
    found = [block for block in all_blocks if block is not None]
    parts = {name: any(getattr(block, name) is not None for block in found) for name in PARTS}
    return {"looks": [_looks(block) for block in all_blocks], "has": parts}


def _notes(trace: AttentionTrace, spreads: Sequence[float | None], direction: str, exceeded: bool) -> str:
    return " ".join(filter(None, [fold_notes(trace, spreads, direction), BEYOND * exceeded]))


def _features(all_blocks: Sequence[Block | None]) -> int:
    return max(
        (block.gate.sizes["feature"] for block in all_blocks if block is not None and block.gate is not None), default=1
    )


def _block(block: Block | None, evenness: float | None, order: Sequence[int] | None) -> dict | None:
    if block is None:
        return None
    maps = {"weight": block.weight, "score": block.score, "plain": block.plain, "changed": block.changed} | _gate(
        block.gate
    )
    payload: dict = {name: "" if array is None else _floats(array) for name, array in maps.items()}
    payload |= {"own": [_floats(array) for array in block.own] if block.own else [], "spread": evenness}
    if order is not None and block.gate is not None:
        payload |= {"features": _floats(block.gate.transpose("query", "feature")), "order": list(map(int, order))}
    return payload


def _gate(gate: xr.DataArray | None) -> dict[str, xr.DataArray | None]:
    """Of each token the mean of its gate's features, and between which the middle half of them lies."""
    if gate is None:
        return dict.fromkeys(("gate", "gate_low", "gate_high"))
    low, high = (gate.quantile(share, "feature") for share in (0.25, 0.75))
    return {"gate": gate.mean("feature"), "gate_low": low, "gate_high": high}


def _looks(block: Block | None) -> list[list[int]]:
    """For each token of both sentences, the token of its own sentence with the largest weight."""
    return [weights.values.argmax(1).tolist() for weights in block.own or ()] if block else []


def _floats(array: xr.DataArray) -> str:
    return pack(array.values.astype(np.float32))
