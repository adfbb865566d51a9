"""What side by side draws on which scale: the maps on one, the difference on one of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import xarray as xr

from triattn_core.views.lib.palette import DIFFERENCE, LogScale, Scale, SignedScale
from triattn_core.views.side_by_side.panels import HIDDEN, Gap, Panel, minus

NOTHING = {axis: [0, 0] for axis in ("query", "key")}  # is hidden
NOISE = 1e-6  # models compute in float32: what differs by less is drawn as no difference


def scale_of(panels: Sequence[Panel]) -> Scale:
    """One scale for all maps: for weights `LogScale.fit`, as everywhere, for relevances signed square root."""
    values = np.stack([panel.map_values.values for panel in panels])
    values = values[~np.isnan(values)]
    if panels[0].map_values.attrs["quantity"] == "weight":
        return LogScale.fit(values, key_count(panels[0].weights))
    return SignedScale.of(np.where(np.isfinite(values), values, 0.0))


def key_count(weights: xr.DataArray) -> int:
    """How many keys a row has, with those that are hidden."""
    return weights.sizes["key"] + weights.attrs.get(HIDDEN, NOTHING)["key"][0]


@dataclass(frozen=True)
class Difference:
    """A gap as it is drawn: left less right without what float32 adds, and its scale.

    levels: uint8 [query, key] on `scale`.  within: bool [query, key], True where seeds lie as far apart; None where
    none are known.
    """

    title: str
    values: xr.DataArray = field(repr=False)
    scale: SignedScale
    levels: np.ndarray = field(repr=False)
    within: np.ndarray | None = field(repr=False)

    @classmethod
    def of(cls, gap: Gap, names: Sequence[str], quantity: str) -> Difference:
        """names: of the panels."""
        values = gap.values.where(~(np.abs(gap.values) <= NOISE), 0.0)
        finite_values = np.where(np.isfinite(values.values), values.values, 0.0)
        scale = SignedScale.of(finite_values, power=DIFFERENCE, title=f"difference in {quantity}")
        within = None if gap.noise is None else np.abs(values.values) <= gap.noise
        return cls(minus(names[gap.left], names[gap.right]), values, scale, scale.levels(values.values), within)
