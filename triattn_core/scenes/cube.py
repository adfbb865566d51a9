"""A cube of attention, of whatever made it: a checkpoint, a model of another library, a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from triattn_core.scenes import scene
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import HidingSettings, MeanOrHead, Positions, SiteSetting, Unit
from triattn_core.scenes.trace_sites import site_choice, site_of_layer, sites_of_axes
from triattn_core.sources.explanation import Explanation, Reader, read_tokens
from triattn_core.trace.axis_labels import axis_labels, label_columns
from triattn_core.trace.distribution import Distribution
from triattn_core.trace.site import Site
from triattn_core.trace.token_grouping import TokenGrouping
from triattn_core.views import cube
from triattn_core.views.lib.strongest import strongest


class Settings(HidingSettings):
    """site: by default the first of three axes, of the layer (from 1) where one is given.  head: from 1, None is the
    mean.  query, key, context: to what each folds.  option: of a task that chooses among texts, from 1; None is the one
    that is chosen.  cell: positions of query, key and context.  slices: of an array of more than three axes, the
    positions on the others; empty is where most weight is."""

    site: SiteSetting = Site(layer=0, role="a_over_b", quantity="weight")
    layer: int | None = Field(None, ge=1)
    head: MeanOrHead = None
    query: Unit = "tokens"
    key: Unit = "tokens"
    context: Unit | Literal["turns"] = "tokens"
    option: int | None = Field(None, ge=1)
    slices: Positions = ()

    def grouping(self) -> TokenGrouping:
        """To what each axis folds, and what is hidden."""
        return self.group_tokens(query=self.query, key=self.key, context=self.context)


def build(explanations: Sequence[Explanation], settings: Settings, read: Reader = read_tokens) -> Scene:
    """The scene of the first.  read: groups its tokens.  Raises TraceError where it has no such cube or head,
    InputError for no such cell."""
    explanation = explanations[0]
    site = settings.site
    if "site" not in settings.model_fields_set:
        site = site_of_layer(sites_of_axes(explanation.trace, 3), settings.layer)
    trace = read(explanation, settings.grouping(), site).trace
    shown = Distribution(trace, site_choice(trace, site, settings.head, settings.slices))
    canvas = cube.figure(shown, settings.hide, exact=False)
    cell = scene.valid_cell(settings.cell, canvas.extents, canvas.cell)
    further = tuple(i for axis, i in shown.choice.index if axis != "head")
    resolved = {"site": site, "layer": None, "cell": cell, "slices": further, **scene.traced_option(explanation)}
    return Scene(
        settings=settings.model_copy(update=resolved),
        draw=lambda: {"cube": cube.figure(shown, settings.hide, start_cell=cell)},
        tabulate=lambda: label_columns(strongest(shown, hide_special=settings.hide), axis_labels(trace)),
        trace=trace,
        shown=shown,
        explanations=(explanation,),
        screen=canvas,
        axes=canvas.extents,
    )
