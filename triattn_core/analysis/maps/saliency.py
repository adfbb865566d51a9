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


@torch.enable_grad()
def source_saliency(model: Any, source: Sentences, target: Sentences, following: Sequence[int]) -> np.ndarray:
    """[target, source] of one sentence.  target: the sub-words so far; following: the one that each row scores."""
    vectors: list[Tensor] = []

    def keep_first(module: Any, given: Any, output: Tensor) -> Tensor:
        """The table is read for the source, then for the target."""
        if vectors:
            return output
        vectors.append(output.detach().requires_grad_())
        return vectors[0]

    hook = model.table.register_forward_hook(keep_first)
    try:
        scores = model(source, target)[0].log_softmax(-1)
    finally:
        hook.remove()
    rows = []
    for row, sub_word in zip(scores, following):
        (gradient,) = torch.autograd.grad(row[sub_word], vectors[0], retain_graph=True)
        rows.append((gradient * vectors[0]).sum(-1).abs()[0].detach())
    return torch.stack(rows).double().cpu().numpy()
