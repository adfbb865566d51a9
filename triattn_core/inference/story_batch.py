"""Batches of family stories: which people each link joins, and the words around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from triattn_core.inference.number_batch import bucket
from triattn_core.tasks.kinship.family_stories import StoryRoles
from triattn_core.tasks.kinship.story import MOST_PEOPLE, Example

WORDS = 12  # of each side of a link that are read, those nearest to a name


@dataclass(frozen=True)
class StoryBatch:
    """B stories of at most n links and m people.

    asked: [B, 2] long, the two people.  ends: [B, n, 2] long, the people that a link joins.  words: [B, n, 3, WORDS]
    long, buckets of the words before, between and after the two names.  keep: [B, n] bool.  people: [B, m] bool.
    labels: [B] long, -1 if unknown.
    """

    asked: Tensor
    ends: Tensor
    words: Tensor
    keep: Tensor
    people: Tensor
    labels: Tensor

    def to(self, device: str | torch.device) -> StoryBatch:
        """The batch on a device."""
        return StoryBatch(*(tensor.to(device) for tensor in vars(self).values()))

    def take(self, rows: Tensor) -> StoryBatch:
        """Some rows, as wide as their longest."""
        links, people = int(self.keep[rows].sum(1).max()), int(self.people[rows].sum(1).max())
        short = {name: tensor[rows] for name, tensor in vars(self).items()}
        cut = {name: short[name][:, :links] for name in ("ends", "words", "keep")}
        return StoryBatch(**short | cut | {"people": short["people"][:, :people]})

    def renamed(self) -> StoryBatch:
        """The people of each row under other numbers, at random: which number somebody has tells nothing."""
        draw = torch.rand(len(self.asked), MOST_PEOPLE).argsort(1)
        ends = draw.gather(1, self.ends.flatten(1)).view_as(self.ends)
        return StoryBatch(**vars(self) | {"asked": draw.gather(1, self.asked), "ends": ends})


def story_batch(rows: Sequence[StoryRoles]) -> StoryBatch:
    """The batch of some roles."""
    return stories([row.example for row in rows if row.example is not None])


def stories(examples: Sequence[Example]) -> StoryBatch:
    """The batch of some examples, padded to the longest."""
    links = [list(example.links()) for example in examples]
    size, width, people = len(examples), max(map(len, links)), max(len(example.people) for example in examples)
    ends, words = torch.zeros(size, width, 2, dtype=torch.long), torch.zeros(size, width, 3, WORDS, dtype=torch.long)
    keep, there = torch.zeros(size, width, dtype=torch.bool), torch.zeros(size, people, dtype=torch.bool)
    asked, labels = torch.zeros(size, 2, dtype=torch.long), torch.full((size,), -1)
    for i, example in enumerate(examples):
        names = {name: place for place, name in enumerate(example.people)}
        asked[i] = torch.tensor([names[name] for name in example.asked])
        there[i, : len(names)] = True
        keep[i, : len(links[i])] = True
        labels[i] = -1 if example.label is None else example.label
        for j, link in enumerate(links[i]):
            ends[i, j] = torch.tensor([link.first, link.second])
            sides = link.before[-WORDS:], nearest(link.between), link.after[:WORDS]
            for k, side in enumerate(sides):
                words[i, j, k, : len(side)] = torch.tensor([bucket(word) for word in side], dtype=torch.long)
    return StoryBatch(asked, ends, words, keep, there, labels)


def nearest(words: Sequence[str]) -> Sequence[str]:
    """Of the words between two names, those nearest to either."""
    half = WORDS // 2
    return words if len(words) <= WORDS else (*words[:half], *words[-half:])
