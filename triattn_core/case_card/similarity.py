"""Readers under several similarity functions, as their page draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from triattn_core.case_card import drawn
from triattn_core.case_card.explained import Explained, Models
from triattn_core.errors import ConfigError
from triattn_core.shelf import Card
from triattn_core.tasks import questions
from triattn_core.views import similarity as view


class Settings(drawn.Settings):
    """shared: one colour scale for all.  part: of a long passage, from 1; None is where the last reader's answer is.
    titles: what the functions are called; None is as the page does where these alone are on the shelf.
    cell: positions of passage word, question word and function."""

    quantity: Literal["relevance", "centred", "weight"] = "relevance"
    shared: bool = False
    part: int | None = Field(None, ge=1)
    titles: tuple[str, ...] | None = None


def draw(models: Models, cards: Sequence[Card], example: Any, settings: Settings) -> dict:
    """Parts of `Drawn`.  Raises ConfigError for other than one to four readers, or readers that cut a passage in
    different places."""
    readers(cards)
    last = models.explain(cards[-1], example, settings.part and settings.part - 1)
    part = last.prediction.option
    found = [last if card is cards[-1] else models.explain(card, example, part) for card in cards]
    titles = settings.titles or tuple(view.titles({card.name: dict(card.config["model"]) for card in cards}).values())
    panels = [panel(title, one, example, part) for title, one in zip(titles, found)]
    counted = f"{len(example.passage.split())} words"
    look = {"quantity": settings.quantity, "shared": settings.shared, "counted": counted}
    payload = view.figure(panels, **look).payload
    sizes = [len(payload["axes"][axis]["label"]) for axis in ("query", "key")]
    cell = drawn.inside(settings.cell, [range(n) for n in (*sizes, len(panels))], payload["cell"])
    told = [facts(models, one, example, part, cell) for one in found]
    more = {"cell": cell, "caption": ", ".join(card.name for card in cards), "facts": told, "exact": True}
    return {
        "settings": settings.model_copy(update={"cell": cell, "part": part + 1, "titles": titles}),
        "figures": {"similarity": view.figure(panels, **more, **look)},
        "table": view.table(panels),
        "trace": view.joined(panels),
        "found": tuple(found),
    }


def readers(cards: Sequence[Card]) -> None:
    """Raises ConfigError where these cannot stand side by side."""
    if any(card.config.get("kind") != "reader" for card in cards) or not 1 <= len(cards) <= view.MOST:
        raise ConfigError(f"Similarity shows one to {view.MOST} readers: name checkpoints of that kind")
    if len({card.config.get("max_tokens") for card in cards}) > 1:
        raise ConfigError("These readers differ in max_tokens, the length of their windows: choose those of one size.")


def panel(title: str, found: Explained, example: questions.Example, part: int) -> view.Panel:
    """What one reader shows of part `part` (from 0) of the passage."""
    spans = found.prediction.spans
    right = questions.verdict(example, spans)[0] if example.answers else None
    elsewhere = spans[0].window + 1 if spans[0].window != part else None
    return view.Panel(title, found.trace, tuple(one[:3] for one in spans), right, elsewhere)


def facts(models: Models, found: Explained, example: questions.Example, part: int, cell: Sequence[int]) -> dict:
    """The exact numbers of a cell of one reader."""
    from triattn_core import spans

    terms = spans.terms(models.load(found.card), example, cell[0], cell[1], part)
    return spans.facts(found.trace, terms, cell[0], cell[1])
