"""The weight that words give the predicate, from inside and from outside its arguments: sums over maps of heads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from triattn_core.tasks.roles import arguments
from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import MASK
from triattn_core.trace.site import Site

ROLES = ("token2token", "")  # of the weights of MTSA and of multi-head attention
SIDES = ("outside", "inside")


@dataclass
class PredicateShares:
    """Sums by layer, head and side: of weights, of even weights, and of words."""

    sums: Mapping[tuple[int, int, str], np.ndarray] = field(default_factory=lambda: defaultdict(lambda: np.zeros(3)))

    def add(self, layer: int, weights: np.ndarray, visible: np.ndarray, predicate: int, tags: Sequence[str]) -> None:
        """Adds one sentence.  weights, visible: [head, n or more, n or more]; visible: the mask lets attend."""
        count = len(tags)
        inside = np.zeros(count, bool)
        for _, spans in arguments(tags):
            for start, end in spans:
                inside[start:end] = True
        visible, others = visible[:, :count, :count], np.arange(count) != predicate
        for head, head_weights in enumerate(weights):
            seen = visible[head, :, predicate] & others
            for side in (0, 1):
                words = seen & (inside == bool(side))
                even = 1 / np.maximum(1, visible[head].sum(-1)[words])
                values = head_weights[:count, predicate][words]
                self.sums[layer, head, SIDES[side]] += (values.sum(), even.sum(), words.sum())

    def rows(self) -> list[dict[str, Any]]:
        """{"layer", "head", "inside", "outside", "even", "even_outside", "words", "words_outside"} of each head, both
        from 0: means, None where there is no such word, and of how many words they are."""
        found = []
        for layer, head in sorted({(layer, head) for layer, head, _ in self.sums}):
            outside, inside = (self.sums[layer, head, side] for side in SIDES)
            means: dict[str, Any] = {"inside": _mean(inside, 0), "outside": _mean(outside, 0)}
            means |= {"even": _mean(inside, 1), "even_outside": _mean(outside, 1)}
            counts = {"words": int(inside[2]), "words_outside": int(outside[2])}
            found.append({"layer": layer, "head": head} | means | counts)
        return found


def _mean(sums: np.ndarray, column: int) -> float | None:
    return round(float(sums[column] / sums[2]), 4) if sums[2] else None


def sentence_rows(trace: AttentionTrace, predicate: int, tags: Sequence[str]) -> list[dict[str, Any]]:
    """As `PredicateShares.rows`, of one sentence whose layers a trace has; tags: of its words."""
    shares = PredicateShares()
    for site, weights in trace.sites.items():
        if site.role in ROLES and site.quantity == "weight" and site.layer is not None:
            mask = trace.sites.get(Site(layer=site.layer, role=MASK, quantity="contribution"))
            visible = np.ones(weights.shape, bool) if mask is None else np.isfinite(mask.values)
            shares.add(site.layer, weights.values, visible, predicate, tags)
    return shares.rows()
