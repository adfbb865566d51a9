"""What COIN's figure says of the chosen pair: its numbers in every block, sentences, and the command for them."""

from __future__ import annotations

from collections.abc import Sequence

from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import QUANTITIES
from triattn_core.trace.site import Site
from triattn_core.views.coin.blocks import NEEDS, Block
from triattn_core.views.coin.sentences import command
from triattn_core.views.lib.readout import Case, Number, Readout, Row, Sentence

HALF = "{gate_low:half}–{gate_high:half}"  # between which the middle half of a token's gates lies


def keys(shown: Sequence[Block | None], features: bool) -> list[str | list[str]]:
    """What keys do; what is not drawn is not named."""
    parts: list[str | list[str]] = [": another query up and down, another key left and right"]
    if len(shown) > 1:
        parts += ["; ", ["[", "]"], " another block"]
    if any(block is not None and block.own for block in shown):
        parts += ["; ", ["Shift"], " and an arrow: what the query, or the key, looks at in its own sentence"]
    if features:
        parts += ["; ", [",", "."], " another feature of the gate"]
    return [*parts, ". A click chooses in every map. "]


def readout(
    trace: AttentionTrace,
    unablated: AttentionTrace,
    direction: str,
    shown: Sequence[Block | None],
    maps: int,
    features: bool,
    folded: bool,
) -> Readout:
    """maps: panels of a block, of which the first has its numbers.  folded: whether some keys join several tokens."""
    term, gate = (_has(shown, name) for name in ("plain", "gate"))
    columns = _columns(direction, shown, features, folded)
    numbers = [number for *_, number in columns]
    rows = [Row(f"block {i + 1}", i * maps, numbers, "ablated") for i in range(len(shown))]
    without = ", {plain:percent} without the context term" if term else ""
    said = f"In block {{block:nth}}, {{query}} gives {{weight:percent}} of its weight to {{key}}{without}."
    tip = ["{query} to {key}", "block {block:nth}: {weight}"]
    tip += ["without context {plain}, {changed:signed}"] * term
    tip += ["gate of “{query:plain}” {gate}, half of its features " + HALF] * gate
    return Readout(
        "{query} to {key}",
        [(name, meaning) for name, meaning, _ in columns],
        rows,
        [Sentence([Case(said)])],
        [Sentence([Case(text)]) for text in tip],
        _command(unablated, trace, direction, shown, features),
    )


def _has(shown: Sequence[Block | None], name: str) -> bool:
    return any(block is not None and getattr(block, name) is not None for block in shown)


def _columns(
    direction: str, shown: Sequence[Block | None], features: bool, folded: bool
) -> list[tuple[str, str, Number]]:
    """The columns: name, what it means, the number; those that the model does not have are left out."""
    first, second = direction.upper().split("_OVER_")
    weight, term = QUANTITIES["weight"], _has(shown, "plain")
    columns = [("with context" if term else "weight", weight, Number("weight"))]
    if term:
        columns += [
            ("without", "The weight that the same states have without the context term", Number("plain")),
            ("difference", "What context changed", Number("changed", "signed")),
        ]
    columns.append(("rank", "1 is the largest weight of this query", Number("weight", ranked=True)))
    if folded:
        share = "The weight over what even attention would give it, by how many tokens it joins"
        columns.append(("against even", share, Number("weight", "times", over="even")))
    if _has(shown, "score"):
        columns.append(("score", QUANTITIES["relevance"], Number("score")))
    most = "The key with the largest weight, and that weight"
    columns.append(("aligns most to", most, Number("weight", best="best", otherwise=("none",))))
    if _has(shown, "own"):
        columns += [_own(axis, side) for axis, side in zip(NEEDS, (first, second))]
    if _has(shown, "gate"):
        mean = "The mean over features of what “{query:plain}” keeps of itself: 0 takes in, 1 keeps"
        half = "Between these lie the gates of the middle half of the features"
        columns += [("gate", mean, Number("gate")), ("middle half", half, Number("gate", text=HALF))]
    if features:
        columns.append(("feature {feature:nth}", "The gate of this feature", Number("features")))
    even = (
        "How evenly the block's weights are spread: the mean over queries of their entropy, as a share of the largest "
    )
    return [*columns, ("spread", even + "possible, token by token; 1 is even, 0 one key alone", Number("spread"))]


def _own(axis: str, side: str) -> tuple[str, str, Number]:
    """Of a sentence: how much of its token goes to the one that is chosen for it."""
    share = f"the share of “{{{axis}:plain}}” that goes to “{{own {axis}:plain}}”, of which its context is made"
    return f"{{own {axis}}} in {side}", f"Self-alignment of sentence {side}: {share}", Number(f"own_{axis}")


def _command(
    unablated: AttentionTrace, trace: AttentionTrace, direction: str, shown: Sequence[Block | None], features: bool
) -> tuple[str, str]:
    """What prints the numbers of the chosen block again: a text, and a template behind it."""
    first, second = direction.split("_over_")
    site = Site(layer=0, role=direction)
    sites = [(site.with_quantity("weight"), "query", "key")]
    if _has(shown, "plain"):
        sites.append(((site / "without_context").with_quantity("weight"), "query", "key"))
    if _has(shown, "own"):
        for side, axis in ((first, "query"), (second, "key")):
            sites.append((Site(layer=0, role=f"{side}_over_{side}", quantity="weight"), axis, f"own {axis}"))
    if features:
        sites.append((site.with_quantity("gate"), "query", "feature"))
    # The layer is that of the chosen block.
    places = [(str(one).replace("0", "{block:at}", 1), row, column) for one, row, column in sites]
    cells = [f" \\\n  --cell {place} {{{row}:at}},{{{column}:at}}" for place, row, column in places]
    return command(unablated, str(trace.meta.get("off", ""))), "".join(cells)
