"""The Tri-Attention cube of one checkpoint, as its page draws it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from triattn_core.analysis.folds import read
from triattn_core.case_card import drawn
from triattn_core.case_card.explained import Models
from triattn_core.shelf import Card
from triattn_core.views import cube
from triattn_core.views.strongest import strongest


class Settings(drawn.Settings):
    """head: from 1, None is the mean.  query, key, context: to what each folds; phrases: the reader's own.  hide: leave
    out special tokens, and sinks, which receive more than so many times an even share.  option: of a task that chooses
    among texts, from 1; None is the one that is chosen.  cell: positions of query, key and context."""

    site: str = "layer.0/a_over_b/weight"
    head: int | None = Field(None, ge=1)
    query: Literal["tokens", "words", "phrases", "sentences"] = "tokens"
    key: Literal["tokens", "words", "phrases", "sentences"] = "tokens"
    context: Literal["tokens", "words", "phrases", "sentences", "turns"] = "tokens"
    phrases: tuple[str, ...] = ()
    hide: bool = False
    sinks: float | None = Field(None, gt=0)
    option: int | None = Field(None, ge=1)


def draw(models: Models, cards: Sequence[Card], example: Any, settings: Settings) -> dict:
    """Parts of `Drawn`.  Raises TraceError where the checkpoint has no such cube or cell."""
    whole = models.explain(cards[0], example, settings.option and settings.option - 1)
    choice, ways = drawn.choice(settings.site, settings.head), {axis: getattr(settings, axis) for axis in cube.NEEDS}
    sinks = (settings.site.rsplit("/", 1)[0], settings.sinks) if settings.hide and settings.sinks else None
    trace = read(whole.trace, ways, settings.phrases, sinks)
    canvas = cube.figure(trace, choice, settings.hide)
    known, first = cube.places(canvas)
    cell = drawn.inside(settings.cell, known, first)
    at = {"cell": cell} | ({"option": whole.prediction.option + 1} if "option" in whole.trace.meta else {})
    return {
        "settings": settings.model_copy(update=at),
        "figures": {"cube": cube.figure(trace, choice, settings.hide, at=cell)},
        "table": strongest(trace, choice, hide_special=settings.hide),
        "trace": trace,
        "found": (whole,),
    }
