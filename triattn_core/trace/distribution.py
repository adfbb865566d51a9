"""Distribution: what a choice shows, and over which axes its weights are shares of one mass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import xarray as xr

from triattn_core.cached import cached_property
from triattn_core.trace.aggregation import cell_counts
from triattn_core.trace.axes import MASKED
from triattn_core.trace.trace import AttentionTrace, Choice

SUM_TOLERANCE = 1e-3  # by which a sum of weights may miss one


@dataclass(frozen=True)
class Distribution:
    """A choice of a trace with what its weights share out.  Made once for a choice; views and facts take it.

    The weights of a model are distributions: of a two-way map one for each query, over its keys; of a cube one for each
    query, over key × context, or, where a pair is the query (triangle attention), one for each query and context, over
    its keys.  Which of these the trace itself says (`sums_over`); here it is `axes`.

    >>> shown = Distribution(trace_of([[0.75, 0.25], [0.0, 1.0]]), Choice("attention/weight"))
    >>> shown.axes, shown.mass, shown.empty
    (('key',), 1.0, 0.0)
    """

    trace: AttentionTrace = field(repr=False)
    choice: Choice

    @cached_property
    def array(self) -> xr.DataArray:
        """The chosen array.  Raises TraceError where the trace has none such."""
        return self.trace.pick(self.choice)

    @property
    def quantity(self) -> str:
        """That of the chosen array."""
        return self.array.attrs["quantity"]

    @cached_property
    def weight(self) -> xr.DataArray | None:
        """The same choice of the site's weights; None where the trace has none."""
        return self._of("weight")

    @cached_property
    def relevance(self) -> xr.DataArray | None:
        """The same choice of the site's relevances; None where the trace has none."""
        return self._of("relevance")

    def _of(self, quantity: str) -> xr.DataArray | None:
        site = self.choice.site.with_quantity(quantity)
        if site == self.choice.site:
            return self.array
        return self.trace.pick(replace(self.choice, site=site)) if site in self.trace.sites else None

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """The axes that one distribution runs over, of those that the choice leaves: see `AttentionTrace.sum_axes`;
        where the trace does not say, all but the query's."""
        fixed = {axis for axis, _ in (*self.choice.index, *self.choice.reduce)}
        free = [str(axis) for axis in self.trace.site(self.choice.site).dims if axis not in fixed]
        named = self.trace.sum_axes(self.choice.site)
        return tuple([axis for axis in free if axis in named] or [axis for axis in free if axis != "query"])

    @property
    def size(self) -> int:
        """How many cells one distribution has."""
        return int(np.prod([self.array.sizes[axis] for axis in self.axes]))

    @cached_property
    def count(self) -> int:
        """How many distributions of the model the array holds: a folded row stands for all that it joins."""
        rows = [axis for axis in self.array.dims if axis not in self.axes]
        return int(np.prod([cell_counts(self.array, str(axis)).sum() for axis in rows]))

    @cached_property
    def masked(self) -> xr.DataArray | None:
        """True for each cell that a mask leaves out: the trace says which (MASKED), or their scores are -inf.  None
        where it leaves out none, or nothing is known of it."""
        scores = self.relevance
        masked = self.array.coords.get(MASKED, None if scores is None else scores == -np.inf)
        return masked if masked is not None and bool(masked.any()) else None

    @cached_property
    def open_cells(self) -> xr.DataArray | None:
        """How many cells of each distribution a mask leaves; None where it leaves all, or nothing is known of it."""
        return None if self.masked is None else (~self.masked).sum(self.axes)

    @cached_property
    def empty(self) -> float:
        """The share of distributions that a mask leaves nothing: they hold no mass."""
        return 0.0 if self.open_cells is None else float((self.open_cells == 0).mean())

    @cached_property
    def sliced(self) -> tuple[str, ...]:
        """The axes of a distribution of which the choice takes one position: what it leaves is a part of each."""
        return tuple(axis for axis, _ in self.choice.index if axis in self.trace.sum_axes(self.choice.site))

    @cached_property
    def normalised(self) -> bool:
        """Whether the weights of each distribution sum to one, or to zero where a mask leaves nothing.  A model's do;
        those of an array of yours, and of a slice, are added up."""
        if self.weight is None or ("mechanism" in self.trace.meta and not self.sliced):
            return True
        sums = self.weight.sum(self.axes, dtype=np.float64).values
        return bool((np.abs(sums[sums != 0] - 1) <= SUM_TOLERANCE).all())

    @cached_property
    def mass(self) -> float:
        """The mean mass of a distribution: the share of those that a mask leaves something, or what weights that do not
        sum to one sum to."""
        if self.weight is None or self.normalised:
            return 1 - self.empty
        return float(self.held(self.weight).sum(dtype=np.float64))

    def held(self, weight: xr.DataArray) -> xr.DataArray:
        """The share of the whole mass that each cell holds: a folded row stands for all the rows that it joins."""
        for axis in [str(axis) for axis in weight.dims if axis not in self.axes]:
            cells = cell_counts(weight, axis)
            weight = weight * xr.DataArray(cells / cells.sum(), dims=axis)
        return weight

    def shares(self, weight: xr.DataArray) -> xr.DataArray:
        """`held` as a share of the unmasked mass: a row that a mask leaves nothing holds none."""
        return self.held(weight) / (self.mass or 1.0)

    def shares_at(self, weight: xr.DataArray, positions: Mapping[str, np.ndarray]) -> np.ndarray:
        """`shares` of some cells, by their positions on each axis."""
        weights = weight.transpose(*positions).values[tuple(positions.values())].astype(np.float64)
        for axis in [axis for axis in positions if axis not in self.axes]:  # in a fixed order
            cells = cell_counts(weight, axis)
            weights = weights * (cells / cells.sum())[positions[axis]]
        return weights / (self.mass or 1.0)
