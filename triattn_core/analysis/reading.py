"""Read as a person: to what each axis of a trace or of a map folds, and what of it is hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote

import numpy as np
import xarray as xr

from triattn_core.analysis.folds import LABELLED, folded, groups, marked
from triattn_core.folding import EVEN, even, fold
from triattn_core.trace import AttentionTrace

MASK = "mask/contribution"


@dataclass(frozen=True)
class Reading:
    """ways: (axis, one of `folds.WAYS`) each; an axis that is not named stays as it is.  own: phrases of the reader's,
    see `folds.groups`.  hide: leave out special tokens, and sinks where `sinks` says above how many times an even share
    of the mass a token is one.
    """

    ways: tuple[tuple[str, str], ...] = ()
    own: tuple[str, ...] = ()
    hide: bool = False
    sinks: float | None = None

    @classmethod
    def of(cls, own: Sequence[str] = (), hide: bool = False, sinks: float | None = None, **ways: str) -> Reading:
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
    def settings(self) -> dict:
        """The same as a case card says it."""
        return {**dict(self.ways), "phrases": self.own, "hide": self.hide, "sinks": self.sinks}

    def trace(self, trace: AttentionTrace, site: str = "") -> AttentionTrace:
        """A trace as it is read.  site: `layer.0/a_over_b`, whose sinks are told apart.

        Where a mask stands between scores and weights, weights alone are left: see `of_weights`.  Raises TraceError.
        """
        trace = self.marked(trace, site)
        if self.folds:
            trace = of_weights(trace)
        for axis, way in self.folds.items():
            trace = folded(trace, way, axis, self.own)
        return replace(trace, meta={**trace.meta, "read": self.asked}) if self.folds else trace

    @property
    def asked(self) -> str:
        """The same as `triattn explain` takes it."""
        own = f" --phrases {quote(' | '.join(self.own))}" if self.own else ""
        return f"--read {' '.join(f'{axis}={way}' for axis, way in self.folds.items())}{own}"

    def marked(self, trace: AttentionTrace, site: str) -> AttentionTrace:
        """The same tokens, with the sinks of a site told apart where they are to be hidden."""
        return marked(trace, site, self.sinks) if self.sinks else trace

    def array(self, array: xr.DataArray, texts: Mapping[str, str], over: Sequence[str] = ("key",)) -> xr.DataArray:
        """One array folded.  over: the axes that its distributions run over, where it does not say."""
        for axis, way in self.folds.items():
            if axis in array.dims:
                names = groups(array, axis, texts, way, self.own)
                array = fold(array, axis, names, over, way in LABELLED, texts)
        return array


AS_IT_IS = Reading()


def of_weights(trace: AttentionTrace) -> AttentionTrace:
    """A trace whose layers have masks, brought to its weights, with EVEN of each layer; others as they are.

    Scores go through a scale and the mask before the softmax: joined, they would not be the scores of joined weights.
    """
    masks = {name.removesuffix(MASK): one for name, one in trace.sites.items() if name.endswith(f"/{MASK}")}
    if not masks:
        return trace
    sites = {name: one for name, one in trace.sites.items() if one.attrs["quantity"] == "weight"}
    sites |= {layer + EVEN: even(one) for layer, one in masks.items()}
    return replace(trace, sites=sites)


def strongest(whole: AttentionTrace, read: AttentionTrace, site: str, cell: tuple[int, int]) -> tuple[int, int]:
    """The pair of tokens of the largest value of a site [query, key] within a cell of what was read of it."""
    values, folded = (one.site(site).transpose("query", "key") for one in (whole, read))
    places = [_members(values, folded, axis, at) for axis, at in zip(("query", "key"), cell)]
    part = values.values[np.ix_(*places)]
    query, key = np.unravel_index(part.argmax(), part.shape)
    return int(places[0][query]), int(places[1][key])


def _members(whole: xr.DataArray, folded: xr.DataArray, axis: str, at: int) -> np.ndarray:
    """The positions that a group of one stretch of text joins."""
    text, start, end = (folded[f"{axis}_{name}"].values[at] for name in ("text", "start", "end"))
    starts = whole[f"{axis}_start"].values
    return np.flatnonzero((whole[f"{axis}_text"].values == text) & (starts >= start) & (starts < end))
