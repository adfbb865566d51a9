"""From outputs to probabilities and loss, against the definitions written out example by example."""

from __future__ import annotations

from math import exp, log

import pytest
import torch

from triattn_core.models.answers import loss, probabilities, scores

OUTPUTS = torch.tensor([[0.3], [-1.2], [2.0], [0.7], [-0.4], [1.1]], dtype=torch.float64)
COUNTS = [3, 1, 2]


def softmax(values: list[float]) -> list[float]:
    total = sum(exp(value) for value in values)
    return [exp(value) / total for value in values]


EXPECTED = [softmax([0.3, -1.2, 2.0]), softmax([0.0, 0.7]), softmax([-0.4, 1.1])]


def test_a_choice_is_a_softmax_over_the_options_of_its_example():
    for actual, expected in zip(probabilities(OUTPUTS, COUNTS), EXPECTED, strict=True):
        assert actual == pytest.approx(expected)


def test_a_label_is_a_softmax_over_labels():
    outputs = torch.tensor([[0.5, -0.5], [2.0, 3.0]], dtype=torch.float64)
    assert probabilities(outputs, [1, 1]) == [pytest.approx(softmax(row)) for row in outputs.tolist()]
    assert torch.equal(scores(outputs, [1, 1]), outputs)


def test_loss_is_the_mean_of_what_the_right_answers_miss():
    labels = torch.tensor([2, 1, 0])
    expected = [-log(one[label]) for one, label in zip(EXPECTED, labels)]
    assert loss(OUTPUTS, COUNTS, labels).item() == pytest.approx(sum(expected) / 3)
    assert loss(OUTPUTS, COUNTS, labels, reduction="sum").item() == pytest.approx(sum(expected))


def test_options_that_are_not_there_do_not_learn():
    outputs = OUTPUTS.clone().requires_grad_()
    loss(outputs, COUNTS, torch.tensor([2, 1, 0])).backward()
    assert outputs.grad.isfinite().all() and (outputs.grad != 0).all()
    flat = [one - (i == label) for row, label in zip(EXPECTED, (2, 1, 0)) for i, one in enumerate(row)]
    del flat[3]  # the score of 0 that a single option stands against
    torch.testing.assert_close(outputs.grad[:, 0], torch.tensor(flat, dtype=torch.float64) / 3)
