"""COIN's interaction block (Hu et al. 2021, "Context-aware Interaction Network for Question Matching", section 2.2).

Self-alignment gives each token its context, cross-attention aligns the sentences with it, and a gate fuses the aligned
vectors.  Both sentences share all weights, so token-wise layers run on both at once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import relu

from triattn_core.attention.dropout import Dropout
from triattn_core.attention.softmax import masked_softmax
from triattn_core.attention.tap import is_tapped, tap
from triattn_core.attention.weight_override import scores
from triattn_core.trace.site import Site

PAIRS = ("query", "key")
CONTEXT = "context"  # can be ablated, like whole blocks


@dataclass(frozen=True)
class Pair:
    """A batch of sentence pairs: `rows` [B * (N + I), h] are the tokens of all a, then those of all b.

    a, b: [B, N] and [B, I] bool, True = a real token.
    """

    rows: Tensor
    a: Tensor
    b: Tensor

    @property
    def split(self) -> tuple[Tensor, Tensor]:
        """The rows of each sentence, [B, N, h] and [B, I, h], as views."""
        size = self.a.numel()
        return self.rows[:size].unflatten(0, self.a.shape), self.rows[size:].unflatten(0, self.b.shape)

    def of(self, rows: Tensor) -> Pair:
        """The same tokens with other rows."""
        return replace(self, rows=rows)


def concatenate(a: Tensor, b: Tensor) -> Tensor:
    """Rows [B * (N + I), h] of [B, N, h] and [B, I, h]."""
    return torch.cat([a.flatten(0, 1), b.flatten(0, 1)])


def self_alignment(
    h: Float[Tensor, "B n h"], projected: Float[Tensor, "B n d"], keep: Bool[Tensor, "B n"]
) -> tuple[Float[Tensor, "B n n"], Float[Tensor, "B n n"], Float[Tensor, "B n h"]]:
    """A = relu(W_c H)' relu(W_c H) and C = softmax(A) H (Eqs. 5 and 6): A, its softmax, C.

    projected: W_c H.  Raises nothing; a sentence without real tokens has zero weights and C.
    """
    activated = relu(projected)
    A = scores(activated @ activated.mT)
    weights = masked_softmax(A, keep)
    return A, weights, weights @ h


def cross_attention(
    f_a: Float[Tensor, "B N d"],
    f_b: Float[Tensor, "B I d"],
    keep_a: Bool[Tensor, "B N"],
    keep_b: Bool[Tensor, "B I"],
) -> tuple[Float[Tensor, "B N I"], Float[Tensor, "B N I"], Float[Tensor, "B I N"]]:
    """E[i, j] = f_a_i' f_b_j (Eqs. 1 and 4), its softmax over j for a, and its softmax over i for b (Eq. 2).

    f_a, f_b: F(h + c), or F(h) for cross-attention without context.
    """
    E = scores(f_a @ f_b.mT)
    return E, masked_softmax(E, keep_b), masked_softmax(E.mT, keep_a)


def apply_gate(h: Float[Tensor, "*b h"], new: Float[Tensor, "*b h"], f: Float[Tensor, "*b h"]) -> Float[Tensor, "*b h"]:
    """f * h + (1 - f) * h~ (Eq. 12): f is the share of its old value that a feature keeps."""
    return torch.lerp(new, h, f)


class GateFusion(nn.Module):
    """[h; h'], [h; h - h'] and [h; h * h'], each through its own network, joined and gated (Eqs. 7 to 12)."""

    def __init__(self, width: int, hidden: int, dropout: float):
        super().__init__()
        self.joined, self.difference, self.product = (nn.Linear(2 * width, hidden) for _ in range(3))
        self.fuse = nn.Linear(3 * hidden, width)
        self.gate_own, self.gate_new = nn.Linear(width, width, bias=False), nn.Linear(width, width)
        self.dropout = Dropout(dropout)

    def forward(self, h: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
        """New vectors and their gate, both [rows, width], of tokens h and their aligned vectors."""
        views = (self.joined, other), (self.difference, h - other), (self.product, h * other)
        features = torch.cat([relu(layer(torch.cat([h, view], -1))) for layer, view in views], -1)
        new = relu(self.fuse(self.dropout(features)))
        f = torch.sigmoid(self.gate_own(h) + self.gate_new(new))
        return apply_gate(h, new, f), f


class SimpleFusion(nn.Module):
    """The ablation "simple fusion" (section 3.3): [h; h'] through a feed-forward network, without a gate."""

    def __init__(self, width: int, hidden: int, dropout: float):
        super().__init__()
        self.fuse = nn.Linear(2 * width, width)

    def forward(self, h: Tensor, other: Tensor) -> tuple[Tensor, None]:
        """New vectors [rows, width]."""
        return relu(self.fuse(torch.cat([h, other], -1))), None


FUSIONS = {"gate": GateFusion, "simple": SimpleFusion}


class Interaction(nn.Module):
    """One block.  context: False omits self-alignment and its term (Eq. 1 in place of Eq. 4).  fusion: of FUSIONS."""

    def __init__(self, width: int, hidden: int, dropout: float = 0.0, context: bool = True, fusion: str = "gate"):
        super().__init__()
        self.context = nn.Linear(width, hidden, bias=False) if context else None
        self.align = nn.Linear(width, hidden)
        self.fusion = FUSIONS[fusion](width, hidden, dropout)
        self.dropout = Dropout(dropout)

    def forward(self, pair: Pair, site: Site, ablated: Collection[str] = ()) -> Pair:
        """New vectors of both sentences.  ablated: if CONTEXT is in it, the context term is ablated in this call.

        Taps, for `a_over_b` and `b_over_a`: `<site>/a_over_b/{relevance, weight}`, the same without the context term as
        `<site>/a_over_b/without_context/…`, the gate [query, feature] as `<site>/a_over_b/gate`; and the
        self-alignments `<site>/a_over_a/{relevance, weight}`, also of b.
        """
        pair = pair.of(self.dropout(pair.rows))
        a, b = pair.split
        with_context = pair
        if self.context is not None and CONTEXT not in ablated:
            projected = pair.of(self.context(pair.rows)).split
            alignments = [self_alignment(*inputs) for inputs in zip((a, b), projected, (pair.a, pair.b))]
            for name, (A, weights, _) in zip("ab", alignments):
                show(site / f"{name}_over_{name}", A, weights)
            with_context = pair.of(pair.rows + concatenate(alignments[0][2], alignments[1][2]))
            self._show_without(pair, site)
        E, over_b, over_a = self._cross_attend(with_context)
        show(site / "a_over_b", E, over_b)
        show(site / "b_over_a", E.mT, over_a)
        rows, gate = self.fusion(pair.rows, concatenate(over_b @ b, over_a @ a))
        if gate is not None:
            for name, side_gate in zip(("a_over_b", "b_over_a"), pair.of(gate).split):
                tap(site / name, side_gate, ("query", "feature"), "gate")
        return pair.of(rows)

    def _cross_attend(self, pair: Pair) -> tuple[Tensor, Tensor, Tensor]:
        return cross_attention(*pair.of(relu(self.align(pair.rows))).split, pair.a, pair.b)

    def _show_without(self, pair: Pair, site: Site) -> None:
        """Tap Eq. 1 with the same states and weights; computed only if it is recorded."""
        names = [site / direction / "without_context" for direction in ("a_over_b", "b_over_a")]
        if any(is_tapped(name, "relevance", "weight") for name in names):
            E, over_b, over_a = self._cross_attend(pair)
            show(names[0], E, over_b)
            show(names[1], E.mT, over_a)


def show(site: Site, relevance: Tensor, weights: Tensor) -> None:
    """Tap a relevance [B, n, k] and its weights."""
    tap(site, relevance, PAIRS, "relevance")
    tap(site, weights, PAIRS, "weight", ("key",))
