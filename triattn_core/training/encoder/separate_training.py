"""Post-training of an encoder that reads each text separately: mean vectors of matching texts become similar.

The objective of sentence embeddings (Reimers and Gurevych 2019, "Sentence-BERT"; with the other rows of a batch as
negatives, Henderson et al. 2017, "Efficient natural language response suggestion"), for the living form of TAN.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import transformers
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, cross_entropy, normalize

from triattn_core.models import answers
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training.encoder.pair_batches import Group, Ids, collate_texts, count_and_labels, mean_vectors

SCALE = 20.0  # of a cosine, before the softmax over the batch


class ApartTraining(nn.Module):
    """A BERT that returns mean vectors of texts, and the score of a pair: `a cos(u, v) + b`."""

    def __init__(self, bert: transformers.BertForPreTraining):
        super().__init__()
        self.bert = bert
        for unused in filter(None, (bert.cls, bert.bert.pooler)):  # several processes need every gradient
            unused.requires_grad_(False)
        self.line = nn.Parameter(torch.tensor([10.0, -5.0]))

    def forward(self, *texts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Mean vectors of both texts of each row, and their score.

        texts: `ids, keep` of the distinct first texts, the same of the second, and for each the index of each row.
        """
        u, v = self.vectors(*texts[:2])[texts[4]], self.vectors(*texts[2:4])[texts[5]]
        return u, v, self.fits(u, v)

    def vectors(self, ids: Tensor, keep: Tensor) -> Tensor:
        """Mean vectors [texts, h] of texts [texts, n], including special tokens."""
        return mean_vectors(self.bert.bert, ids, keep)

    def fits(self, u: Tensor, v: Tensor) -> Tensor:
        """Score of how well the second text matches the first, [rows, 1]."""
        return (self.line[0] * cosine_similarity(u, v) + self.line[1])[:, None]


def loss(module: nn.Module, groups: Sequence[Group], tokenizer: Tokenizer, device: torch.device) -> Tensor:
    """Cross-entropy of the labels, plus that of each positive's second text among all second texts of the batch."""
    rows = [row for group in groups for row in group]
    distinct_sides = [distinct_texts(side) for side in _sides(rows)]
    texts = [tensor.to(device) for texts, _ in distinct_sides for tensor in collate_texts(texts, tokenizer)]
    u, v, fit = module(*texts, *(index.to(device) for _, index in distinct_sides))
    counts, labels = count_and_labels(groups)
    total = answers.loss(fit, counts, labels.to(device))
    positive = torch.tensor([i for i, row in enumerate(rows) if row.label == 1], device=device)
    if len(positive) < 2:
        return total
    similarities = SCALE * normalize(u[positive], dim=-1) @ normalize(v, dim=-1).mT
    return total + cross_entropy(similarities, positive)


def _sides(rows: Group) -> tuple[list[Ids], list[Ids]]:
    return [row.a for row in rows], [row.b for row in rows]


def distinct_texts(texts: list[Ids]) -> tuple[list[Ids], Tensor]:
    """The distinct texts (the options of an example share a passage), and the index of each row's text, [rows]."""
    distinct = list(dict.fromkeys(texts))
    index_of = {text: i for i, text in enumerate(distinct)}
    return distinct, torch.tensor([index_of[text] for text in texts])


@torch.inference_mode()
def accuracy(module: ApartTraining, groups: Sequence[Group], tokenizer: Tokenizer) -> float:
    """Share of examples that the cosine gets right: the label of a single row, or the right one of several."""
    rows = [row for group in groups for row in group]
    texts = list(dict.fromkeys(text for side in _sides(rows) for text in side))
    index_of, order = {text: i for i, text in enumerate(texts)}, np.argsort([len(text) for text in texts])
    device = module.bert.device
    vectors = torch.zeros(len(texts), module.bert.config.hidden_size)
    for start in range(0, len(order), 128):
        batch = order[start : start + 128]
        ids, keep = collate_texts([texts[i] for i in batch], tokenizer)
        vectors[batch] = module.vectors(ids.to(device), keep.to(device)).cpu()
    u, v = (vectors[[index_of[text] for text in side]].to(device) for side in _sides(rows))
    counts, labels = count_and_labels(groups)
    scores = answers.scores(module.fits(u, v), counts).cpu()
    return (scores.argmax(-1) == labels).double().mean().item()
