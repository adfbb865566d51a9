"""The heads of an MTSA checkpoint, and the tensor of one of them, as their pages draw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from triattn_core.case_card import drawn
from triattn_core.case_card.explained import Models
from triattn_core.errors import ConfigError
from triattn_core.shelf import Card
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.views import cube, head_maps, heads, tensor
from triattn_core.views.canvas import Canvas
from triattn_core.views.strongest import strongest

if TYPE_CHECKING:
    from triattn_core.analysis.clusters import Clusters


SCORES = (
    "scores go through a scale and a mask on their way to the weights, so that joined they would not be the scores of "
    "joined weights"
)


class Heads(drawn.Texts):
    """heads: from 1; None is the first of each mask.  layer: as sites begin, `premise/layer.0`; None is the first.
    features: source2token token × feature beside each map, else its means below.  read: weights alone fold.
    cell: positions of query and key, map, place in the order of its features."""

    layer: str | None = None
    heads: tuple[int, ...] | None = None
    quantity: Literal["weight", "relevance"] = "weight"
    features: bool = True


class Tensor(drawn.Cell):
    """head: from 1.  clusters: of its features, at most.  cell: positions of query, key and feature."""

    layer: str | None = None
    head: int = Field(1, ge=1)
    quantity: Literal["weight", "relevance"] = "weight"
    clusters: int = Field(5, ge=1)


def draw_heads(models: Models, cards: Sequence[Card], example: Any, settings: Heads) -> dict:
    """Parts of `Drawn`.  Raises TraceError where the checkpoint is no MTSA or has no such head."""
    found = models.explain(cards[0], example)
    if settings.quantity != "weight" and settings.as_read().folds:
        raise ConfigError(f"mtsa: {settings.read} are read of weights alone: {SCORES}")
    trace, layer = settings.as_read().trace(found.trace), settings.layer or first_layer(found.trace)
    chosen = [i - 1 for i in settings.heads] if settings.heads else head_maps.beside(trace, 0)
    how = (trace, layer, chosen, settings.quantity, settings.features)
    payload = maps(*how).payload
    axes, panels = payload["axes"], payload["panels"]
    known = [range(len(axes["query"]["label"])), range(len(axes["key"]["label"])), range(len(panels))]
    cell = drawn.inside(settings.cell, [*known, range(len(panels[0]["order"] or [0]))], payload["cell"])
    at = {"cell": cell, "layer": layer, "heads": tuple(i + 1 for i in chosen)}
    return {
        "settings": settings.model_copy(update=at),
        "figures": {"mtsa": maps(*how, cell)},
        "table": head_maps.table(trace, layer),
        "trace": trace,
        "found": (found,),
    }


def maps(
    trace: AttentionTrace,
    layer: str,
    chosen: Sequence[int],
    quantity: str,
    features: bool,
    cell: Sequence[int] | None = None,
) -> Canvas:
    """The canvas of some heads (from 0) of a layer."""
    from triattn_core.analysis.clusters import likeness

    found = head_maps.maps(trace, layer, chosen, quantity)
    weights = trace.site(f"{layer}/source2token/weight")
    orders = [likeness(weights.isel(head=head)) for head in chosen] if features else None
    caption = f"{trace.meta['checkpoint']}, {layer.replace('/', ', ')}"
    caption += f", {trace.meta['read'].removeprefix('--')}" if "read" in trace.meta else ""
    return heads.figure(found, own_text(trace, layer), orders, caption, cell)


def draw_tensor(models: Models, cards: Sequence[Card], example: Any, settings: Tensor) -> dict:
    """Parts of `Drawn`.  Raises TraceError where the checkpoint is no MTSA or has no such head."""
    from triattn_core.analysis.clusters import clusters
    from triattn_core.analysis.tensor import tensor as computed

    found = models.explain(cards[0], example)
    layer = settings.layer or first_layer(found.trace)
    trace, choice = computed(found.trace, layer, settings.head - 1), Choice(f"{layer}/tensor/{settings.quantity}")
    groups = clusters(trace.site(f"{layer}/tensor/weight"), settings.clusters)
    order = (groups.order.tolist(), groups.of.tolist())
    known, first = cube.places(tensor.figure(trace, choice, *order, exact=False))
    cell = drawn.inside(settings.cell, known, first)
    figure = tensor.figure(trace, choice, *order, at=cell)
    return {
        "settings": settings.model_copy(update={"cell": cell, "layer": layer}),
        "figures": {"tensor": figure, "clusters": prototypes(trace, layer, groups, cell)},
        "table": strongest(trace, choice),
        "trace": trace,
        "found": (found,),
    }


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


def first_layer(trace: AttentionTrace) -> str:
    """The first layer of the first text, as sites begin."""
    several = len(trace.texts) > 1
    return f"{next(iter(trace.texts))}/layer.0" if several else "layer.0"


def own_text(trace: AttentionTrace, layer: str) -> Mapping[str, str]:
    """The text whose layer it is, by its name."""
    name = layer.rpartition("/")[0] or next(iter(trace.texts))
    return {name: trace.texts[name]}
