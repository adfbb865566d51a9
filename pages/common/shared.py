"""The models of all sessions, as the library asks for them; and case cards made with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pages.common import models, switched
from triattn_core.case_card import draw
from triattn_core.case_card.explained import Explained, Models
from triattn_core.shelf import Card


class Shared(Models):
    """All is kept, and shared by all sessions."""

    def load(self, card: Card) -> Any:
        return models.load(card)

    def explain(self, card: Card, example: Any, option: int | None = None) -> Explained:
        return models.explain(card, example, option)

    def answer(self, card: Card, says: str, then: Callable[[Any], Any], *key: Any) -> Any:
        return models.answer(card, says, then, *key)

    def without(self, card: Card, example: Any) -> dict[str, Explained]:
        return switched.explained(card, example)


SHARED = Shared()


def card(
    view: str, cards: Sequence[Card], example: Any, settings: Callable[[], Mapping[str, Any]]
) -> Callable[[], bytes]:
    """What makes the case card when it is asked for.

    settings: what is chosen, asked for then too: a click may have chosen another cell since the page ran.
    """
    return lambda: draw(view, [one.name for one in cards], example, SHARED, **settings()).card()
