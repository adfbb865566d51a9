"""The heads of an MTSA checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import ConfigError
from triattn_core.scenes import scene
from triattn_core.scenes.runner import Models
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import TextSettings
from triattn_core.trace import AttentionTrace
from triattn_core.trace.token_grouping import grouping_caption
from triattn_core.views import heads
from triattn_core.views.heads import maps as head_maps
from triattn_core.views.lib.canvas import Canvas

SCORES = (
    "scores go through a scale and a mask on their way to the weights, so that joined they would not be the scores of "
    "joined weights"
)


class Settings(TextSettings):
    """heads: from 1; None is the first of each mask.  layer: as sites begin, `premise/layer.0`; None is the first.
    features: source2token token × feature beside each map, else its means below.  read: weights alone fold.
    cell: positions of query and key, map, place in the order of its features."""

    layer: str | None = None
    heads: tuple[int, ...] | None = None
    quantity: Literal["weight", "relevance"] = "weight"
    features: bool = True


def build(models: Models, entries: Sequence[Entry], example: Any, settings: Settings) -> Scene:
    """The scene of the page.  Raises TraceError where the checkpoint is no MTSA or has no such head."""
    explained = models.explain(entries[0], example)
    if settings.quantity != "weight" and settings.grouping().folds:
        raise ConfigError(f"mtsa: {settings.read} are read of weights alone: {SCORES}")
    trace, layer = models.read(explained, settings.grouping()).trace, settings.layer or first_layer(explained.trace)
    chosen = [i - 1 for i in settings.heads] if settings.heads else head_maps.beside(trace, 0)
    how = (trace, layer, chosen, settings.quantity, settings.features)
    canvas = maps(*how)
    axes, panels = canvas.payload["axes"], canvas.payload["panels"]
    features = panels[0]["order"] or [0]
    sizes = (len(axes["query"]["label"]), len(axes["key"]["label"]), len(panels), len(features))
    known = [range(size) for size in sizes]
    cell = scene.valid_cell(settings.cell, known, canvas.payload["cell"])
    at = {"cell": cell, "layer": layer, "heads": tuple(i + 1 for i in chosen)}
    return Scene(
        settings=settings.model_copy(update=at),
        draw=lambda: {"mtsa": maps(*how, cell)},
        tabulate=lambda: head_maps.table(trace, layer),
        trace=trace,
        explained=(explained,),
        screen=canvas,
        axes=known,
    )


def maps(
    trace: AttentionTrace,
    layer: str,
    chosen: Sequence[int],
    quantity: str,
    features: bool,
    cell: Sequence[int] | None = None,
) -> Canvas:
    """The canvas of some heads (from 0) of a layer."""
    from triattn_core.analysis.maps.clusters import similarity_order

    shown = head_maps.maps(trace, layer, chosen, quantity)
    weights = trace.site(f"{layer}/source2token/weight")
    orders = [similarity_order(weights.isel(head=head)) for head in chosen] if features else None
    caption = f"{trace.meta['checkpoint']}, {layer.replace('/', ', ')}"
    caption = ", ".join(filter(None, (caption, grouping_caption(trace))))
    return heads.figure(shown, own_text(trace, layer), orders, caption, cell)


def first_layer(trace: AttentionTrace) -> str:
    """The first layer of the first text, as sites begin."""
    several = len(trace.texts) > 1
    return f"{next(iter(trace.texts))}/layer.0" if several else "layer.0"


def own_text(trace: AttentionTrace, layer: str) -> Mapping[str, str]:
    """The text whose layer it is, by its name."""
    name = layer.rpartition("/")[0] or next(iter(trace.texts))
    return {name: trace.texts[name]}
