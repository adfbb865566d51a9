"""Saliency of source sub-words for each sub-word of a translation, the gradient-based alignment of Ding et al. 2019.

    S[t, i] = |sum over features d of x_id * d log p(y_t) / d x_id|

("Saliency-driven word alignment interpretation for neural machine translation", section 3, without SmoothGrad.)
x_i: the vector of source sub-word i as the table has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from triattn_core.models.translation import Sentences

ROWS = 16  # of a target, in one backward pass


def source_saliency(model: Any, source: Sentences, target: Sentences, following: Sequence[int]) -> np.ndarray:
    """[target, source] of one sentence.  target: the sub-words so far; following: the one that each row scores."""
    parts = [range(len(following))[start : start + ROWS] for start in range(0, len(following), ROWS)]
    return torch.cat([_rows(model, source, target, following, part) for part in parts]).double().cpu().numpy()


@torch.enable_grad()
def _rows(model: Any, source: Sentences, target: Sentences, following: Sequence[int], rows: range) -> Tensor:
    """Rows of the saliency: the sentence once for each, so that one backward pass has the gradients of all."""
    vectors: list[Tensor] = []

    def keep_first(module: Any, given: Any, output: Tensor) -> Tensor:
        """The table is read for the source, then for the target."""
        if vectors:
            return output
        vectors.append(output.detach().requires_grad_())
        return vectors[0]

    hook = model.table.register_forward_hook(keep_first)
    try:
        scores = model(*(_repeated(sentence, len(rows)) for sentence in (source, target)))
    finally:
        hook.remove()
    copies = torch.arange(len(rows))
    own = scores[copies, list(rows)].log_softmax(-1)[copies, [following[row] for row in rows]]
    (gradient,) = torch.autograd.grad(own.sum(), vectors[0])
    return (gradient * vectors[0]).sum(-1).abs().detach()


def _repeated(sentence: Sentences, count: int) -> Sentences:
    return Sentences(sentence.ids.expand(count, -1), sentence.keep.expand(count, -1))
