"""Highway layers (Srivastava et al. 2015), as BiDAF and QANet apply them to word vectors."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import relu


class Highway(nn.Module):
    """`t * relu(W x + b) + (1 - t) * x` with the gate `t = sigmoid(W_t x + b_t)`, twice: [B, n, width] → the same."""

    def __init__(self, width: int, layers: int = 2):
        super().__init__()
        self.changes, self.gates = (nn.ModuleList(nn.Linear(width, width) for _ in range(layers)) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        for change, gate in zip(self.changes, self.gates):
            x = torch.lerp(x, relu(change(x)), torch.sigmoid(gate(x)))
        return x
