"""Two languages on one shelf: which one a page is in, and what its checkpoints become when it turns to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.common import state
from triattn_core import records
from triattn_core.shelf import Card


@dataclass(frozen=True)
class Spoken:
    """The language that a page is in: a page's checkpoints read one and the same.

    first: the language that the page opens in.  key: the widget that holds the page's checkpoints, from which the
    language follows.  takes: for each language of the shelf what that widget takes when the page turns to it, a card or
    names of checkpoints.
    """

    now: str
    first: str
    key: str
    takes: Mapping[str, Any]

    def turn(self, code: str) -> None:
        """Before the next run: the page's checkpoints are those of the other language."""
        st.session_state[self.key] = self.takes[code]

    def reads(self) -> str:
        """What the page's checkpoints read."""
        taken = self.takes.get(self.now)
        who = f"{taken.name} reads" if isinstance(taken, Card) else "these models read"
        return f"{who} {records.spoken(self.now)}"

    def readers(self, code: str) -> str:
        """Who would read another language of the shelf."""
        taken = self.takes[code]
        return taken.name if isinstance(taken, Card) else f"the {records.spoken(code)} models"


def asked(key: str) -> list[str]:
    """Names of the checkpoints that the widget holds or, before it was made, that the link asks for."""
    state.forget(key)
    held = st.session_state.get(key)
    if held is None:
        return st.query_params.get_all(key)
    return [getattr(one, "name", one) for one in (held if isinstance(held, list) else [held])]


def by_language(cards: Sequence[Card]) -> dict[str, list[Card]]:
    """Cards by the language that they read."""
    found: dict[str, list[Card]] = {}
    for card in sorted(cards, key=records.place):
        found.setdefault(records.language(card), []).append(card)
    return found


def chosen(by: Mapping[str, Sequence[Card]], key: str, prefer: str) -> tuple[str, str]:
    """The language of the checkpoints that are asked for, else that of the link, else the one that the page opens in;
    and that one: the preferred language where there is any of it."""
    codes = {card.name: code for code, cards in by.items() for card in cards}
    found = [codes[name] for name in asked(key) if name in codes]
    first = prefer if prefer in by else next(iter(by), prefer)
    link = {records.spoken(code): code for code in by}.get(st.query_params.get("language", ""), first)
    if st.session_state.get(key) == []:  # all were taken out: the language stays
        link = st.session_state.get("language", link)
    return (found[0] if found else link), first


def single(cards: Sequence[Card], key: str, prefer: str) -> tuple[Spoken, list[Card]]:
    """For a page of one checkpoint: its language, and the cards to choose from.

    In another language stands the card with the same mechanism and similarity, else that with the same mechanism.
    """
    by = by_language(cards)
    now, first = chosen(by, key, prefer)
    here = by.get(now, [])
    card = next((one for one in here if one.name in asked(key)), here[0] if here else None)
    takes = {code: max(there, key=lambda one: _alike(one, card)) for code, there in by.items()}
    return Spoken(now, first, key, takes | ({now: card} if card else {})), here


def _alike(card: Card, other: Card | None) -> list[bool]:
    same = ("mechanism", "similarity")
    return [other is not None and records.model(card, one) == records.model(other, one) for one in same]
