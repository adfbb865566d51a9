"""The Tri-Attention cube of one checkpoint, as its page draws it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from triattn_core.case_card import drawn
from triattn_core.case_card.explained import Models
from triattn_core.shelf import Card
from triattn_core.views import cube
from triattn_core.views.strongest import strongest


class Settings(drawn.Read):
    """head: from 1, None is the mean.  query, key, context: to what each folds.  option: of a task that chooses among
    texts, from 1; None is the one that is chosen.  cell: positions of query, key and context."""

    site: str = "layer.0/a_over_b/weight"
    head: int | None = Field(None, ge=1)
    query: drawn.Way = "tokens"
    key: drawn.Way = "tokens"
    context: drawn.Way | Literal["turns"] = "tokens"
    option: int | None = Field(None, ge=1)


def draw(models: Models, cards: Sequence[Card], example: Any, settings: Settings) -> dict:
    """Parts of `Drawn`.  Raises TraceError where the checkpoint has no such cube or cell."""
    whole = models.explain(cards[0], example, settings.option and settings.option - 1)
    choice, ways = drawn.choice(settings.site, settings.head), {axis: getattr(settings, axis) for axis in cube.NEEDS}
    trace = settings.reading(**ways).trace(whole.trace, settings.site.rsplit("/", 1)[0])
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
