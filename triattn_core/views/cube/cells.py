"""The cells of a cube that are drawn: on a scale, with their tokens, and the strongest of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.trace.axis_labels import axis_labels
from triattn_core.trace.distribution import Distribution
from triattn_core.views.lib.content_words import content_words
from triattn_core.views.lib.palette import LogScale, Scale, SignedScale
from triattn_core.views.lib.strongest import shown_array, strongest, visible
from triattn_core.views.lib.tokens import tokens

NEEDS = ("query", "key", "context")
TRIPLES = 100  # how many the key "n" walks through; the inspector lists the first of them


@dataclass(frozen=True)
class CubeCells:
    """The drawn part of a chosen array.

    array: query × key × context or feature, whole.  positions: those of it that are drawn, by axis.
    tokens: of each axis at these positions, see `lib.tokens`.  roles: what the axes are called.
    levels: uint8 [query, key, third] on `scale`, which is of the whole array.
    masked: bool [query, key, third], True where a mask leaves a cell out; None where there is none.
    strongest, strongest_words: the TRIPLES strongest cells, of all and of those without special tokens, see
    `lib.strongest`.
    """

    array: xr.DataArray = field(repr=False)
    positions: Mapping[str, np.ndarray] = field(repr=False)
    tokens: Mapping[str, dict[str, list]] = field(repr=False)
    roles: Mapping[str, str]
    scale: Scale
    levels: np.ndarray = field(repr=False)
    masked: np.ndarray | None = field(repr=False)
    strongest: pd.DataFrame = field(repr=False)
    strongest_words: pd.DataFrame = field(repr=False)

    @classmethod
    def of(cls, shown: Distribution, hide_special: bool, order: Mapping[str, Sequence[int]]) -> CubeCells:
        """See `cube.figure`.  Raises TraceError where the choice does not leave the three axes."""
        axes = axes_of(shown.array)
        array = shown_array(shown, axes).transpose(*axes)
        positions = visible(array, hide_special) | {axis: np.array(places) for axis, places in order.items()}
        cells = float(shown.size)
        if not shown.normalised:
            cells /= shown.mass  # uniform is then the mean weight
        weights = array.attrs["quantity"] == "weight"
        scale: Scale = LogScale.fit(array.values, cells) if weights else SignedScale.of(array.values)
        roles, texts = axis_labels(shown.trace), dict(shown.trace.texts)
        return cls(
            array,
            positions,
            {axis: tokens(array, texts, axis, positions[axis]) for axis in axes},
            {axis: roles[axis] for axis in axes},
            scale,
            scale.levels(array.isel(positions).values),
            None if shown.masked is None else shown.masked.transpose(*axes).isel(positions).values,
            strongest(shown, TRIPLES, hide_special),
            strongest(shown, TRIPLES, True),
        )

    @property
    def axes(self) -> tuple[str, ...]:
        """Query, key and the third."""
        return tuple(map(str, self.array.dims))

    @property
    def joins(self) -> bool:
        """Whether a cell joins several of the model."""
        return any(count > 1 for axis in self.tokens.values() for count in axis["cells"])

    @property
    def part(self) -> xr.DataArray:
        """The values of the drawn cells."""
        return self.array.isel(self.positions)

    def places(self, cell: Sequence[int]) -> list[int]:
        """A cell, of positions in the trace, as places among those that are drawn."""
        return [self.positions[axis].tolist().index(position) for axis, position in zip(self.axes, cell)]

    def strongest_cells(self, rows: pd.DataFrame) -> list[list[int]]:
        """The cells of `rows` as places among those that are drawn."""
        where = {axis: {int(p): i for i, p in enumerate(self.positions[axis])} for axis in self.axes}
        places = [[where[axis][int(position)] for position in rows[f"{axis}_at"]] for axis in self.axes]
        return [list(cell) for cell in zip(*places)]


def axes_of(array: xr.DataArray) -> tuple[str, str, str]:
    """The three axes that an array is explored along."""
    return (*NEEDS[:2], "feature" if "feature" in array.dims else NEEDS[2])


def first_cell(texts: Mapping[str, str], cells: CubeCells) -> tuple[int, ...]:
    """Where to look first, as positions in the trace: the first of the strongest cells that is of content words, else
    the largest of all that are drawn."""
    axis_positions = [cells.positions[axis] for axis in cells.axes]
    carries = [content_words(cells.array, dict(texts), axis) for axis in cells.axes]
    for place in cells.strongest_cells(cells.strongest):
        cell = tuple(int(positions[i]) for positions, i in zip(axis_positions, place))
        if all(which[i] for which, i in zip(carries, cell)):
            return cell
    content = [positions[which[positions]] for positions, which in zip(axis_positions, carries)]
    content = [inside if len(inside) else positions for inside, positions in zip(content, axis_positions)]
    values = cells.array.values[np.ix_(*content)]
    largest = np.unravel_index(np.argmax(np.where(np.isfinite(values), values, -np.inf)), values.shape)
    return tuple(int(inside[i]) for inside, i in zip(content, largest))
