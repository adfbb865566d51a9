"""COIN's interaction block (Hu et al. 2021, "Context-aware Interaction Network for Question Matching", section 2.2).

Self-alignment gives each token its context, cross-attention aligns the sentences with it, a gate takes in what was
aligned.  Both sentences go through the same weights: whatever is done token by token is done to both at once.
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
from triattn_core.attention.tap import tap, tapped
from triattn_core.attention.weight_override import scores

PAIRS = ("query", "key")
CONTEXT = "context"  # what can be switched off beside whole blocks


@dataclass(frozen=True)
class Pair:
    """Two sentences in a batch: `rows` [B * (N + I), h] are the tokens of all a, then those of all b.

    a, b: [B, N] and [B, I] bool, True = a real token.
    """

    rows: Tensor
    a: Tensor
    b: Tensor

    @property
    def apart(self) -> tuple[Tensor, Tensor]:
        """[B, N, h] and [B, I, h]: views."""
        size = self.a.numel()
        return self.rows[:size].unflatten(0, self.a.shape), self.rows[size:].unflatten(0, self.b.shape)

    def of(self, rows: Tensor) -> Pair:
        """Other rows of the same tokens."""
        return replace(self, rows=rows)


def together(a: Tensor, b: Tensor) -> Tensor:
    """Rows [B * (N + I), h] of [B, N, h] and [B, I, h]."""
    return torch.cat([a.flatten(0, 1), b.flatten(0, 1)])


def self_alignment(
    h: Float[Tensor, "B n h"], looking: Float[Tensor, "B n d"], keep: Bool[Tensor, "B n"]
) -> tuple[Float[Tensor, "B n n"], Float[Tensor, "B n n"], Float[Tensor, "B n h"]]:
    """A = relu(W_c H)' relu(W_c H) and C = softmax(A) H (Eqs. 5 and 6): A, its softmax, C.

    looking: W_c H.  Raises nothing; a sentence without a real token has zeros for weights and C.
    """
    seen = relu(looking)
    A = scores(seen @ seen.mT)
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


def gated(h: Float[Tensor, "*b h"], new: Float[Tensor, "*b h"], f: Float[Tensor, "*b h"]) -> Float[Tensor, "*b h"]:
    """f * h + (1 - f) * h~ (Eq. 12): f is the share that a feature keeps of what it was."""
    return torch.lerp(new, h, f)


class GateFusion(nn.Module):
    """h, h - h' and h * h' beside h, each through its own network, joined, and let in by a gate (Eqs. 7 to 12)."""

    def __init__(self, width: int, hidden: int, dropout: float):
        super().__init__()
        self.joined, self.difference, self.product = (nn.Linear(2 * width, hidden) for _ in range(3))
        self.fuse = nn.Linear(3 * hidden, width)
        self.gate_own, self.gate_new = nn.Linear(width, width, bias=False), nn.Linear(width, width)
        self.dropout = Dropout(dropout)

    def forward(self, h: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
        """New vectors and their gate, both [rows, width], of tokens h and what was aligned to them."""
        views = (self.joined, other), (self.difference, h - other), (self.product, h * other)
        seen = torch.cat([relu(layer(torch.cat([h, view], -1))) for layer, view in views], -1)
        new = relu(self.fuse(self.dropout(seen)))
        f = torch.sigmoid(self.gate_own(h) + self.gate_new(new))
        return gated(h, new, f), f


class SimpleFusion(nn.Module):
    """The ablation "simple fusion" (section 3.3): [h; h'] through a feed-forward network; there is no gate."""

    def __init__(self, width: int, hidden: int, dropout: float):
        super().__init__()
        self.fuse = nn.Linear(2 * width, width)

    def forward(self, h: Tensor, other: Tensor) -> tuple[Tensor, None]:
        """New vectors [rows, width]."""
        return relu(self.fuse(torch.cat([h, other], -1))), None


FUSIONS = {"gate": GateFusion, "simple": SimpleFusion}


class Interaction(nn.Module):
    """One block.  context: False leaves self-alignment and its term out (Eq. 1 for Eq. 4).  fusion: of FUSIONS."""

    def __init__(self, width: int, hidden: int, dropout: float = 0.0, context: bool = True, fusion: str = "gate"):
        super().__init__()
        self.context = nn.Linear(width, hidden, bias=False) if context else None
        self.align = nn.Linear(width, hidden)
        self.fusion = FUSIONS[fusion](width, hidden, dropout)
        self.dropout = Dropout(dropout)

    def forward(self, pair: Pair, site: str, off: Collection[str] = ()) -> Pair:
        """New vectors of both sentences.  off: with CONTEXT in it the context term is left out of this call.

        Taps, `a_over_b` and the other way round: `<site>/a_over_b/{relevance, weight}`, the same without the context
        term below `<site>/a_over_b/without_context`, the gate [query, feature] as `<site>/a_over_b/gate`; and the
        self-alignments `<site>/a_over_a/{relevance, weight}` and those of b.
        """
        pair = pair.of(self.dropout(pair.rows))
        a, b = pair.apart
        seen = pair
        if self.context is not None and CONTEXT not in off:
            looking = pair.of(self.context(pair.rows)).apart
            found = [self_alignment(*one) for one in zip((a, b), looking, (pair.a, pair.b))]
            for name, (A, weights, _) in zip("ab", found):
                show(f"{site}/{name}_over_{name}", A, weights)
            seen = pair.of(pair.rows + together(found[0][2], found[1][2]))
            self._show_without(pair, site)
        E, over_b, over_a = self._aligned(seen)
        show(f"{site}/a_over_b", E, over_b)
        show(f"{site}/b_over_a", E.mT, over_a)
        rows, gate = self.fusion(pair.rows, together(over_b @ b, over_a @ a))
        if gate is not None:
            for name, one in zip(("a_over_b", "b_over_a"), pair.of(gate).apart):
                tap(f"{site}/{name}/gate", one, ("query", "feature"), "gate")
        return pair.of(rows)

    def _aligned(self, pair: Pair) -> tuple[Tensor, Tensor, Tensor]:
        return cross_attention(*pair.of(relu(self.align(pair.rows))).apart, pair.a, pair.b)

    def _show_without(self, pair: Pair, site: str) -> None:
        """What Eq. 1 makes of the same states with the same weights: computed for who asks to see it."""
        names = [f"{site}/{way}/without_context" for way in ("a_over_b", "b_over_a")]
        if tapped(*(f"{name}/{what}" for name in names for what in ("relevance", "weight"))):
            E, over_b, over_a = self._aligned(pair)
            show(names[0], E, over_b)
            show(names[1], E.mT, over_a)


def show(site: str, relevance: Tensor, weights: Tensor) -> None:
    """Taps a relevance [B, n, k] and its weights."""
    tap(f"{site}/relevance", relevance, PAIRS, "relevance")
    tap(f"{site}/weight", weights, PAIRS, "weight", ("key",))
