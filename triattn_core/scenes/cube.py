"""The Tri-Attention cube of one checkpoint, as a scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes import scene
from triattn_core.scenes.runner import Explanation, Models
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import HidingSettings, Unit
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.axis_labels import axis_labels, label_columns
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
    option = {"option": explanation.prediction.option + 1} if "option" in explanation.trace.meta else {}
    return cube_scene(trace, choice, settings.model_copy(update=option), (explanation,))


def cube_scene(
    trace: AttentionTrace, choice: Choice, settings: HidingSettings, explanations: Sequence[Explanation] = ()
) -> Scene:
    """The scene of a cube, of a checkpoint or opened from a file.  trace: folded as the settings say.  Raises
    InputError where there is no such cell."""
    canvas = cube.figure(trace, choice, settings.hide, exact=False)
    cell = scene.valid_cell(settings.cell, canvas.extents, canvas.cell)
    return Scene(
        settings=settings.model_copy(update={"cell": cell}),
        draw=lambda: {"cube": cube.figure(trace, choice, settings.hide, start_cell=cell)},
        tabulate=lambda: label_columns(strongest(trace, choice, hide_special=settings.hide), axis_labels(trace)),
        trace=trace,
        explanations=explanations,
        screen=canvas,
        axes=canvas.extents,
    )
