"""The views of an example: what is chosen in each, and how its scene is built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from triattn_core.scenes import attribute, coin, context, cube, intervene, mtsa, side_by_side, similarity, tensor
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import ViewSettings


@dataclass(frozen=True)
class View:
    """What is chosen there, how its scene is built, and how many checkpoints it shows at most.

    stream: the same scene in parts, as they are made, where that takes long.
    """

    settings: type[ViewSettings]
    build: Callable[..., Scene]
    most: int = 1
    stream: Callable[..., Iterator[Scene]] | None = None


VIEWS = {  # by the file of their page
    "cube": View(cube.Settings, cube.build),
    "side_by_side": View(side_by_side.Settings, side_by_side.build, side_by_side.view.MOST),
    "context": View(context.Settings, context.build),
    "intervene": View(intervene.Settings, intervene.build, stream=intervene.stream),
    "attribute": View(attribute.Settings, attribute.build, stream=attribute.stream),
    "mtsa": View(mtsa.Settings, mtsa.build),
    "tensor": View(tensor.Settings, tensor.build),
    "coin": View(coin.Settings, coin.build),
    "similarity": View(similarity.Settings, similarity.build, similarity.view.MOST),
}
