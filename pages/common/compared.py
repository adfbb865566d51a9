"""Choosing checkpoints to compare, and what each of them shows of one pair."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.common import languages, models, state
from pages.common.errors import notice
from triattn_core import records
from triattn_core.analysis import compare
from triattn_core.axes import MECHANISMS
from triattn_core.shelf import Card
from triattn_core.views import side_by_side as view

KEY = "checkpoints"  # of the widget, and in the URL
DIRECTIONS = {"A over B": "a_over_b", "B over A": "b_over_a"}


def named(cards: Sequence[Card]) -> list[str]:
    """Short names that tell the cards apart."""
    return view.titles([(c.name, records.model(c, "mechanism"), records.model(c, "similarity")) for c in cards])


def presets(cards: Sequence[Card]) -> dict[str, list[str]]:
    """Bi, C-Bi and Tri of one similarity (and one data set) by what they share: names of checkpoints."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for card in sorted(cards, key=records.place):
        shared = (records.model(card, "similarity").replace("_", " "), records.data(card))
        found.setdefault(shared, {}).setdefault(records.model(card, "mechanism"), card.name)
    alone = len({data for _, data in found}) == 1
    sets = {(one if alone else f"{one}, {data}"): by for (one, data), by in found.items() if len(by) >= view.FEWEST}
    return {name: [by[kind] for kind in MECHANISMS if kind in by] for name, by in sets.items()}


def spoken(cards: Sequence[Card], prefer: str) -> tuple[languages.Spoken, list[Card]]:
    """The language of the page and the cards to choose from; in another language stands the same similarity."""
    by, takes = languages.by_language(cards), {}
    now, first = languages.chosen(by, KEY, prefer)
    similarity = _shared(presets(by.get(now, [])), languages.asked(KEY))
    for code, there in by.items():
        sets = presets(there)
        takes[code] = sets.get(similarity or "", opening(sets, there))
    return languages.Spoken(now, first, KEY, takes), by.get(now, [])


def beside(card: Card) -> list[str]:
    """The preset that a card is in, as names of checkpoints; empty where there is none."""
    here = [one for one in models.shelf("pairs", tuple(MECHANISMS)) if records.language(one) == records.language(card)]
    return next((names for names in presets(here).values() if card.name in names), [])


def opening(sets: dict[str, list[str]], cards: Sequence[Card]) -> list[str]:
    """What the page opens on: the first preset, else the first cards."""
    return next(iter(sets.values()), [card.name for card in cards][: view.FEWEST])


def several(cards: Sequence[Card]) -> list[Card]:
    """The chosen checkpoints in the order of the mechanisms: those of one similarity, or any two to four.

    Their names are in the URL where they are not what the page opens on.
    """
    sets, names = presets(cards), [card.name for card in cards]
    first = opening(sets, cards)
    if KEY not in st.session_state:
        st.session_state[KEY] = _linked(names, first)
    elif any(name not in names for name in st.session_state[KEY]):
        st.session_state[KEY] = first
    if sets:
        one = st.session_state["similarity"] = _shared(sets, st.session_state[KEY])
        look = {"placeholder": "several", "width": 128}
        at = None if one is None else 0  # where none is the default, one could be taken out
        st.selectbox("Similarity", list(sets), at, key="similarity", on_change=_take, args=(sets,), **look)
    with st.popover("Checkpoints", width=124):
        chosen = st.multiselect("Two to four of one language", names, key=KEY, max_selections=view.MOST)
    if set(chosen) == set(first):
        st.query_params.pop(KEY, None)
    elif st.query_params.get_all(KEY) != chosen:
        st.query_params[KEY] = chosen
    order = list(MECHANISMS)
    return sorted((c for c in cards if c.name in chosen), key=lambda c: order.index(records.model(c, "mechanism")))


def _linked(names: Sequence[str], first: list[str]) -> list[str]:
    """What the link asks for; where that is less than two of these checkpoints, what the page opens on."""
    asked = list(dict.fromkeys(st.query_params.get_all(KEY)))
    kept = [name for name in asked if name in names][: view.MOST]
    found = kept if len(kept) >= view.FEWEST else first
    if asked and kept != asked:
        left_out = ", ".join(name for name in asked if name not in kept)[:80]
        told = f"The link asks for {left_out}: not on the shelf, not of one language with the others, or too many."
        notice(f"{told} Shown instead: {', '.join(found)}.")
    return found


def _shared(sets: dict[str, list[str]], names: Sequence[str]) -> str | None:
    """The preset that holds just these names."""
    return next((name for name, one in sets.items() if set(one) == set(names)), None)


def _take(sets: dict[str, list[str]]) -> None:
    if st.session_state["similarity"]:
        st.session_state[KEY] = sets[st.session_state["similarity"]]


def settings(cards: Sequence[Card]) -> tuple[str, int, int | None, str, tuple[int, int]]:
    """Direction, layer and head (from 0; None is the mean), quantity, and which two are subtracted."""
    most = {what: max(int(card.config["model"].get(what, 1)) for card in cards) for what in ("layers", "heads")}
    direction = state.segments("Direction", list(DIRECTIONS), "direction")
    layer = state.segments("Layer", list(range(1, most["layers"] + 1)), "layer", default=0)
    head = state.pick("Head", ["mean", *range(1, most["heads"] + 1)], "head", width=92)
    quantity = state.segments("Quantity", ["weight", "relevance"], "quantity")
    names = named(cards)
    pairs = {f"{names[i]} − {names[j]}": (i, j) for i in reversed(range(len(names))) for j in range(i)}
    picker = state.segments if len(pairs) <= 3 and max(map(len, pairs)) < 16 else state.pick
    gap = pairs[picker("Difference", list(pairs), "difference")]
    return DIRECTIONS[direction], layer - 1, None if head == "mean" else head - 1, quantity, gap


def caption(cards: Sequence[Card], direction: str, layer: int, head: int | None, quantity: str) -> str:
    """The settings in words, for under a saved picture."""
    which = "mean of heads" if head is None else f"head {head + 1}"
    told = (f"layer {layer + 1}", direction.replace("_", " "), which, quantity)
    return ", ".join([*(card.name for card in cards), *told])


def panel(found: models.Explained, direction: str, layer: int, head: int | None, quantity: str) -> view.Panel:
    """What one checkpoint shows; a layer or head that it does not have is replaced by its last, and that is said."""
    card, said, trace = found.card, found.prediction, found.trace
    site = f"layer.{min(layer, compare.depth(trace) - 1)}/{direction}/"
    heads = trace.site(site + "weight").sizes["head"]
    for what, asked, has in (("layer", layer, compare.depth(trace)), ("head", head, heads)):
        if asked is not None and asked >= has:
            plural = "s" if has > 1 else ""
            notice(
                f"{card.name} has {has} {what}{plural}: its {what} {has} stands beside {what} {asked + 1} of others."
            )
    head = None if head is None else min(head, heads - 1)
    drawn, weights = (compare.two_way(trace.site(site + kind), head) for kind in (quantity, "weight"))
    right = None if said.gold is None else said.best == said.gold
    score, metric = records.score(card), records.metric_name(card)
    measured = "" if score is None else f"{records.data(card)} test {metric} {score:.1f} %"
    kind, similarity = records.model(card, "mechanism"), records.model(card, "similarity")
    numbers = (compare.entropy(weights), compare.rank(weights))
    verdict = (said.labels[said.best], said.probabilities[said.best], right, measured)
    return view.Panel(card.name, kind, similarity, drawn, weights, *numbers, *verdict)
