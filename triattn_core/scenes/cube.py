"""The Tri-Attention cube of one checkpoint, as a scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes import scene
from triattn_core.scenes.runner import Models
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import HidingSettings, Unit
from triattn_core.trace.token_grouping import TokenGrouping
from triattn_core.views import cube
from triattn_core.views.lib.strongest import strongest


class Settings(HidingSettings):
    """head: from 1, None is the mean.  query, key, context: to what each folds.  option: of a task that chooses among
    texts, from 1; None is the one that is chosen.  cell: positions of query, key and context."""

    site: str = "layer.0/a_over_b/weight"
    head: int | None = Field(None, ge=1)
    query: Unit = "tokens"
    key: Unit = "tokens"
    context: Unit | Literal["turns"] = "tokens"
    option: int | None = Field(None, ge=1)

    def grouping(self) -> TokenGrouping:
        """To what each axis folds, and what is hidden."""
        return self.group_tokens(query=self.query, key=self.key, context=self.context)


def build(models: Models, entries: Sequence[Entry], example: Any, settings: Settings) -> Scene:
    """The scene of the page.  Raises TraceError where the checkpoint has no such cube or cell."""
    explanation = models.explain(entries[0], example, settings.option and settings.option - 1)
    choice = scene.head_choice(settings.site, settings.head)
    trace = models.read(explanation, settings.grouping(), settings.site.rsplit("/", 1)[0]).trace
    canvas = cube.figure(trace, choice, settings.hide, exact=False)
    cell = scene.valid_cell(settings.cell, canvas.extents, canvas.cell)
    resolved = {"cell": cell} | (
        {"option": explanation.prediction.option + 1} if "option" in explanation.trace.meta else {}
    )
    return Scene(
        settings=settings.model_copy(update=resolved),
        draw=lambda: {"cube": cube.figure(trace, choice, settings.hide, start_cell=cell)},
        tabulate=lambda: strongest(trace, choice, hide_special=settings.hide),
        trace=trace,
        explanations=(explanation,),
        screen=canvas,
        axes=canvas.extents,
    )
