"""COIN's blocks in words: what context changed most, which blocks hardly align, what was folded, the command."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from shlex import quote

import numpy as np

from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site
from triattn_core.trace.token_grouping import grouping_caption
from triattn_core.views.coin.blocks import Answer, Block, ablation_label, blocks
from triattn_core.views.lib.cell import describe_aggregation
from triattn_core.views.lib.number_format import minus
from triattn_core.views.lib.strongest import labels, numbered

SHORTER = (
    "Before training, each block makes vectors about 0.6 times as long, so that relevances of later blocks hardly "
    "differ."
)
NOTHING = 1e-9  # a difference of weights that is none
EVEN = 0.95  # of the largest entropy: a block above it hardly aligns
BEYOND = "Colours keep the scales of the whole model: some values here lie beyond their ends."
TRAINED = "Nothing is retrained: the weights were not trained without what is ablated."
GATES = "A gate is not a share and a score has no sum, so neither is grouped: both are shown for tokens only."


def fold_notes(unablated: AttentionTrace, spreads: Sequence[float | None], direction: str) -> str:
    """Which blocks hardly align, what was folded, and what was not."""
    all_blocks = blocks(unablated, direction)
    sentences = [_even(spreads), describe_aggregation(next(block for block in all_blocks if block is not None).weight)]
    gated = [
        i
        for i, block in enumerate(all_blocks)
        if Site(layer=i, role=direction, quantity="gate") in unablated.sites and block and block.gate is None
    ]
    return " ".join(filter(None, [*sentences, GATES * bool(gated)]))


def _even(spreads: Sequence[float | None]) -> str:
    """Which blocks hardly align, and why late ones do not; empty where all do."""
    sentence = [
        f"Block {i} spreads its weight almost evenly ({share:.2f} of the largest entropy)."
        for i, share in enumerate(spreads, 1)
        if share is not None and share > EVEN
    ]
    late = any(share is not None and share > EVEN for share in spreads[1:])
    return " ".join([*sentence, *[SHORTER] * late])


def command(trace: AttentionTrace, ablation: str) -> str:
    """What explains this pair again."""
    texts = list(trace.texts.values())
    row = json.dumps({"text_a": texts[0], "text_b": texts[1]}, ensure_ascii=False)
    run = f"triattn explain {quote(str(trace.meta.get('checkpoint', '')))} pair.json"
    run += f" --ablate {ablation.replace(',', ' ')}" if ablation else ""
    run += f" {trace.meta['read']}" if "read" in trace.meta else ""
    return f"printf '%s' {quote(row)} > pair.json\n{run}"


def caption(trace: AttentionTrace, direction: str) -> str:
    """The settings in words, for under a saved picture."""
    ablation = str(trace.meta.get("off", ""))
    parts = [
        str(trace.meta.get("checkpoint", "")),
        direction.replace("_", " "),
        f"{ablation_label(ablation)} ablated" if ablation else "",
    ]
    parts.append(grouping_caption(trace))
    return ", ".join(filter(None, parts))


def alt(
    all_blocks: Sequence[Block | None],
    answers: Sequence[Answer],
    label: str,
    texts: Mapping[str, str],
) -> str:
    """What the figure shows in words: where context changed most, and what is predicted with one part ablated.  Which
    blocks hardly align stands in the notes above it."""
    sizes = next((block.weight.sizes for block in all_blocks if block is not None), {"query": 0, "key": 0})
    answers_text = "; ".join(f"{answer.name} ablated: {answer.probability:.3f}" for answer in answers)
    first = next((block.weight for block in all_blocks if block is not None), None)
    cells = "groups of tokens" if first is not None and "folded" in first.attrs else "tokens"
    maps = f"Alignments of {sizes['query']} by {sizes['key']} {cells} in {len(all_blocks)} blocks."
    parts = [maps + _most(all_blocks, dict(texts)), f"Probability of {label}, {answers_text}."]
    return " ".join(filter(None, parts))


def _most(all_blocks: Sequence[Block | None], texts: dict[str, str]) -> str:
    present = [
        (i, block.changed) for i, block in enumerate(all_blocks, 1) if block is not None and block.changed is not None
    ]
    if not present:
        return ""
    block, changed = max(present, key=lambda pair: float(abs(pair[1]).max()))
    if float(abs(changed).max()) <= NOTHING:
        return " Context changes nothing."
    place = np.unravel_index(int(np.abs(changed.values).argmax()), changed.shape)
    query, key = (numbered(labels(changed, texts, str(axis)))[i] for axis, i in zip(changed.dims, place))
    value = minus(f"{float(changed.values[place]):+.3g}")
    return f" Context changes most what “{query}” gives to “{key}” in block {block}: {value}."
