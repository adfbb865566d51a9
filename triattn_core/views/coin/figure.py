"""COIN's blocks, one below the other: how each aligns the sentences with the context term and without it, what that
changed, each sentence over itself, and the gate (Figure 4 of "Context-aware Interaction Network" draws the first)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from shlex import quote
from textwrap import shorten
from typing import Any

import numpy as np
import xarray as xr

from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import AXES, QUANTITIES
from triattn_core.trace.token_grouping import grouping_caption
from triattn_core.views.coin.blocks import NEEDS, Answer, Block, blocks, first_cell, spread, switch
from triattn_core.views.lib.canvas import Canvas, script, style
from triattn_core.views.lib.cell import describe_aggregation
from triattn_core.views.lib.palette import LogScale, SignedScale, pack, scale_payload, theme_payload
from triattn_core.views.lib.strongest import labels, numbered
from triattn_core.views.lib.tokens import named, tokens

SCRIPT = "coin/coin.js"
STYLE = ("lib/map_figure.css", "lib/linked_maps.css", "coin/coin.css")
GATE = {"kind": "linear", "high": 1.0, "steps": 256, "title": "gate, the share that is kept", "ticks": [0, 0.5, 1]}
PARTS = ("plain", "own", "gate")  # of a block, where the model has them
NOTHING = 1e-9  # a difference of weights that is none
EVEN = 0.95  # of the largest entropy: a block above it hardly aligns


def figure(
    whole: AttentionTrace,
    trace: AttentionTrace,
    direction: str,
    answers: Sequence[Answer],
    label: str,
    orders: Sequence[Sequence[int] | None] = (),
    cell: Sequence[int] | None = None,
    unread: AttentionTrace | None = None,
) -> Canvas:
    """The canvas of all blocks in one direction.

    whole: the trace with nothing switched off, of which the tokens are; trace: the one that is shown.  answers: what
    is said with each thing off, `label` the one whose probabilities they are.  orders: of each block the features of
    its gate as they stand; without them the gate is drawn as its mean alone.  cell: what is chosen at first: (query,
    key, block, feature, and of each sentence the token that the query, or the key, looks at in its own).

    unread: `trace` before its tokens were joined, of which it is said how evenly a block spreads its weights.

    Scales, places, orders and the first cell are the whole model's: views of a pair differ in what is off alone.
    """
    every, shown, texts = blocks(whole, direction), blocks(trace, direction), dict(whole.texts)
    first = next(block for block in every if block is not None).weight
    scale = LogScale.fit(_weights(every), first.sizes["key"])
    gap = SignedScale.of(_changes(every), power=0.7, title="what context changed")
    beyond = _weights(shown).max() > scale.high * 1.01 or np.abs(_changes(shown)).max() > gap.limit * 1.01
    wide = _features(every)
    spreads = [None if block is None else spread(block.weight) for block in blocks(unread or trace, direction)]
    off = str(trace.meta.get("off", ""))
    payload: dict[str, Any] = {
        "says": QUANTITIES | AXES,
        "texts": texts,
        "names": named(texts),
        "sides": direction.upper().split("_OVER_"),
        "themes": theme_payload("log", "signed"),
        "scale": {**scale_payload(scale), "title": "weight, log scale, one for all"},
        "gap": scale_payload(gap),
        "gate": GATE,
        "axes": {axis: tokens(first, texts, axis, np.arange(first.sizes[axis])) for axis in NEEDS},
        "blocks": [_block(*parts) for parts in zip_longest(shown, spreads, orders)],
        "looks": [_looks(block) for block in every],
        "has": {name: any(block and getattr(block, name) is not None for block in every) for name in PARTS},
        "wide": wide,
        "features": any(order is not None for order in orders),
        "answers": [vars(answer) for answer in answers],
        "off": off,
        "label": label,
        "trained": TRAINED,
        "command": _command(whole, direction, off),
        "caption": caption(trace, direction),
        "cell": list(cell or first_cell(every, texts, wide)),
        "alt": alt(shown, answers, label, texts, spreads),
        "folded": bool(describe_aggregation(first)),
        "notes": " ".join(filter(None, [_notes(whole, spreads, direction), BEYOND * bool(beyond)])),
    }
    title = "COIN: " + shorten(" / ".join(texts.values()), 90, placeholder=" …")
    return Canvas(payload, script(SCRIPT), style(*STYLE), title, payload["alt"], height=900, kind="coin")


def _weights(all_blocks: Sequence[Block | None]) -> np.ndarray:
    """Every weight that is drawn, but those that are none."""
    maps = [
        m.values
        for block in all_blocks
        if block
        for m in (block.weight, block.plain, *(block.own or ()))
        if m is not None
    ]
    return np.concatenate([np.zeros(0), *(array[array > 0] for array in maps)]) if maps else np.zeros(1)


def _changes(all_blocks: Sequence[Block | None]) -> np.ndarray:
    maps = (block.changed for block in all_blocks if block is not None)
    return np.concatenate([np.zeros(1), *(m.values.ravel() for m in maps if m is not None)])


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
    return [own.values.argmax(1).tolist() for own in block.own or ()] if block else []


def _floats(array: xr.DataArray) -> str:
    return pack(array.values.astype(np.float32))


def _notes(whole: AttentionTrace, spreads: Sequence[float | None], direction: str) -> str:
    """Which blocks hardly align, what was folded, and what was not."""
    all_blocks = blocks(whole, direction)
    sentences = [_even(spreads), describe_aggregation(next(block for block in all_blocks if block is not None).weight)]
    gated = [
        i
        for i, block in enumerate(all_blocks)
        if f"layer.{i}/{direction}/gate" in whole.sites and block and block.gate is None
    ]
    return " ".join(filter(None, [*sentences, GATES * bool(gated)]))


def _even(spreads: Sequence[float | None]) -> str:
    """Which blocks hardly align; empty where all do."""
    sentence = (
        f"Block {i} spreads its weight almost evenly ({share:.2f} of the largest entropy)."
        for i, share in enumerate(spreads, 1)
        if share is not None and share > EVEN
    )
    return " ".join(sentence)


BEYOND = "Colours keep the scales of the whole model: some values here lie beyond their ends."
TRAINED = "Nothing is retrained: the weights were not trained without what is ablated."
GATES = "A gate is no share of anything and a score has no sum, so neither folds: read in tokens, they are shown."


def _command(trace: AttentionTrace, direction: str, off: str) -> dict[str, str]:
    """What reproduces a number: the script adds which."""
    texts = list(trace.texts.values())
    row = json.dumps({"text_a": texts[0], "text_b": texts[1]}, ensure_ascii=False)
    run = f"triattn explain {quote(str(trace.meta.get('checkpoint', '')))} pair.json"
    run += f" --ablate {off.replace(',', ' ')}" if off else ""
    run += f" {trace.meta['read']}" if "read" in trace.meta else ""
    return {"input": f"printf '%s' {quote(row)} > pair.json", "run": run, "way": direction}


def caption(trace: AttentionTrace, direction: str) -> str:
    """The settings in words, for under a saved picture."""
    off = str(trace.meta.get("off", ""))
    parts = [str(trace.meta.get("checkpoint", "")), direction.replace("_", " "), f"{switch(off)} off" if off else ""]
    parts.append(grouping_caption(trace))
    return ", ".join(filter(None, parts))


def alt(
    all_blocks: Sequence[Block | None],
    answers: Sequence[Answer],
    label: str,
    texts: Mapping[str, str],
    spreads: Sequence[float | None] = (),
) -> str:
    """What the figure shows in words: where context changed most, which blocks hardly align, and what is said with one
    thing switched off."""
    sizes = next((block.weight.sizes for block in all_blocks if block is not None), {"query": 0, "key": 0})
    answers_text = "; ".join(f"{answer.name} off: {answer.probability:.3f}" for answer in answers)
    first = next((block.weight for block in all_blocks if block is not None), None)
    what = "groups of tokens" if first is not None and "folded" in first.attrs else "tokens"
    maps = f"Alignments of {sizes['query']} by {sizes['key']} {what} in {len(all_blocks)} blocks."
    parts = [maps + _most(all_blocks, dict(texts)), _even(spreads), f"Probability of {label}, {answers_text}."]
    return " ".join(filter(None, parts))


def _most(all_blocks: Sequence[Block | None], texts: dict[str, str]) -> str:
    there = [
        (i, block.changed) for i, block in enumerate(all_blocks, 1) if block is not None and block.changed is not None
    ]
    if not there:
        return ""
    block, changed = max(there, key=lambda pair: float(abs(pair[1]).max()))
    if float(abs(changed).max()) <= NOTHING:
        return " Context changes nothing."
    at = np.unravel_index(int(np.abs(changed.values).argmax()), changed.shape)
    query, key = (numbered(labels(changed, texts, str(axis)))[i] for axis, i in zip(changed.dims, at))
    value = f"{float(changed.values[at]):+.3g}".replace("-", "\u2212")
    return f" Context changes most what “{query}” gives to “{key}” in block {block}: {value}."
