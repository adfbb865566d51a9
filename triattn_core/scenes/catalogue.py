"""The views of an example: what is chosen in each, and how its scene is built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from triattn_core.scenes import attribute, coin, context, cube, intervene, mtsa, side_by_side, similarity, tensor
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import ViewSettings


@dataclass(frozen=True)
class SceneBuilder:
    """How the scene of a view is built.

    settings: the type of what is chosen in the view.  build: the function that returns its scene.
    most: how many checkpoints it shows at most.  stream: the same scene in parts, as they are made, where that takes
    long.
    """

    settings: type[ViewSettings]
    build: Callable[..., Scene]
    most: int = 1
    stream: Callable[..., Iterator[Scene]] | None = None


SCENES = {  # by the folder of their page
    "cube": SceneBuilder(cube.Settings, cube.build),
    "side_by_side": SceneBuilder(side_by_side.Settings, side_by_side.build, side_by_side.view.MOST),
    "context": SceneBuilder(context.Settings, context.build),
    "intervene": SceneBuilder(intervene.Settings, intervene.build, stream=intervene.stream),
    "attribute": SceneBuilder(attribute.Settings, attribute.build, stream=attribute.stream),
    "mtsa": SceneBuilder(mtsa.Settings, mtsa.build),
    "tensor": SceneBuilder(tensor.Settings, tensor.build),
    "coin": SceneBuilder(coin.Settings, coin.build),
    "similarity": SceneBuilder(similarity.Settings, similarity.build, similarity.view.MOST),
}
