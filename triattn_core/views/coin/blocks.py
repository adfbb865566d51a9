"""COIN's trace read block by block, in one direction: alignments with the context term and without it, what that
changed, each sentence over itself, and the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import cell_counts
from triattn_core.trace.site import Site
from triattn_core.views.lib.content_words import content_words
from triattn_core.views.lib.strongest import labels

NEEDS = ("query", "key")
NOISE = 1e-6  # models compute in float32


@dataclass(frozen=True)
class Block:
    """One block in one direction; None for what the model, or this call of it, does not have.

    weight, score, plain, plain_score: [query, key], the last two without the context term.  own: the self-alignment
    weights of the query's and of the key's sentence.  gate: [query, feature].  Neither a gate nor a score has a sum, so
    that both are None where tokens were joined.
    """

    weight: xr.DataArray = field(repr=False)
    score: xr.DataArray | None = field(repr=False)
    plain: xr.DataArray | None = field(default=None, repr=False)
    plain_score: xr.DataArray | None = field(default=None, repr=False)
    own: tuple[xr.DataArray, xr.DataArray] | None = field(default=None, repr=False)
    gate: xr.DataArray | None = field(default=None, repr=False)

    @property
    def changed(self) -> xr.DataArray | None:
        """What the context term changed: the weights with it less those without; float noise is no change."""
        if self.plain is None:
            return None
        gap = self.weight - self.plain
        return gap.where(np.abs(gap) > NOISE, 0.0)


@dataclass(frozen=True)
class Answer:
    """The prediction with one part ablated: the probability of the whole model's label, and whether that holds."""

    off: str
    name: str
    probability: float
    flips: bool = False


def blocks(trace: AttentionTrace, direction: str) -> list[Block | None]:
    """The blocks of a COIN in a direction such as `a_over_b`, None for one that is ablated.

    Raises TraceError where the trace is not one of COIN.
    """
    if trace.meta.get("mechanism") != "coin":
        raise TraceError(f"this trace is not one of COIN but of {trace.meta.get('mechanism', 'an unknown mechanism')}")

    def get(site: Site, quantity: str) -> xr.DataArray | None:
        return trace.sites.get(site.with_quantity(quantity))

    def block(layer: int) -> Block | None:
        site = Site(layer=layer, role=direction)
        if (weight := get(site, "weight")) is None:
            return None
        bare = site / "without_context"
        scores = [get(place, "relevance") for place in (site, bare)]
        score, bare_score = (None if score is None or "folded" in score.attrs else score for score in scores)
        own = [get(Site(layer=layer, role=f"{side}_over_{side}"), "weight") for side in site.sides or ()]
        both = (own[0], own[1]) if own[0] is not None and own[1] is not None else None
        gate = get(site, "gate")
        unfolded = gate is not None and gate.sizes["query"] == weight.sizes["query"]
        return Block(weight, score, get(bare, "weight"), bare_score, both, gate if unfolded else None)

    return [block(layer) for layer in range(int(trace.meta.get("layers", 1)))]


def ablation_label(name: str) -> str:
    """The name of a part that can be ablated: `layer.0` is block 1."""
    layer = Site.parse(name).layer
    return name or "nothing" if layer is None else f"block {layer + 1}"


def reverse_pair(cell: Sequence[int]) -> list[int]:
    """The cell of the same pair of tokens in the other direction."""
    query, key, block, feature, first, second = cell
    return [key, query, block, feature, second, first]


def spread(weight: xr.DataArray) -> float | None:
    """How evenly weights [query, key] are spread: the mean over n of H[n] / ln(keys), H[n] = -sum_i W[n,i] ln W[n,i]
    with 0 ln 0 = 0.  1: uniform, 0: one key alone.  None for a single key, and where tokens were joined."""
    keys = weight.sizes["key"]
    if keys == 1 or any(cell_counts(weight, axis).max() > 1 for axis in NEEDS):
        return None
    W = weight.transpose(*NEEDS).values.astype(float)
    terms = W * np.log(np.where(W > 0, W, 1.0))
    return min(float(-terms.sum(1).mean() / np.log(keys)), 1.0)


def first_cell(all_blocks: Sequence[Block | None], texts: dict[str, str], feature_count: int = 1) -> tuple[int, ...]:
    """Where to look first: the pair of content words whose weight context changed most, else the one that holds most;
    of the gate the feature that takes in most, of each sentence the token that is looked at most."""
    present = [(i, block) for i, block in enumerate(all_blocks) if block is not None]
    if not present:
        return 0, 0, 0, 0, 0, 0
    shares = [np.abs((block.weight if block.changed is None else block.changed).values) for _, block in present]
    carries = np.logical_and.outer(*(content_words(present[0][1].weight, texts, axis) for axis in NEEDS))
    place, query, key = np.unravel_index((np.stack(shares) + carries).argmax(), (len(present), *shares[0].shape))
    index, block = present[place]
    feature = 0 if block.gate is None else int(block.gate.transpose("query", "feature").values[query].argmin())
    own_tokens = [int(m.values[i].argmax()) for m, i in zip(block.own or (), (query, key))] or [0, 0]
    return int(query), int(key), index, min(feature, feature_count - 1), *own_tokens


def table(trace: AttentionTrace, direction: str) -> pd.DataFrame:
    """Every pair of every block as a row, for CSV: tokens and their positions, weight and score, both without the
    context term too, what that changed, and the mean of the query's gate; empty where there is none."""
    parts = []
    for number, block in enumerate(blocks(trace, direction), start=1):
        if block is None:
            continue
        positions = np.indices(block.weight.shape).reshape(2, -1)
        columns: dict = {"block": number}
        for axis, where in zip(NEEDS, positions):
            names = np.array(labels(block.weight, dict(trace.texts), axis), object)
            columns |= {axis: names[where], f"{axis}_at": where}
            if f"{axis}_cells" in block.weight.coords:
                columns[f"{axis}_tokens"] = block.weight[f"{axis}_tokens"].values[where]
        maps = {"weight": block.weight, "score": block.score, "weight without context": block.plain}
        maps |= {"score without context": block.plain_score, "changed": block.changed}
        columns |= {name: np.nan if array is None else array.values.ravel() for name, array in maps.items()}
        columns["gate"] = np.nan if block.gate is None else block.gate.mean("feature").values[positions[0]]
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
