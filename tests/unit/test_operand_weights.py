"""What a trace says of pairs of numbers is what the model answered with."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from triattn_core.analysis.operand_weights import fitting_mask, pair_weights, strongest_pair
from triattn_core.checkpoint.bundle import load
from triattn_core.inference.explain import explain
from triattn_core.inference.number_batch import example_batch
from triattn_core.tasks.operands import operand_pairs
from triattn_core.tasks.operands.example import pairs


@pytest.mark.parametrize("name", ("gsm8k-tri", "gsm8k-strassen", "gsm8k-bi"))
def test_weights_of_pairs_are_the_models_own_cells(name):
    bundle = load(name)
    for example in operand_pairs.examples()[:3]:
        prediction, trace = explain(bundle, example)
        weights = pair_weights(trace)
        with torch.inference_mode():
            cells = bundle.model.cells(example_batch([example]))[0]
        np.testing.assert_allclose(weights, cells.numpy(), atol=1e-6)
        pair, share = strongest_pair(weights)
        assert pair == pairs(len(weights))[prediction.best]
        assert share == pytest.approx(max(prediction.probabilities), abs=1e-5)


def test_the_mask_has_both_orders_of_each_pair_that_makes_the_number():
    example = operand_pairs.examples()[1]
    assert np.argwhere(fitting_mask(example)).tolist() == [[2, 3], [3, 2]]
