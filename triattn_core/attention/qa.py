"""Attention of a passage over a question (the T-trilinear paper, section 3.3): weights, summary and output."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from triattn_core.attention.qa_similarity import QA_SIMILARITIES
from triattn_core.attention.softmax import masked_softmax
from triattn_core.attention.states import States
from triattn_core.attention.tap import is_tapped, tap
from triattn_core.attention.weight_override import scores
from triattn_core.trace.site import Site

AXES = ("query", "key")  # passage words attend to question words
OUTPUTS = {"O_1": 2, "O_2": 3}  # times d features


class QaMatrix(nn.Module):
    """The matrix S of any similarity, tapped with its weights over the question; QA systems use S in their own ways."""

    def __init__(self, features: int, similarity: str):
        super().__init__()
        self.similarity = QA_SIMILARITIES[similarity](features)

    def forward(
        self, passage: States, question: States, site: Site = Site(role="attention"), beyond: int = 0
    ) -> Tensor:
        """[B, M, N] of states [B, M, d] and [B, N, d]; taps `<site>/relevance` and `<site>/weight`.

        beyond: how many states at the end of each are not words, such as sentinels: they are not tapped, so the tapped
        weights lack their share.
        """
        S = scores(self.similarity(passage.vectors, question.vectors))
        m, n = (size - beyond for size in S.shape[-2:])
        tap(site, S[:, :m, :n], AXES, "relevance")
        if is_tapped(site, "weight"):
            A = masked_softmax(S, question.keep)[:, :m, :n]
            sums_over, runs_over = ((), ("key",)) if beyond else (("key",), ())
            tap(site, A, AXES, "weight", sums_over, runs_over=runs_over)
        return S


class QaAttention(nn.Module):
    """`A = softmax(S)` over question words, `U~ = A U`, and O_1 `[h; u~]` or O_2 `[h; u~; h * u~]` (Eqs. 4 to 9)."""

    def __init__(self, features: int, similarity: str, output: str):
        super().__init__()
        self.similarity, self.output = QA_SIMILARITIES[similarity](features), output
        self.features = OUTPUTS[output] * features

    def forward(self, passage: States, question: States, site: Site = Site(role="attention")) -> Tensor:
        """[B, M, features] of states H [B, M, d] and U [B, N, d]; taps `<site>/relevance` and `<site>/weight`."""
        H, U = passage.vectors, question.vectors
        S = scores(self.similarity(H, U))
        A = masked_softmax(S, question.keep)
        tap(site, S, AXES, "relevance")
        tap(site, A, AXES, "weight", ("key",))
        summary = A.to(U.dtype) @ U
        return torch.cat([H, summary] if self.output == "O_1" else [H, summary, H * summary], -1)
