"""Behind one cell of an MTSA tensor: the sum that made it, and whether the features agree on its pair of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite

import numpy as np

from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site

PARTS = ("token2token", "source2token", "mask")
# What a scale function makes of a score, in words and in numbers: a line for each of `tensorized.SCALES`.
SAYS = {"log_sigmoid": "log σ({})", "identity": "{}"}
SCALED = {"log_sigmoid": lambda scores: -np.logaddexp(0.0, -scores), "identity": lambda scores: scores}


@dataclass(frozen=True)
class Terms:
    """T = token2token + source2token + mask, and P = exp(T - whole) ("Tensorized Self-Attention", Eqs. 10 and 11).

    parts: the three terms, already scaled; the mask is -inf where the pair is left out.  score: their sum.  whole: the
    log-sum-exp of the scores of all keys of this query in this feature; -inf where it may attend to nothing.
    """

    parts: dict[str, float]
    score: float
    whole: float

    @property
    def log_probability(self) -> float:
        """-inf where the pair is left out."""
        return self.score - self.whole if isfinite(self.score) else -np.inf

    @property
    def probability(self) -> float:
        """Zero where the pair is left out."""
        return exp(self.log_probability)


def terms(tensor: AttentionTrace, layer: Site, cell: Sequence[int]) -> Terms:
    """The sum behind a cell (query, key, feature) of a tensor as `analysis.maps.mtsa_tensor` makes it."""
    position = dict(zip(("query", "key", "feature"), cell))
    place = layer / "tensor"
    sites = {name: tensor.site((place / name).with_quantity("contribution")) for name in PARTS}
    parts = {
        name: float(array.isel({axis: position[str(axis)] for axis in array.dims})) for name, array in sites.items()
    }
    scores = (
        tensor.site(place.with_quantity("relevance")).isel(query=position["query"], feature=position["feature"]).values
    )
    return Terms(parts, float(scores[position["key"]]), float(np.logaddexp.reduce(scores.astype(np.float64))))


@dataclass(frozen=True)
class Profile:
    """What each feature gives a pair.  weights: [feature]; mean and spread (standard deviation) over features.

    even: the share of each key that the mask leaves to the query; 0 where it leaves none, or leaves this key out.
    """

    weights: np.ndarray
    even: float

    @property
    def mean(self) -> float:
        return float(self.weights.mean())

    @property
    def spread(self) -> float:
        return float(self.weights.std())

    def above(self) -> list[int]:
        """Features that give the pair more than an even share, the most first."""
        return self._sorted(self.weights > self.even, -1)

    def below(self) -> list[int]:
        """Features that give it less, the least first."""
        return self._sorted(self.weights < self.even, 1)

    def disagree(self) -> list[int]:
        """Features on the other side of an even share than their mean, the farthest first."""
        return self.below() if self.mean >= self.even else self.above()

    def _sorted(self, kept: np.ndarray, sign: int) -> list[int]:
        return [int(i) for i in np.argsort(sign * self.weights, kind="stable") if kept[i]]


def profile(tensor: AttentionTrace, layer: Site, pair: Sequence[int]) -> Profile:
    """What the features give to a pair (query, key)."""
    query, key = pair[0], pair[1]
    place = layer / "tensor"
    weights = tensor.site(place.with_quantity("weight")).isel(query=query, key=key).values.astype(np.float64)
    unmasked = np.isfinite(tensor.site((place / "mask").with_quantity("contribution")).isel(query=query).values)
    return Profile(weights, 1 / unmasked.sum() if unmasked[key] else 0.0)
