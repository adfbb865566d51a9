"""The tensor of one head of an MTSA checkpoint, and the clusters of its features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from triattn_core.checkpoint.registry import Card
from triattn_core.scenes import scene
from triattn_core.scenes.mtsa import first_layer, own_text
from triattn_core.scenes.runner import Models
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import CellSettings
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.views import cube, heads, tensor
from triattn_core.views.heads import maps as head_maps
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.strongest import strongest

if TYPE_CHECKING:
    from triattn_core.analysis.maps.clusters import Clusters


class Settings(CellSettings):
    """head: from 1.  clusters: of its features, at most.  cell: positions of query, key and feature."""

    layer: str | None = None
    head: int = Field(1, ge=1)
    quantity: Literal["weight", "relevance"] = "weight"
    clusters: int = Field(5, ge=1)


def build(models: Models, cards: Sequence[Card], example: Any, settings: Settings) -> Scene:
    """The scene of the page.  Raises TraceError where the checkpoint is no MTSA or has no such head."""
    from triattn_core.analysis.maps.clusters import cluster_features
    from triattn_core.analysis.maps.mtsa_tensor import head_tensor as computed

    found = models.explain(cards[0], example)
    layer = settings.layer or first_layer(found.trace)
    trace, choice = computed(found.trace, layer, settings.head - 1), Choice(f"{layer}/tensor/{settings.quantity}")
    groups = cluster_features(trace.site(f"{layer}/tensor/weight"), settings.clusters)
    order = (groups.order.tolist(), groups.of.tolist())
    known, first = cube.places(tensor.figure(trace, choice, *order, exact=False))
    cell = scene.valid_cell(settings.cell, known, first)
    figure = tensor.figure(trace, choice, *order, at=cell)
    return Scene(
        settings=settings.model_copy(update={"cell": cell, "layer": layer}),
        figures={"tensor": figure, "clusters": prototypes(trace, layer, groups, cell)},
        table=strongest(trace, choice),
        trace=trace,
        found=(found,),
    )


def pair_of(cell: Sequence[int], of: Sequence[int]) -> list[int]:
    """Where a cell (query, key, feature) of a tensor stands in the maps of clusters.  of: of each feature its own."""
    query, key, feature = cell
    return [query, key, of[feature], 0]


def prototypes(tensor: AttentionTrace, layer: str, groups: Clusters, cell: Sequence[int] | None = None) -> Canvas:
    """The canvas of the maps that stand for clusters of the features of a tensor.  cell: of it, whose pair is chosen at
    first."""
    means = head_maps.prototypes(tensor, layer, groups.of.tolist(), groups.prototypes, groups.typical)
    caption = f"{tensor.meta['checkpoint']}, {layer}, head {tensor.meta['head'] + 1} ({tensor.meta['mask']})"
    at = None if cell is None else pair_of(cell, groups.of.tolist())
    return heads.figure(means, own_text(tensor, layer), caption=caption, cell=at)
