"""The blocks of context fusion beside MTSA and DiSA, and the sentence model around one, against loops in float64."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from tests.oracles import fusions as oracle
from triattn_core.attention.states import States
from triattn_core.configs.sentence import SentenceConfig
from triattn_core.models.fusion import FUSIONS
from triattn_core.models.sentence import SentenceModel

N, WIDTH, OUT = 7, 3, 10
KEEP = torch.tensor([[1, 1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1]]).bool()
BLOCKS = {
    "bi_lstm": (oracle.bi_lstm, {}),
    "bi_gru": (oracle.bi_gru, {}),
    "multi_cnn": (oracle.multi_cnn, {}),
    "hierarchical_cnn": (oracle.hierarchical_cnn, {}),
    "bi_blosa": (partial(oracle.bi_blosa, r=3, act="elu"), {"block": 3, "activation": "elu"}),
}


def drawn(module: nn.Module) -> nn.Module:
    """In float64, all numbers drawn, biases too."""
    draw = torch.Generator().manual_seed(3)
    for parameter in module.double().parameters():
        parameter.data = torch.randn(parameter.shape, dtype=torch.float64, generator=draw) / 2
    return module.eval()


def states(seed: int) -> torch.Tensor:
    """Numbers where padding is too."""
    return torch.randn(3, N, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def numbers(module: nn.Module) -> dict[str, np.ndarray]:
    return {name: parameter.detach().numpy() for name, parameter in module.named_parameters()}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_is_that_of_its_paper(name):
    by_hand, settings = BLOCKS[name]
    module, x = drawn(FUSIONS[name](WIDTH, SentenceConfig(mechanism=name, out=OUT, **settings))), states(2)
    output, W = module(x, KEEP).detach(), numbers(module)
    for b, keep in enumerate(KEEP):
        np.testing.assert_allclose(output[b, keep], by_hand(x[b, keep].numpy(), W), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("act", oracle.ACTIVATIONS)
@pytest.mark.parametrize("texts", [("text",), ("premise", "hypothesis")], ids=len)
@pytest.mark.parametrize("layers", [1, 3])
def test_a_sentence_model_is_that_of_the_paper(layers, texts, act):
    settings = {"mechanism": "multi_cnn", "width": 4, "out": OUT, "hidden": 5, "layers": layers, "activation": act}
    module = drawn(SentenceModel(SentenceConfig(**settings), WIDTH, 2, texts))
    given = [States(states(seed), KEEP.roll(seed, 0)) for seed in range(len(texts))]
    output, W = module(given).detach(), numbers(module)
    for b in range(3):
        rows = [one.vectors[b, one.keep[b]].numpy() for one in given]
        wanted = oracle.logits(rows, W, oracle.multi_cnn, layers, act)
        np.testing.assert_allclose(output[b], wanted, rtol=1e-9, atol=1e-11)
