"""Two candidates or options of one example under one checkpoint: the maps query × context of both, summed over keys."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.common import answers, compared, given, languages, models, state
from pages.common.compared import Side
from pages.common.tasks import Words
from triattn_core import records
from triattn_core.analysis import compare, folds
from triattn_core.errors import InputError
from triattn_core.shelf import Card
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.views import side_by_side as view

# The turn asks under both: the other way round the queries would be two different texts.
DIRECTION = "a_over_b"


def settings(task: str, words: Words) -> tuple[Card, Choice, str]:
    """The pickers: which checkpoint, layer, head and quantity, and to what the context folds.

    Cells are not offered: long texts are cut into other cells with another option.
    """
    _, cards = languages.single(models.shelf(task, ("tri",)), "checkpoint", prefer="en")
    if not cards:
        st.info("Options are compared by their context, and no Tri-Attention checkpoint is here yet.")
        st.stop()
    card = state.pick("Checkpoint", cards, "checkpoint", show=lambda card: card.name, width=190)
    model = card.config["model"]
    choice = state.site(DIRECTION, int(model.get("layers", 2)), int(model.get("heads", 12)))
    ways = [way for way in words.ways if way != "tokens"]
    return card, choice, state.pick("Context as", ways, "context", width=108)


def other(example: Any, found: models.Explained, asked: int | None) -> int:
    """What is compared with the option that is shown: what was asked for, else the right one, else the next best."""
    shares, first, gold = answers.of_options(found), found.prediction.option, answers.right(example)
    if len(shares) < 2:
        raise InputError("There is one candidate: type another to compare it with.")
    if asked is not None and asked != first:
        return asked
    if gold is not None and gold != first:
        return gold
    return max((i for i in range(len(shares)) if i != first), key=shares.__getitem__)


def side(example: Any, what: given.Given, card: Card, choice: Choice, way: str) -> Side:
    """Both options at the same site, head and scale; the same turn stands under both.  Raises TriattnError."""
    first = models.explain(card, example, what.option)
    second = models.explain(card, example, other(example, first, what.other))
    found = [models.folded(one, {"context": way}) for one in (first, second)]
    panels = [panel(one, example, choice) for one in found]
    compare.same_tokens([one.weights for one in panels], [one.name for one in panels])
    whole = {f"{one.name}/{site}": array for one, it in zip(panels, found) for site, array in it.trace.sites.items()}
    names = [card.name, *(one.name for one in panels)]
    caption = compared.caption(names, choice) + f", summed over keys, context as {way}"
    meta = {"checkpoint": card.name, "options": ", ".join(one.name for one in panels)}
    parts = (*(text for one in found for text in one.trace.texts.values()), "options", way)
    return Side(
        panels,
        compared.difference(panels, 0, 1),
        found,
        choice,
        caption,
        AttentionTrace(whole, found[0].trace.texts, meta),
        parts,
        "context",
        _lines(choice, way, panels[0].drawn.sizes["key"]),
        "option",
    )


def panel(found: models.Explained, example: Any, choice: Choice) -> view.Panel:
    """One option: its map, its text, and what the model gives it."""
    site, head = choice.site.rsplit("/", 1)[0], next((i for _, i in choice.index), None)
    drawn, weights = (
        compare.two_way(folds.exchanged(found.trace.site(f"{site}/{kind}")), head)
        for kind in (choice.site.rsplit("/", 1)[1], "weight")
    )
    at, gold, card = found.prediction.option, answers.right(example), found.card
    label = found.prediction.labels[at]
    name = label.capitalize() if len(label) > 1 else f"Option {label}"
    text = answers.task(example).options(example)[at]
    verdict = (text, answers.of_options(found)[at], None if gold is None else at == gold)
    kind, similarity = records.model(card, "mechanism"), records.model(card, "similarity")
    numbers = (compare.entropy(weights), compare.rank(weights))
    return view.Panel(name, kind, similarity, drawn, weights, *numbers, *verdict, note="Σ key")


def _lines(choice: Choice, way: str, columns: int) -> tuple[str, ...]:
    if choice.site.endswith("/weight"):
        folded = f"Summed over keys, context folded to {way}: no mass is lost."
        return "One scale for both maps.", f"Line: an even share, 1/{columns}.", folded
    joined = f"Joined by log-sum-exp over keys and within {way}."
    return "One scale for both maps.", joined, "Each row is centred: softmax does not see the shift."
