"""The views: what is chosen in each, and how its scene is built, of an example or of traces that are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes import (
    attribute,
    coin,
    context,
    cube,
    heads,
    intervene,
    mtsa,
    side_by_side,
    similarity,
    tensor,
    two_way_map,
    weights,
)
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import ViewSettings
from triattn_core.sources.models import Models


@dataclass(frozen=True)
class SceneBuilder:
    """How the scene of a view is built.

    settings: the type of what is chosen in the view.  of_traces: builds it from explanations (`sources.explanation`)
    and settings, and runs nothing; None where the view needs a model.  run: builds it with models, entries and an
    example; by default it explains the example and calls `of_traces`.  most: how many checkpoints it shows at most.
    stream: the same as `run` in parts, as they are made, where that takes long.  page: whether the page of this name
    shows it.
    """

    settings: type[ViewSettings]
    of_traces: Callable[..., Scene] | None = None
    run: Callable[..., Scene] | None = None
    most: int = 1
    stream: Callable[..., Iterator[Scene]] | None = None
    page: bool = True

    def build(self, models: Models, entries: Sequence[Entry], example: Any, settings: Any) -> Scene:
        """The scene of an example under checkpoints.  Raises TriattnError."""
        if self.run is not None:
            return self.run(models, entries, example, settings)
        assert self.of_traces
        option = getattr(settings, "option", None)
        explanations = [models.explain(entry, example, option and option - 1) for entry in entries]
        return self.of_traces(explanations, settings, models.read)


SCENES: Mapping[str, SceneBuilder] = {
    "cube": SceneBuilder(cube.Settings, cube.build),
    "side_by_side": SceneBuilder(
        side_by_side.Settings, side_by_side.build_of_traces, side_by_side.build, most=side_by_side.view.MOST
    ),
    "context": SceneBuilder(context.Settings, context.build_of_traces, context.build),
    "intervene": SceneBuilder(intervene.Settings, run=intervene.build, stream=intervene.stream),
    "attribute": SceneBuilder(attribute.Settings, run=attribute.build, stream=attribute.stream),
    "mtsa": SceneBuilder(mtsa.Settings, mtsa.build),
    "tensor": SceneBuilder(tensor.Settings, tensor.build),
    "coin": SceneBuilder(coin.Settings, coin.build_of_traces, coin.build),
    "similarity": SceneBuilder(similarity.Settings, run=similarity.build, most=similarity.view.MOST),
    "map": SceneBuilder(two_way_map.Settings, two_way_map.build, page=False),
    "weights": SceneBuilder(weights.Settings, run=weights.build, page=False),
    "heads": SceneBuilder(heads.Settings, heads.build, page=False),
}
TRACE_VIEWS = tuple(name for name, builder in SCENES.items() if builder.of_traces)  # that a trace alone has
