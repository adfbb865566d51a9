"""One attention that was recorded."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from triattn_core.cached import cached_property
from triattn_core.recording.follow import Softmax
from triattn_core.recording.layout import Layout
from triattn_core.recording.module_stack import Running


@dataclass(eq=False)
class Reach:
    """Where the product of an attention with values was seen to arrive: path: of the outermost module that returned
    what was made of it; None where no module did."""

    path: str | None = None


@dataclass(frozen=True, eq=False)
class Attention:
    """One attention that was seen.

    weights: as they met the values; `layout` tells their axes.  kind: `softmax`, `sdpa`, `flex`, `difference` or `sum`
    of two maps, `mixed` of the heads' maps, or `part` of these.  factor: of the second map of a difference of two
    halves of the heads.
    error: of weights times values against what the model made of them, as a share of the largest number there.
    columns: how many cells the softmax ran over: more than the weights have where it took sinks, which are dropped.
    hidden: the cells that the mask hides from the first head; None where there is no mask.
    group: how many heads share a key head.  windows: how many windows, within which tokens attend to each other, have
    their heads one after another in the map, such as those of a picture.
    softmax: the one that several attentions may be parts of.
    precision: the type of what the model made of them.  reach: how far that was seen to go.
    """

    running: Running
    kind: str
    weights: Tensor
    layout: Layout
    error: float
    columns: int
    batch: int = 1
    example: int = 0
    hidden: Tensor | None = None
    scores: Tensor | None = None
    group: int = 1
    windows: int = 1
    factor: float | None = None
    softmax: Softmax | None = field(default=None, repr=False)
    precision: torch.dtype = torch.float32
    reach: Reach = field(default_factory=Reach, repr=False)

    @cached_property
    def signed(self) -> bool:
        """Whether the map that meets the values is no weight: a difference, or one with negative numbers."""
        forms_weights = self.kind in ("sdpa", "flex") or not self.weights.numel()
        return self.kind == "difference" or not forms_weights and bool(self.arranged().min() < 0)

    def arranged(self) -> Tensor:
        """The weights [head, query, key] or [head, query, key, context] of the example."""
        return self.layout.arrange(self.weights, self.batch, self.example)
