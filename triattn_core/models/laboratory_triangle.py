"""Triangle attention on laboratory rows whose tokens are pairs: a flight from one city to another.

The row becomes a grid of pair states, one for every two nodes.  The state of (i, j) tells the token from i to j and the
one from j to i, so that around the ending node the pair (i, j) attends to the tokens from any k to j, and its bias
knows the token from i to k (Jumper et al. 2021, supplement, Algorithm 14).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from triattn_core.attention.tap import tap
from triattn_core.attention.triangle import TriangleAttention
from triattn_core.inference.batch import RoleBatch
from triattn_core.tasks.laboratory import LaboratoryTask
from triattn_core.trace.site import Site

TOKENS, GRID = Site(layer=0, role="a_over_b"), Site(layer=0, role="triangle")


class TriangleBlock(nn.Module):
    """Triangle attention around the ending node, and a token-wise network, each added to what it reads."""

    def __init__(self, task: LaboratoryTask, hidden: int, heads: int):
        super().__init__()
        self.nodes = len(task.NODES)
        ends = [task.ends(text) for _, text in task.vocabulary.numbers]
        self.ends: Tensor  # [1 + tokens, 2]: the nodes that a token goes from and to
        self.register_buffer("ends", torch.tensor([(0, 0), *ends]), persistent=False)
        self.reverse = nn.Linear(hidden, hidden)
        self.attention = TriangleAttention(hidden, heads, hidden // heads, starting=False)
        self.norm = nn.LayerNorm(hidden)
        self.widen, self.narrow = nn.Linear(hidden, 2 * hidden), nn.Linear(2 * hidden, hidden)

    def forward(self, query: RoleBatch, tokens: RoleBatch, asked: Tensor, vectors: Tensor) -> Tensor:
        """The new state [B, hidden] of the pair that is asked for.

        asked: [B, 1, hidden], vectors: [B, I, hidden], embedded query and tokens.  Taps the cube of all pairs at GRID
        and, at TOKENS, the weights [B, heads, 1, I] that the asked pair gives the tokens.
        """
        grid, keep = self.grid(tokens, vectors)
        rows, (start, end) = torch.arange(len(grid), device=grid.device), self.ends[query.ids[:, 0]].unbind(-1)
        grid = grid.index_put((rows, start, end), asked[:, 0], accumulate=True)
        added, weights = self.attention.attend(grid, keep, GRID)
        starts, ends = self.ends[tokens.ids].unbind(-1)  # [B, I]
        given = weights[rows, :, start, end]  # [B, heads, nodes]
        of_tokens = given.gather(-1, starts[:, None].expand(-1, given.shape[1], -1))
        met = (ends == end[:, None]) & tokens.keep
        tap(TOKENS, of_tokens[:, :, None] * met[:, None, None], ("head", "query", "key"), "weight", ("key",))
        state = (grid + added)[rows, start, end]
        return state + self.narrow(gelu(self.widen(self.norm(state))))

    def grid(self, tokens: RoleBatch, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """The pair states [B, n, n, hidden], and [B, n, n] which pairs have a token."""
        batch, n = len(vectors), self.nodes
        starts, ends = self.ends[tokens.ids].unbind(-1)
        rows = torch.arange(batch, device=vectors.device)[:, None].expand_as(starts)
        real = tokens.keep[..., None]
        grid = vectors.new_zeros(batch, n, n, vectors.shape[-1])
        grid = grid.index_put((rows, starts, ends), vectors * real, accumulate=True)
        grid = grid.index_put((rows, ends, starts), self.reverse(vectors) * real, accumulate=True)
        found = vectors.new_zeros(batch, n, n).index_put((rows, starts, ends), tokens.keep.to(vectors), accumulate=True)
        return grid, found > 0
