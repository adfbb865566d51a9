"""One map of query × key, large: of a head, of the mean of heads, or the rollout of all layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from triattn_core.scenes import scene
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import MeanOrHead, SiteSetting, TextSettings
from triattn_core.scenes.trace_sites import ROLLOUT, map_of, map_sites, site_of_layer
from triattn_core.sources.explanation import Explanation, Reader, read_tokens
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axis_labels import axis_labels, label_columns
from triattn_core.trace.site import Site
from triattn_core.views import attention_maps
from triattn_core.views.attention_maps import maps as head_maps
from triattn_core.views.lib.canvas import Canvas


class Settings(TextSettings):
    """site: without its quantity, or `rollout`; None is that of the layer, from 1, and of the first without one.
    head: from 1, None is the mean.  cell: positions of query and key."""

    site: SiteSetting | None = None
    layer: int | None = Field(None, ge=1)
    head: MeanOrHead = None
    quantity: Literal["weight", "relevance"] = "weight"


def build(explanations: Sequence[Explanation], settings: Settings, read: Reader = read_tokens) -> Scene:
    """The scene of the first.  read: groups its tokens.  Raises TraceError: no such site or head; InputError: no such
    cell."""
    explanation = explanations[0]
    site = settings.site or site_of_layer(map_sites(explanation.trace), settings.layer)
    trace = read(explanation, settings.grouping()).trace
    values = map_of(trace, site, settings.head and settings.head - 1, settings.quantity)
    canvas = _figure(trace, site, values)
    cell = scene.valid_cell(settings.cell, canvas.extents[:2], canvas.cell[:2])
    rows = lambda: head_maps.rows([values], trace.texts, [{"map": values.title}])  # noqa: E731
    return Scene(
        settings=settings.model_copy(update={"site": site, "layer": None, "cell": cell}),
        draw=lambda: {"map": _figure(trace, site, values, (*cell, 0, 0))},
        tabulate=lambda: label_columns(rows(), axis_labels(trace)),
        trace=trace,
        explanations=(explanation,),
        screen=canvas,
        axes=canvas.extents[:2],
    )


def _figure(trace: AttentionTrace, site: Site, values: head_maps.Map, cell: tuple[int, ...] | None = None) -> Canvas:
    labels, title = axis_labels(trace), values.title[0].lower() + values.title[1:]
    name = "" if site == ROLLOUT else site.role.replace("_", " ")
    parts = (str(trace.meta.get("checkpoint", "")), name, "" if title == name else title)
    roles = labels["query"], labels["key"]
    caption = ", ".join(filter(None, parts))
    return attention_maps.figure([values], trace.texts, None, caption, cell, "Attention", roles=roles, large=True)
