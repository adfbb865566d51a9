"""How three QA systems use a similarity matrix S: BiDAF's attention flow, DCN's coattention, QANet's context-query
attention.  S may come from any of `qa_similarity`; Table 4 of the T-trilinear paper uses its own.

All take H [B, M, d] and U [B, N, d] with keep-masks (True = a real word) and are differentiable; masked words have no
effect.  Each attends both ways: the weights of a passage word over the question are tapped where S is (`qa.QaMatrix`),
those over the passage here.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from triattn_core.attention.qa import AXES
from triattn_core.attention.softmax import kept_softmax, masked_softmax
from triattn_core.attention.tap import tap
from triattn_core.trace.site import Site

Words = Float[Tensor, "B M d"]
Asked = Float[Tensor, "B N d"]
Keep = Bool[Tensor, "B _"]
OVER_PASSAGE = Site(role="attention/over_passage", quantity="weight")


def attention_flow(
    H: Words, U: Asked, S: Float[Tensor, "B M N"], passage: Keep, question: Keep
) -> Float[Tensor, "B M _"]:
    """`[h; u~; h * u~; h * h~]` [B, M, 4d] (Seo et al. 2017, section 2.4).

    u~ is the mean of U by the softmax of a row of S; h~, the same for all words, is that of H by the softmax over the
    passage of the greatest score of each row.
    """
    summary = masked_softmax(S, question) @ U
    greatest = S.masked_fill(~question[:, None, :], torch.finfo(S.dtype).min / 2).amax(-1)
    over_passage = kept_softmax(greatest, passage)
    tap(OVER_PASSAGE, over_passage, ("query",), "weight", ("query",))
    back = over_passage[:, None, :] @ H
    return torch.cat([H, summary, H * summary, H * back], -1)


def coattention(
    D: Words, Q: Asked, L: Float[Tensor, "B M N"], passage: Keep, question: Keep, beyond: int = 0
) -> Float[Tensor, "B M _"]:
    """`C^D = [Q; C^Q] A^D` [B, M, 2d] with `C^Q = D A^Q` (Xiong et al. 2017, section 2.2).

    A^Q: the softmax of a column of L, over the passage; A^D: of a row, over the question.  beyond: how many sentinels
    are the last words of D and of Q; they are not tapped, so the tapped weights lack their share.
    """
    over_passage = masked_softmax(L.mT, passage)
    m, n = (size - beyond for size in L.shape[-2:])
    sums_over, runs_over = ((), ("query",)) if beyond else (("query",), ())
    tap(OVER_PASSAGE, over_passage.mT[:, :m, :n], AXES, "weight", sums_over, runs_over=runs_over)
    of_question = over_passage @ D
    return masked_softmax(L, question) @ torch.cat([Q, of_question], -1)


def context_query(
    C: Words, Q: Asked, S: Float[Tensor, "B M N"], passage: Keep, question: Keep
) -> Float[Tensor, "B M _"]:
    """`[c; a; c * a; c * b]` [B, M, 4d]: `A = S_row Q` and `B = S_row S_column' C` (Yu et al. 2018, section 2.2).

    S_row is S with a softmax over the question, S_column with one over the passage.
    """
    row, column = masked_softmax(S, question), masked_softmax(S.mT, passage)
    tap(OVER_PASSAGE, column.mT, AXES, "weight", ("query",))
    a, b = row @ Q, row @ (column @ C)
    return torch.cat([C, a, C * a, C * b], -1)
