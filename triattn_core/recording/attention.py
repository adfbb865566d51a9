"""One attention that was recorded."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from triattn_core.cached import cached_property
from triattn_core.recording.follow import Softmax
from triattn_core.recording.layout import Layout
from triattn_core.recording.module_stack import Running
from triattn_core.recording.rebuild import heads_of

CALLS = ("sdpa", "flex", "flex with its sum")  # kinds whose softmax stands inside a call of torch


@dataclass(eq=False)
class Reach:
    """Where the product of an attention with values was seen to arrive: path: of the outermost module that returned
    what was made of it; None where no module did.

    unused: which of its rows were written over or dropped before that, in the order of what the attention made.
    instead: attentions whose rows were written there, the shape of their rows, and pairs [2, n] of the numbers of such
    rows, from 1.
    """

    path: str | None = None
    unused: Tensor | None = None
    instead: list[tuple[Attention, tuple[int, ...], Tensor]] = field(default_factory=list)


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
    precision: the type of what the model made of them.  reach: how far that was seen to go.  made: the letters of its
    axes, of a product; of a fused call, whose axes are [..., head, query, feature], none.  marks: of each key
    [batch, key], by which it is known again.
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
    made: str = ""
    marks: Tensor | None = field(default=None, repr=False)

    @cached_property
    def signed(self) -> bool:
        """Whether the map that meets the values is no weight: a difference, or one with negative numbers."""
        forms_weights = self.kind in CALLS or not self.weights.numel()
        return self.kind == "difference" or not forms_weights and bool(self.arranged().min() < 0)

    def arranged(self) -> Tensor:
        """The weights [head, query, key] or [head, query, key, context] of the example.

        A row that the model wrote over is the one that was used in its place, where it has the same keys, else zeros.
        """
        weights = self._computed()
        unused = self.unused_rows
        if unused is None:
            return weights
        weights = weights.masked_fill(unused[(...,) + (None,) * (weights.ndim - 2)], 0)
        for other, shape, pairs in self.reach.instead:
            theirs, keys = other._computed(), weights.shape[2]
            if theirs.ndim != 3 or weights.ndim != 3 or bool(theirs[..., keys:].any()) or theirs.shape[-1] < keys:
                continue
            own, rows = (
                attention._rows(torch.arange(1, math.prod(sizes) + 1, device=weights.device).view(sizes))
                for attention, sizes in ((self, self.reach.unused.shape), (other, shape))  # type: ignore[union-attr]
            )
            for mine, their in pairs.T.tolist():
                for cell, source in zip((own == mine).nonzero(), (rows == their).nonzero()):
                    weights[cell[0], cell[1]] = theirs[source[0], source[1], :keys]
        return weights

    @property
    def unused_rows(self) -> Tensor | None:
        """Which rows [head, query] the model computed and then wrote over or dropped; None where it used all."""
        if self.reach.unused is None:
            return None
        return self._rows(self.reach.unused.int()) > 0

    def is_row_axis(self, axis: int, count: int) -> bool:
        """Whether an axis, of so many, of what was made of the weights is one that they have too."""
        return self.made[axis] in self.layout.axes if self.made else axis < count - 1

    def _computed(self) -> Tensor:
        return self.layout.arrange(self.weights, self.batch, self.example)

    def _rows(self, numbers: Tensor) -> Tensor:
        """Numbers [head, query] of the example, of whole numbers for all rows of what was made."""
        if not self.made:
            return heads_of(numbers[..., None], self.batch, self.example)[..., 0].reshape(self.weights.shape[:2])
        axes = [letter for letter in self.made if letter in self.layout.axes]
        order = [letter for letter in self.layout.axes if letter in axes]
        numbers = numbers.permute(*(axes.index(letter) for letter in order))
        for place, letter in enumerate(self.layout.axes):
            numbers = numbers if letter in axes else numbers.unsqueeze(place)
        arranged = self.layout.arrange(numbers.expand(self.weights.shape), self.batch, self.example)
        return arranged.flatten(2).amax(-1)
