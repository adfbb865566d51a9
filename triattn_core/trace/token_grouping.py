"""Read as a person: to what each axis of a trace or of a map folds, and what of it is hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote

import numpy as np
import xarray as xr

from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import EVEN, even_weights, fold
from triattn_core.trace.text_units import NUMBERED_UNITS, fold_axis, mark_sinks, unit_groups

MASK = "mask/contribution"


@dataclass(frozen=True)
class TokenGrouping:
    """ways: (axis, one of `text_units.UNITS`) each; an axis that is not named stays as it is.  own: phrases of the
    reader's, see `text_units.unit_groups`.  hide: leave out special tokens, and sinks where `sinks` says above how many
    times an even share of the mass a token is one.
    """

    ways: tuple[tuple[str, str], ...] = ()
    own: tuple[str, ...] = ()
    hide: bool = False
    sinks: float | None = None

    @classmethod
    def of(cls, own: Sequence[str] = (), hide: bool = False, sinks: float | None = None, **ways: str) -> TokenGrouping:
        """The same, each way under the name of its axis."""
        return cls(tuple(ways.items()), tuple(own), hide, sinks if hide else None)

    @property
    def folds(self) -> dict[str, str]:
        """The axes that fold, each with its way."""
        return {axis: way for axis, way in self.ways if way != "tokens"}

    @property
    def name(self) -> str:
        """In a few letters, for a file's name: "words-words-turns"; empty where nothing folds."""
        return "-".join(way for _, way in self.ways) if self.folds else ""

    @property
    def parts(self) -> tuple[str, ...]:
        """What makes the cells of a figure others than those of the same texts: the groups."""
        return (self.name, *self.own)

    @property
    def settings(self) -> dict:
        """The same as a case card says it."""
        return {**dict(self.ways), "phrases": self.own, "hide": self.hide, "sinks": self.sinks}

    def trace(self, trace: AttentionTrace, site: str = "") -> AttentionTrace:
        """A trace as it is read.  site: `layer.0/a_over_b`, whose sinks are told apart.

        Where a mask stands between scores and weights, weights alone are left: see `keep_weights`.  Raises TraceError.
        """
        trace = self.marked(trace, site)
        if self.folds:
            trace = keep_weights(trace)
        for axis, way in self.folds.items():
            trace = fold_axis(trace, way, axis, self.own)
        return replace(trace, meta={**trace.meta, "read": self.option}) if self.folds else trace

    @property
    def option(self) -> str:
        """The option of `triattn explain` that groups the same."""
        own = f" --phrases {quote(' | '.join(self.own))}" if self.own else ""
        return f"--group-by {' '.join(f'{axis}={way}' for axis, way in self.folds.items())}{own}"

    def marked(self, trace: AttentionTrace, site: str) -> AttentionTrace:
        """The same tokens, with the sinks of a site told apart where they are to be hidden."""
        return mark_sinks(trace, site, self.sinks) if self.sinks else trace

    def array(self, array: xr.DataArray, texts: Mapping[str, str], over: Sequence[str] = ("key",)) -> xr.DataArray:
        """One array folded.  over: the axes that its distributions run over, where it does not say."""
        for axis, way in self.folds.items():
            if axis in array.dims:
                names = unit_groups(array, axis, texts, way, self.own)
                array = fold(array, axis, names, over, way in NUMBERED_UNITS, texts)
        return array


NO_GROUPING = TokenGrouping()


def keep_weights(trace: AttentionTrace) -> AttentionTrace:
    """A trace whose layers have masks, brought to its weights, with EVEN of each layer; others as they are.

    Scores go through a scale and the mask before the softmax: joined, they would not be the scores of joined weights.
    """
    masks = {name.removesuffix(MASK): one for name, one in trace.sites.items() if name.endswith(f"/{MASK}")}
    if not masks:
        return trace
    sites = {name: one for name, one in trace.sites.items() if one.attrs["quantity"] == "weight"}
    sites |= {layer + EVEN: even_weights(one) for layer, one in masks.items()}
    return replace(trace, sites=sites)


def grouping_caption(trace: AttentionTrace) -> str:
    """How the axes of a trace are grouped, for a figure's caption; empty where they are not."""
    _, _, ways = str(trace.meta.get("read", "")).partition(" ")  # a trace saved before has another option's name there
    return ways and f"grouped by {ways}"


def strongest_pair(whole: AttentionTrace, read: AttentionTrace, site: str, cell: tuple[int, int]) -> tuple[int, int]:
    """The pair of tokens of the largest value of a site [query, key] within a cell of what was read of it."""
    values, folded = (one.site(site).transpose("query", "key") for one in (whole, read))
    places = [_member_positions(values, folded, axis, at) for axis, at in zip(("query", "key"), cell)]
    part = values.values[np.ix_(*places)]
    query, key = np.unravel_index(part.argmax(), part.shape)
    return int(places[0][query]), int(places[1][key])


def _member_positions(whole: xr.DataArray, folded: xr.DataArray, axis: str, at: int) -> np.ndarray:
    """The positions that a group of one stretch of text joins."""
    text, start, end = (folded[f"{axis}_{name}"].values[at] for name in ("text", "start", "end"))
    starts = whole[f"{axis}_start"].values
    return np.flatnonzero((whole[f"{axis}_text"].values == text) & (starts >= start) & (starts < end))
