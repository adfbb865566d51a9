"""The best well-formed sequence of BIO tags (Viterbi 1967), under the hard constraints alone.

Tags are those of `bio_tags`: O, then B and I of each label; I-X may only follow B-X or I-X, and no text begins with I.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from triattn_core.inference.predictions import Tag
from triattn_core.text.bio_tags import bio_tags
from triattn_core.text.roles import Role


def best_tags(scores: Float[Tensor, "B n T"], keep: Bool[Tensor, "B n"]) -> Int[Tensor, "B n"]:
    """The well-formed sequence with the largest sum of scores, in each row; real tokens come first, padding has 0.

    scores: of O, B, I, B, I, … (an odd number of tags).  Linear in tokens and tags: before O and each B any tag may
    stand, and so the best one.
    """
    best, choices = scores[:, 0].clone(), []
    best[:, 2::2] = -torch.inf
    tags = torch.arange(scores.shape[-1], device=scores.device)
    for i in range(1, scores.shape[1]):
        any_best, any_tag = best.max(-1, keepdim=True)
        before, choice = any_best.expand_as(best).clone(), any_tag.expand_as(best).clone()
        begins, insides = best[:, 1::2], best[:, 2::2]
        before[:, 2::2] = torch.maximum(begins, insides)
        choice[:, 2::2] = tags[2::2] - (begins >= insides).long()
        real = keep[:, i, None]
        best = torch.where(real, before + scores[:, i], best)
        choices.append(torch.where(real, choice, tags))
    path = [best.argmax(-1, keepdim=True)]
    for choice in reversed(choices):
        path.append(choice.gather(1, path[-1]))
    return torch.cat(path[::-1], 1).masked_fill(~keep, 0)


def decode_tags(role: Role, scores: Float[Tensor, "n T"], labels: Sequence[str]) -> tuple[Tag, ...]:
    """The best well-formed tags of the words of a role, its cells; scores: of at least as many words.

    The probability of a tag is that of its word alone, whatever the constraints.
    """
    names, scores = bio_tags(labels), scores[: len(role.runs)]
    (numbers,) = best_tags(scores.log_softmax(-1)[None], torch.ones(1, len(scores), dtype=torch.bool)).tolist()
    probabilities = scores.softmax(-1)
    return tuple(
        Tag(role.spans[first][0], role.spans[last - 1][1], names[tag], round(float(probabilities[i, tag]), 6))
        for i, ((first, last), tag) in enumerate(zip(role.runs, numbers))
    )
