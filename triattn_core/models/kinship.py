"""Models of *how are two people related?*: links of a story, one attention or several, a relation."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, gelu

from triattn_core.attention.states import States
from triattn_core.attention.triangle import TriangleAttention
from triattn_core.configs.kinship import KinshipConfig
from triattn_core.inference.number_batch import BUCKETS
from triattn_core.inference.story_batch import StoryBatch
from triattn_core.models.laboratory import Block, joint, with_mean
from triattn_core.tasks.kinship.story import MOST_PEOPLE, RELATIONS
from triattn_core.trace.site import Site

WORD, DROPPED = 48, 0.3  # features of a word; share of the features of the words that is dropped in training


class KinshipModel(nn.Module):
    """Logits [B, relations]; sites are `layer.0/a_over_b/…`, of bi_joint `layer.<i>/joint/…`, of triangle, whose cubes
    are of people, `layer.<2i>/triangle/…` around the starting and `layer.<2i + 1>/triangle/…` around the ending one."""

    def __init__(self, config: KinshipConfig):
        super().__init__()
        hidden, self.config = config.hidden, config
        self.words, self.around = nn.Embedding(1 + BUCKETS, WORD, padding_idx=0), nn.Linear(3 * WORD, hidden)
        if config.mechanism == "triangle":
            self.reverse, self.plain = nn.Linear(hidden, hidden), nn.Embedding(2, hidden)  # of two people, of one
            self.stack = nn.ModuleList(TriangleLayer(hidden, config.heads) for _ in range(config.layers))
        else:
            self.first, self.second = nn.Embedding(MOST_PEOPLE, hidden), nn.Embedding(MOST_PEOPLE, hidden)
            self.asked = nn.Parameter(torch.zeros(hidden))
            self.layers = nn.ModuleList(Block(config, config.distinct) for _ in range(config.layers))
            self.enter = nn.LayerNorm(hidden)
        self.norm, self.predict = nn.LayerNorm(hidden), nn.Linear(hidden, len(RELATIONS))

    def forward(self, batch: StoryBatch) -> Tensor:
        """[B, relations]."""
        words = dropout(self.words(batch.words).sum(-2).flatten(2), DROPPED, self.training)
        links = self.around(words)  # [B, n, hidden]
        if self.config.mechanism == "triangle":
            return self._of_grid(batch, links)
        one, two = batch.asked.unbind(-1)
        first, second = batch.ends.unbind(-1)
        asked = self.enter(self.first(one) + self.second(two) + self.asked)[:, None]
        query = States(asked, batch.keep.new_ones(len(asked), 1))
        key = States(self.enter(links + self.first(first) + self.second(second)), batch.keep)
        if self.config.mechanism == "bi_joint":
            states = joint(query, key)
            for i, layer in enumerate(self.layers):
                states = layer(states, states, key, Site(layer=i, role="joint"))
        else:
            if self.config.mechanism == "cbi":
                query, key = with_mean(query, key), with_mean(key, key)
            states = self.layers[0](query, key, key, Site(layer=0, role="a_over_b"))
        return self.predict(self.norm(states.vectors[:, 0]))

    def _of_grid(self, batch: StoryBatch, links: Tensor) -> Tensor:
        """The relation of the asked pair, from the grid of all pairs of people."""
        grid = self.grid(batch, links)
        keep = batch.people[:, :, None] & batch.people[:, None]
        for i, layer in enumerate(self.stack):
            grid = layer(grid, keep, i)
        rows = torch.arange(len(grid), device=grid.device)
        return self.predict(self.norm(grid[rows, batch.asked[:, 0], batch.asked[:, 1]]))

    def grid(self, batch: StoryBatch, links: Tensor) -> Tensor:
        """[B, m, m, hidden]: what links tell of each two people, in both directions; a vector of its own for a person
        with themselves."""
        size, people = batch.people.shape
        first, second = batch.ends.unbind(-1)
        rows = torch.arange(size, device=links.device)[:, None].expand_as(first)
        real = links * batch.keep[..., None]
        turned = self.reverse(links) * batch.keep[..., None]
        grid = links.new_zeros(size, people, people, links.shape[-1])
        grid = grid.index_put((rows, first, second), real, accumulate=True)
        grid = grid.index_put((rows, second, first), turned, accumulate=True)
        same = torch.eye(people, dtype=torch.long, device=links.device)
        return grid + self.plain(same)


class TriangleLayer(nn.Module):
    """Triangle attention around both ends and a token-wise network, added to the states of pairs [B, m, m, hidden]."""

    def __init__(self, hidden: int, heads: int):
        super().__init__()
        self.starting, self.ending = (TriangleAttention(hidden, heads, hidden // heads, way) for way in (True, False))
        self.norm = nn.LayerNorm(hidden)
        self.widen, self.narrow = nn.Linear(hidden, 2 * hidden), nn.Linear(2 * hidden, hidden)

    def forward(self, grid: Tensor, keep: Tensor, number: int) -> Tensor:
        """New states; keep [B, m, m]: pairs of people that there are.  number: of the layer, for its sites."""
        sites = (Site(layer=2 * number + side, role="triangle") for side in (0, 1))
        both = (attend(grid, keep, site) for attend, site in zip((self.starting, self.ending), sites))
        grid = grid + sum(both)
        return grid + self.narrow(gelu(self.widen(self.norm(grid))))
