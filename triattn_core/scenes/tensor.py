"""The tensor of one head of an MTSA checkpoint, and the clusters of its features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from triattn_core.scenes import scene
from triattn_core.scenes.mtsa import first_layer, own_texts
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import CellSettings, SiteSetting
from triattn_core.sources.explanation import Explanation, Reader, read_tokens
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.distribution import Distribution
from triattn_core.trace.site import Site
from triattn_core.views import attention_maps, tensor
from triattn_core.views.attention_maps import maps as head_maps
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.strongest import strongest

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.analysis.maps.clusters import Clusters


class Settings(CellSettings):
    """head: from 1.  clusters: of its features, at most.  cell: positions of query, key and feature."""

    layer: SiteSetting | None = None
    head: int = Field(1, ge=1)
    quantity: Literal["weight", "relevance"] = "weight"
    clusters: int = Field(5, ge=1)


@dataclass(frozen=True)
class TensorScene(Scene):
    """clusters: of the features.  below: their maps, which stand below the tensor."""

    settings: Settings
    clusters: Clusters = field(kw_only=True, repr=False)
    below: Canvas = field(kw_only=True, repr=False)

    def cluster_table(self) -> pd.DataFrame:
        """A row for each pair of tokens in each map of a cluster."""
        assert self.settings.layer  # `build` fills it
        maps = prototype_maps(self.trace, self.settings.layer, self.clusters)
        return head_maps.rows(maps, self.trace.texts, [{"cluster": prototype.title} for prototype in maps])


def build(explanations: Sequence[Explanation], settings: Settings, read: Reader = read_tokens) -> TensorScene:
    """The scene of the first, whose tensor is computed from the scores of its trace; no token is grouped.  Raises
    TraceError where the trace is not one of MTSA or has no such head, InputError where the tensor is too large."""
    from triattn_core.analysis.maps.clusters import cluster_features
    from triattn_core.analysis.maps.mtsa_tensor import head_tensor

    explanation = explanations[0]
    layer = settings.layer or first_layer(explanation.trace)
    trace = head_tensor(explanation.trace, layer, settings.head - 1)
    clusters = cluster_features(trace.site((layer / "tensor").with_quantity("weight")), settings.clusters)
    shown = Distribution(trace, Choice((layer / "tensor").with_quantity(settings.quantity)))
    order = clusters.order.tolist(), clusters.assignments.tolist()
    canvas = tensor.figure(shown, *order, exact=False)
    cell = scene.valid_cell(settings.cell, canvas.extents, canvas.cell)

    def draw() -> Mapping[str, Canvas]:
        return {
            "tensor": tensor.figure(shown, *order, start_cell=cell),
            "clusters": prototypes(trace, layer, clusters, cell),
        }

    return TensorScene(
        settings=settings.model_copy(update={"cell": cell, "layer": layer}),
        draw=draw,
        tabulate=lambda: strongest(shown),
        trace=trace,
        shown=shown,
        explanations=(explanation,),
        screen=canvas,
        axes=canvas.extents,
        clusters=clusters,
        below=prototypes(trace, layer, clusters),
    )


def pair_of(cell: Sequence[int], assignments: Sequence[int]) -> list[int]:
    """Where a cell (query, key, feature) of a tensor stands in the maps of clusters.  assignments: of each feature its
    cluster."""
    query, key, feature = cell
    return [query, key, assignments[feature], 0]


def prototype_maps(tensor: AttentionTrace, layer: Site, groups: Clusters) -> list[head_maps.Map]:
    """The maps that stand for clusters of the features of a tensor."""
    return head_maps.prototypes(tensor, layer, groups.assignments.tolist(), groups.prototypes, groups.typical)


def prototypes(tensor: AttentionTrace, layer: Site, groups: Clusters, cell: Sequence[int] | None = None) -> Canvas:
    """The canvas of `prototype_maps`.  cell: of the tensor, whose pair is chosen at first."""
    name, number = tensor.meta.get("checkpoint", "trace"), int(tensor.meta["head"]) + 1
    caption = f"{name}, {layer}, head {number} ({tensor.meta['mask']})"
    pair = None if cell is None else pair_of(cell, groups.assignments.tolist())
    return attention_maps.figure(
        prototype_maps(tensor, layer, groups), own_texts(tensor, layer), caption=caption, cell=pair
    )
