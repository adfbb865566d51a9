"""How tokens are grouped for reading: the unit that each axis of a trace folds to, and which tokens are hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote

import numpy as np
import xarray as xr

from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import EVEN, MASK, even_weights, fold
from triattn_core.trace.site import Site
from triattn_core.trace.text_units import NUMBERED_UNITS, fold_axis, mark_sinks, unit_groups


@dataclass(frozen=True)
class TokenGrouping:
    """The unit of each axis, and whether special tokens are hidden.

    units: pairs of axis and unit (`text_units.UNITS`); other axes stay unchanged.
    phrases: phrases of your choice, see `text_units.unit_groups`.
    hide: hide special tokens, and, if `sinks` is given, tokens with more than `sinks` times an even share of the mass.
    """

    units: tuple[tuple[str, str], ...] = ()
    phrases: tuple[str, ...] = ()
    hide: bool = False
    sinks: float | None = None

    @classmethod
    def of(
        cls, phrases: Sequence[str] = (), hide: bool = False, sinks: float | None = None, **units: str
    ) -> TokenGrouping:
        """Make a grouping from keywords: `query="words"`."""
        return cls(tuple(units.items()), tuple(phrases), hide, sinks if hide else None)

    @property
    def folds(self) -> dict[str, str]:
        """The axes that fold, with their units."""
        return {axis: unit for axis, unit in self.units if unit != "tokens"}

    @property
    def name(self) -> str:
        """A short name for file names, such as "words-words-turns"; empty if no axis folds."""
        return "-".join(unit for _, unit in self.units) if self.folds else ""

    @property
    def parts(self) -> tuple[str, ...]:
        """What makes the cells of a figure others than those of the same texts: the groups."""
        return (self.name, *self.phrases)

    @property
    def settings(self) -> dict:
        """The grouping as a dictionary, as case cards store it."""
        return {**dict(self.units), "phrases": self.phrases, "hide": self.hide, "sinks": self.sinks}

    def trace(self, trace: AttentionTrace, site: Site = Site()) -> AttentionTrace:
        """Group a trace.  site: the attention whose sinks are marked.

        If layers have masks, only weights are kept: see `keep_weights`.  Raises TraceError.
        """
        trace = self.mark_sinks(trace, site)
        if self.folds:
            trace = keep_weights(trace)
        for axis, unit in self.folds.items():
            trace = fold_axis(trace, unit, axis, self.phrases)
        return replace(trace, meta={**trace.meta, "read": self.option}) if self.folds else trace

    @property
    def option(self) -> str:
        """The option of `triattn explain` for this grouping."""
        phrases_option = f" --phrases {quote(' | '.join(self.phrases))}" if self.phrases else ""
        return f"--group-by {' '.join(f'{axis}={unit}' for axis, unit in self.folds.items())}{phrases_option}"

    def mark_sinks(self, trace: AttentionTrace, site: Site) -> AttentionTrace:
        """Mark the sinks of a site if they are to be hidden; tokens are not grouped."""
        return mark_sinks(trace, site, self.sinks) if self.sinks else trace

    def array(self, array: xr.DataArray, texts: Mapping[str, str], sum_axes: Sequence[str] = ("key",)) -> xr.DataArray:
        """Fold one array.  sum_axes: the axes that its distributions run over, where `sums_over` does not say."""
        for axis, unit in self.folds.items():
            if axis in array.dims:
                names = unit_groups(array, axis, texts, unit, self.phrases)
                array = fold(array, axis, names, sum_axes, unit in NUMBERED_UNITS, texts)
        return array


NO_GROUPING = TokenGrouping()


def keep_weights(trace: AttentionTrace) -> AttentionTrace:
    """Keep only the weights of a trace whose layers have masks, and add the site EVEN of each layer; other traces are
    returned unchanged.

    Scores pass a scale and the mask before the softmax: joined scores would not be the scores of joined weights.
    """
    masks = {site: mask for site, mask in trace.sites.items() if site.role == MASK}
    if not masks:
        return trace
    sites = {site: array for site, array in trace.sites.items() if array.attrs["quantity"] == "weight"}
    sites |= {replace(site, role=EVEN, quantity="weight"): even_weights(mask) for site, mask in masks.items()}
    return replace(trace, sites=sites)


def grouping_caption(trace: AttentionTrace) -> str:
    """How the axes of a trace are grouped, for captions; empty if they are not."""
    _, _, units = str(trace.meta.get("read", "")).partition(
        " "
    )  # older traces have another option name before the space
    return units and f"grouped by {units}"


def strongest_pair(
    full_trace: AttentionTrace, grouped: AttentionTrace, site: Site, cell: tuple[int, int]
) -> tuple[int, int]:
    """(query, key): the tokens with the largest value of a site within one cell of the grouped trace."""
    values, grouped_values = (trace.site(site).transpose("query", "key") for trace in (full_trace, grouped))
    members = [
        _member_positions(values, grouped_values, axis, position) for axis, position in zip(("query", "key"), cell)
    ]
    part = values.values[np.ix_(*members)]
    query, key = np.unravel_index(part.argmax(), part.shape)
    return int(members[0][query]), int(members[1][key])


def _member_positions(values: xr.DataArray, grouped: xr.DataArray, axis: str, position: int) -> np.ndarray:
    """The positions that a group, one contiguous span of text, joins."""
    text, start, end = (grouped[f"{axis}_{name}"].values[position] for name in ("text", "start", "end"))
    starts = values[f"{axis}_start"].values
    return np.flatnonzero((values[f"{axis}_text"].values == text) & (starts >= start) & (starts < end))
