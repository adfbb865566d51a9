"""The terms of a cell's score in every function, as blocks below their maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from triattn_core.trace.axes import QUANTITIES
from triattn_core.views.lib.reading import Block, Line
from triattn_core.views.similarity.function_panels import ONE_FOR_ALL, WAYS, cut
from triattn_core.views.similarity.panels import OVER_PASSAGE, FunctionPanel

LETTERS = "abcdefgh"  # of terms
SENTINEL = "The share of these weights that no word has"
BACK = "How the question attends to the passage word: sums to one over the passage"


def blocks(panels: Sequence[FunctionPanel], facts: Sequence[Mapping[str, Any]], quantity: str) -> list[Block]:
    """facts: of each panel what `span_decoding.cell_facts` says of the cell.  quantity: what the maps show."""
    return [_block(panel, of_panel, quantity) for panel, of_panel in zip(panels, facts)]


def _block(panel: FunctionPanel, facts: Mapping[str, Any], quantity: str) -> Block:
    names, several = [name for name, _ in facts["terms"]], len(facts["terms"]) > 1
    letters = [LETTERS[i] if several else "" for i in range(len(names))]
    listed = ", ".join(f"{letter}: {_formula(name)}" for letter, name in zip(letters, names)) if several else ""
    said = ", ".join(f"{says} “{cut(panel, span)}”" for says, span in zip(("answers", "next best"), panel.spans))
    return Block(
        panel.title,
        [*_sum(facts), *_weights(facts)],
        note="" if several else _formula(names[0]),  # the one term is the score
        pair=" × ".join(facts["pair"]["words"]) if facts.get("pair") else "",
        said=said,
        title=f"strongest of {facts['width']} dimensions",
        items=[(f"{at + 1}{letters[term]}", value, names[term]) for term, at, value in facts["dimensions"]],
        legends=[text for text in (listed, cancel_note(quantity, facts)) if text] if several else (),
    )


def _formula(name: str) -> str:
    return name.replace("^t", "ᵗ").replace(" * ", "∗")


def _sum(facts: Mapping[str, Any]) -> Iterator[Line]:
    """Each term, where there are several, and the score that they add up to."""
    for name, value in facts["terms"] if len(facts["terms"]) > 1 else ():
        yield Line(_formula(name), value, "signed", bar=True)
    total = facts["pair"]["score"] if facts.get("pair") else facts["score"]  # words that were joined have no terms
    yield Line("score", total, bar=True, total=True)


def _weights(facts: Mapping[str, Any]) -> Iterator[Line]:
    """The centred score, and the weight of each flow."""
    pair, back = facts.get("pair"), facts.get("over_passage")
    name, cell = ("cell, centred", "cell's ") if pair else ("score minus its row's mean", "")
    yield Line(name, facts["centred"], "signed", help=QUANTITIES["relevance"])
    yield from _flow(f"{cell}weight, {WAYS['weight']}", facts, QUANTITIES["weight"])
    if back:
        shared = f", {ONE_FOR_ALL}" if back["one_for_all"] else ""
        yield from _flow(f"{cell}weight, {WAYS[OVER_PASSAGE]}{shared}", back, BACK)


def _flow(name: str, facts: Mapping[str, Any], help_: str) -> Iterator[Line]:
    """A weight with its rank, and what a sentinel takes of its distribution."""
    yield Line(name, facts["weight"], after=f", rank {facts['rank']} of {facts['of']}", help=help_)
    if facts["sentinel"]:
        yield Line("left to the sentinel", facts["sentinel"], help=SENTINEL)


def cancel_note(quantity: str, facts: Mapping[str, Any]) -> str:
    """Which terms cancel in the softmax of the shown flow, or why not; may be ""."""
    alike, down = (", ".join(map(_formula, facts.get(name, ()))) for name in ("alike", "alike_down"))
    back = facts.get("over_passage") if quantity == OVER_PASSAGE else None
    if not back:
        said = "the same for every question word, so the softmax over the question takes it away"
        return f"{alike}: {said}" if alike else ""
    if back["one_for_all"]:
        said = "counts here, for the softmax over the passage takes each passage word's highest score"
        return f"{alike}: {said}" if alike else ""
    said = "the same for every passage word, so the softmax over the passage takes it away"
    return f"{down}: {said}" if down else ""
