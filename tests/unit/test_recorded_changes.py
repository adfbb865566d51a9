"""Weights that are changed while a model runs: inside `torch.vmap`, and where weights meet values without a product."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from triattn_core.recording.ablate import ablate_heads
from triattn_core.recording.replace import replace
from triattn_core.recording.tape import record


class Attends(nn.Module):
    def __init__(self, attend):
        super().__init__()
        self.attend = attend

    def forward(self, states):
        return self.attend(states)


def weights_of(states):
    return (states @ states.mT).softmax(-1)


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "written out"])
@pytest.mark.parametrize(
    "weights", ["even", "shuffled", "off", torch.arange(49.0).view(7, 7)], ids=lambda own: str(own)[:5]
)
def test_weights_are_replaced_inside_vmap_as_one_example_after_another(weights, fused):
    model = Attends((lambda x: scaled_dot_product_attention(x, x, x)) if fused else lambda x: weights_of(x) @ x)
    states = torch.randn(3, 1, 2, 7, 4)
    with replace(model, weights):
        torch.testing.assert_close(torch.vmap(model)(states), torch.stack([model(one) for one in states]))


# States [row, head, token, feature].
SUMS = {
    "over keys": lambda x: (weights_of(x).unsqueeze(-1) * x.unsqueeze(-3)).sum(-2),
    "values first": lambda x: torch.sum(x[:, :, None] * weights_of(x)[..., None], dim=3),
    "expanded": lambda x: (weights_of(x)[..., None].expand(-1, -1, -1, -1, 4) * x[:, :, None]).sum(-2),
    "heads last": lambda x: (weights_of(x).permute(0, 2, 3, 1)[..., None] * x.transpose(1, 2)[:, None]).sum(2),
    "features before keys": lambda x: (weights_of(x).unsqueeze(-2) * x.mT.unsqueeze(-3)).sum(-1),
}


@pytest.mark.parametrize("attend", SUMS.values(), ids=SUMS)
@pytest.mark.parametrize("way", ["ablated", "replaced"])
def test_a_head_that_is_switched_off_before_a_sum_adds_nothing(attend, way):
    torch.manual_seed(0)
    model, states = Attends(attend), torch.randn(1, 3, 7, 4).expand(3, -1, -1, -1)
    heads = 2 if model(states).shape[1] == 7 else 1  # the axis of heads of the output
    expected = model(states).clone()
    for row in range(3):
        expected[row].select(heads - 1, row).zero_()
    if way == "ablated":
        with record(model) as tape:
            model(states[:1])
        [place] = tape.places().values()
        with ablate_heads(model, [(place, head) for head in range(3)]):
            made = model(states)
    else:
        made = torch.cat([_without(model, states[:1], head) for head in range(3)])
    torch.testing.assert_close(made, expected)


def _without(model, states, head):
    with replace(model, "off", heads=[head]):
        return model(states)
