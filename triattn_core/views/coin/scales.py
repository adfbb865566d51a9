"""The scales of COIN's blocks: one of weights, one of what context changed, both of the whole model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from triattn_core.views.coin.blocks import Block
from triattn_core.views.lib.palette import LinearScale, LogScale, SignedScale

GATE = LinearScale(1.0, "gate, the share that is kept")
NEAR = 1.01  # times an end of a scale: what is no larger does not lie beyond it


@dataclass(frozen=True)
class Scales:
    """weight: of all weights.  change: of what context changed."""

    weight: LogScale
    change: SignedScale

    @classmethod
    def of(cls, blocks: Sequence[Block | None], keys: int) -> Scales:
        """keys: of a row."""
        weight = replace(LogScale.fit(_weights(blocks), keys), title="weight, log scale, one for all")
        return cls(weight, SignedScale.of(_changes(blocks), power=0.7, title="what context changed"))

    def exceeded(self, blocks: Sequence[Block | None]) -> bool:
        """Whether some values lie beyond the ends."""
        changed = np.abs(_changes(blocks)).max() > self.change.limit * NEAR
        return bool(_weights(blocks).max() > self.weight.high * NEAR or changed)


def _weights(all_blocks: Sequence[Block | None]) -> np.ndarray:
    """Every weight that is drawn, but those that are none."""
    maps = [
        m.values
        for block in all_blocks
        if block
        for m in (block.weight, block.plain, *(block.own or ()))
        if m is not None
    ]
    return np.concatenate([np.zeros(0), *(array[array > 0] for array in maps)]) if maps else np.zeros(1)


def _changes(all_blocks: Sequence[Block | None]) -> np.ndarray:
    maps = (block.changed for block in all_blocks if block is not None)
    return np.concatenate([np.zeros(1), *(m.values.ravel() for m in maps if m is not None)])
