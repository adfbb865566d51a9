"""COIN, block by block: a line of maps for each on one scale, beside them both sentences over themselves and the gate;
below, one token through the blocks and what is predicted with one part ablated (Figure 4 of "Context-aware Interaction
Network" draws the first)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import shorten

import numpy as np

from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import cell_counts
from triattn_core.views.coin.block_panels import feature_panel, kinds, map_panels, own_panels
from triattn_core.views.coin.block_readout import keys, readout
from triattn_core.views.coin.blocks import NEEDS, Answer, Block, blocks, first_cell, spread
from triattn_core.views.coin.scales import GATE, Scales
from triattn_core.views.coin.sentences import BEYOND, TRAINED, alt, caption, fold_notes
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.cell import describe_aggregation
from triattn_core.views.lib.figure import Figure, Grid, Moves, strongest_cells
from triattn_core.views.lib.marks import Course, Tally
from triattn_core.views.lib.number_format import minus
from triattn_core.views.lib.palette import Scale
from triattn_core.views.lib.panel import Panel
from triattn_core.views.lib.tokens import read_ends, tokens

HIGH = 330  # pixels that the rows of all blocks aim at
CHOSEN = "{query} → {key} in block {block:nth}"
MOVES = {
    "block": Moves(keys=("[", "]")),
    "feature": Moves(keys=(",", ".")),
    "own query": Moves("query", ("Shift+ArrowUp", "Shift+ArrowDown"), "query", ("most_query", "usual_query")),
    "own key": Moves("key", ("Shift+ArrowLeft", "Shift+ArrowRight"), "key", ("most_key", "usual_key")),
}


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
    whole, shown, texts = blocks(unablated, direction), blocks(trace, direction), dict(unablated.texts)
    first = next(block for block in whole if block is not None).weight
    scales, feature_count, lines = Scales.of(whole, first.sizes["key"]), _features(whole), kinds(whole, shown)
    even = int(cell_counts(first, "key").sum()) if describe_aggregation(first) else 0  # tokens, where keys join several
    axes = {axis: tokens(first, texts, axis, np.arange(first.sizes[axis])) for axis in NEEDS}
    spreads = [None if block is None else spread(block.weight) for block in blocks(ungrouped or trace, direction)]
    features = any(block and block.gate is not None and order is not None for block, order in zip(shown, orders))
    panels = map_panels(whole, shown, spreads, orders if features else (), even)
    panels += own_panels(whole, shown, direction) + [feature_panel(feature_count)] * features
    term = any(block is not None and block.changed is not None for block in shown)
    sizes = {"block": len(shown), "feature": feature_count} | {f"own {axis}": first.sizes[axis] for axis in NEEDS}
    return Figure(
        title="COIN: " + shorten(" / ".join(texts.values()), 90, placeholder=" …"),
        alt=alt(shown, answers, label, texts),
        texts=texts,
        axes={axis: {**words, "ink": axis} for axis, words in axes.items()},
        counts=sizes,
        cell=tuple(cell or first_cell(whole, texts, feature_count)),
        scales=_used({"weight": scales.weight, "change": scales.change, "gate": GATE}, panels),
        panels=panels,
        readout=readout(trace, unablated, direction, shown, len(lines), features, bool(even)),
        walk=_walk(shown, term),
        keys=keys(shown, features),
        walks="What context changed most" if term else "The largest weights",
        grid=Grid((3, 3), 120, 10, cell=(34, 200), row=(12.5, 20, HIGH / len(shown)), labels=(34, 110), gutter=28),
        caption=caption(trace, direction),
        notes=_notes(unablated, spreads, direction, scales.exceeded(shown)),
        mark=f"even share of “{{key:plain}}”, {{cells:count}}/{even}" if even else f"even, 1/{first.sizes['key']}",
        scale_lines=[CHOSEN, *(f"{kind.title}\t{kind.says}" for kind in lines if kind.array)],
        moves={name: MOVES[name] for name in MOVES if features or name != "feature"},
        charts=_charts(len(lines), shown, answers, label, str(trace.meta.get("off", ""))),
        read=read_ends(axes),
        even="even" if even else "",
        height=900,
    ).canvas()


def _used(scales: Mapping[str, Scale], panels: Sequence[Panel]) -> dict[str, Scale]:
    """Those on which some cells are."""
    names = {panel.cells.scale for panel in panels}
    return {name: scale for name, scale in scales.items() if name in names}


def _notes(trace: AttentionTrace, spreads: Sequence[float | None], direction: str, exceeded: bool) -> str:
    return " ".join(filter(None, [fold_notes(trace, spreads, direction), BEYOND * exceeded]))


def _features(all_blocks: Sequence[Block | None]) -> int:
    gates = (block.gate for block in all_blocks if block is not None)
    return max((gate.sizes["feature"] for gate in gates if gate is not None), default=1)


def _walk(shown: Sequence[Block | None], term: bool) -> list[tuple[int, int, int]]:
    """Pairs of all blocks by the size of what context changed; where there is no term, by their weight."""
    maps = [None if block is None else block.changed if term else block.weight for block in shown]
    shape = next((one.shape for one in maps if one is not None), (1, 1))
    sizes = [np.full(shape, np.nan) if one is None else np.abs(one.values.astype(np.float32)) for one in maps]
    return [(query, key, block) for block, query, key in strongest_cells(np.stack(sizes))]


def _charts(
    maps: int, shown: Sequence[Block | None], answers: Sequence[Answer], label: str, off: str
) -> tuple[Course, Tally]:
    """One token through the blocks, and the predictions with one part ablated.  maps: panels of a block."""
    plain = sum(block is not None and block.plain is not None for block in shown)
    lines = ["dashed: without context" if plain > 1 else "hollow: without context"] * bool(plain)
    course = Course(
        "One token through the blocks",
        "weight",
        [maps * i for i in range(len(shown))],
        [f"block {i}" + " ablated" * (block is None) for i, block in enumerate(shown, 1)],
        "plain" if plain else "",
        "what “{query}” aligns to",
        ["; ".join([*lines, "grey: the largest of a block"])],
    )
    changes = [minus(f"{answer.probability - answers[0].probability:+.3f}") for answer in answers]
    tally = Tally(
        "With one part ablated",
        [answer.name for answer in answers],
        [float(answer.probability) for answer in answers],
        ["flips" if one.flips else change * bool(i) for i, (one, change) in enumerate(zip(answers, changes))],
        bold=[i for i, answer in enumerate(answers) if answer.flips],
        chosen=next((i for i, answer in enumerate(answers) if answer.off == off), -1),
        ink="coin",
        note=f"probability of “{label}”",
        halfway="the threshold",
        lines=[TRAINED],
    )
    return course, tally
