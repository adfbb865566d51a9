"""The heads of an MTSA checkpoint, or of plain attention beside it: a tagger's, or a translation model's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from triattn_core.errors import ConfigError
from triattn_core.scenes import scene
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import SiteSetting, TextSettings
from triattn_core.sources.explanation import Explanation, Reader, read_tokens
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site
from triattn_core.trace.token_grouping import grouping_caption
from triattn_core.views import attention_maps
from triattn_core.views.attention_maps import maps as head_maps
from triattn_core.views.lib.canvas import Canvas

SCORES = (
    "scores go through a scale and a mask on their way to the weights, so that joined they would not be the scores of "
    "joined weights"
)
CROSS_ROLES = ("target piece", "source piece")


class Settings(TextSettings):
    """heads: from 1; None is the first of each mask.  layer: of a text, `premise/layer.0`; None is the first.
    features: source2token token × feature beside each map, else its means below; plain attention has none.  tokens:
    weights alone fold.  cell: positions of query and key, map, place in the order of its features."""

    layer: SiteSetting | None = None
    heads: tuple[int, ...] | None = None
    quantity: Literal["weight", "relevance"] = "weight"
    features: bool = True


@dataclass(frozen=True)
class HeadsScene(Scene):
    """orders: of each map its features as they stand, None where they are not drawn one by one."""

    orders: Sequence[Sequence[int]] | None = field(kw_only=True, repr=False)

    def feature(self, panel: int, place: int) -> int:
        """The feature at a place of a map, from 0; the first where they are not drawn one by one."""
        return self.orders[panel][place] if self.orders else 0


def build(explanations: Sequence[Explanation], settings: Settings, read: Reader = read_tokens) -> HeadsScene:
    """The scene of the first.  read: groups its tokens.  Raises TraceError where the trace has no heads of MTSA, of a
    tagger or of a translation model, or no such head."""
    explanation = explanations[0]
    if settings.quantity != "weight" and settings.grouping().folds:
        raise ConfigError(f"mtsa: {settings.tokens} are read of weights alone: {SCORES}")
    trace, layer = read(explanation, settings.grouping()).trace, settings.layer or first_layer(explanation.trace)
    first = head_maps.one_head_per_mask(trace, 0, layer)
    heads_from_0 = [i - 1 for i in settings.heads] if settings.heads else first
    features = settings.features and not head_maps.is_plain(trace, layer)
    orders = feature_orders(trace, layer, heads_from_0) if features else None
    arguments = (trace, layer, heads_from_0, settings.quantity, orders)
    canvas = maps(*arguments)
    cell = scene.valid_cell(settings.cell, canvas.extents, canvas.cell)
    resolved = {"cell": cell, "layer": layer, "heads": tuple(i + 1 for i in heads_from_0), "features": features}
    return HeadsScene(
        settings=settings.model_copy(update=resolved),
        draw=lambda: {"mtsa": maps(*arguments, cell)},
        tabulate=lambda: head_maps.table(trace, layer),
        trace=trace,
        explanations=(explanation,),
        screen=canvas,
        axes=canvas.extents,
        orders=orders,
    )


def maps(
    trace: AttentionTrace,
    layer: Site,
    head_indices: Sequence[int],
    quantity: str,
    orders: Sequence[Sequence[int]] | None,
    cell: Sequence[int] | None = None,
) -> Canvas:
    """The canvas of some heads (from 0) of a layer.  orders: see `HeadsScene`."""
    head_map_list = head_maps.maps(trace, layer, head_indices, quantity)
    place = layer.module, str(Site(layer=layer.layer))
    name, begins = str(trace.meta.get("marked", "")), int(trace.meta.get("marked_at", 0))
    legend = attention_maps.mark_legend(name) if name else ""
    parts = (str(trace.meta.get("checkpoint", "")), *place, grouping_caption(trace), legend)
    caption = ", ".join(filter(None, parts))
    roles = CROSS_ROLES if layer.module == "cross" else ("governor", "dependent")
    family = "Attention" if head_maps.is_plain(trace, layer) else "MTSA"
    return attention_maps.figure(
        head_map_list, own_texts(trace, layer), orders, caption, cell, family, roles, (name, begins) if name else None
    )


def feature_orders(trace: AttentionTrace, layer: Site, head_indices: Sequence[int]) -> list[list[int]]:
    """Of each head (from 0) its features, those that are alike side by side."""
    from triattn_core.analysis.maps.clusters import similarity_order

    weights = trace.site((layer / "source2token").with_quantity("weight"))
    return [similarity_order(weights.isel(head=head)) for head in head_indices]


def first_layer(trace: AttentionTrace) -> Site:
    """The first layer of the first text."""
    return Site(next(iter(trace.texts)) if len(trace.texts) > 1 else "", 0)


def own_texts(trace: AttentionTrace, layer: Site) -> Mapping[str, str]:
    """The text whose layer it is, by its name; both texts where one attends to the other."""
    name = layer.module or next(iter(trace.texts))
    return {name: trace.texts[name]} if name in trace.texts else trace.texts
