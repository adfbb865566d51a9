"""From model outputs to the answers of a task: a label for a pair, or one of an example's options."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence


def scores(outputs: Tensor, counts: Sequence[int]) -> Tensor:
    """Scores [examples, answers] before their softmax, -inf where an example has fewer answers than others.

    outputs: [rows, labels] with one row per example; or [rows, 1] with one row per option, `counts` options per
    example.  A single option is compared with a score of 0: whether it fits.  (Tri-Attention, section V-E:
    cross-entropy over the options of one question; for dialogue, over true and false response.)
    """
    if outputs.shape[1] > 1:
        return outputs
    rows = outputs[:, 0].split(list(counts))
    return pad_sequence([_against_nothing(row) for row in rows], batch_first=True, padding_value=-inf)


def probabilities(outputs: Tensor, counts: Sequence[int]) -> list[list[float]]:
    """The probabilities of each example's answers: one per option, two if there is a single option."""
    rows = scores(outputs, counts).softmax(-1).tolist()
    if outputs.shape[1] > 1:
        return rows
    return [row[: max(2, count)] for row, count in zip(rows, counts)]


def of_example(outputs: Sequence[Tensor]) -> list[float]:
    """The probabilities of one example's answers, from the outputs of its rows: one, or one per option."""
    (row,) = probabilities(torch.stack(list(outputs)), [len(outputs)])
    return row


def loss(
    outputs: Tensor, counts: Sequence[int], labels: Tensor, reduction: str = "mean", weight: Tensor | None = None
) -> Tensor:
    """Cross-entropy of the labels [examples]; `weight`: of each label, if they are not equal."""
    return cross_entropy(scores(outputs, counts), labels, weight, reduction=reduction)


def _against_nothing(row: Tensor) -> Tensor:
    return torch.cat([row.new_zeros(1), row]) if len(row) == 1 else row
