"""What calls of torch do that a recorder could miss: masks without numbers, sums handed out, operations that fuse."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention.bias import causal_lower_right, causal_upper_left
from torch.nn.attention.flex_attention import AuxRequest, flex_attention

from triattn_core import record
from triattn_core.trace.from_array import notes_of


class Biased(nn.Module):
    def __init__(self, bias, shared: bool):
        super().__init__()
        self.bias, self.shared = bias, shared

    def forward(self, states, others):
        query, key = (x.unflatten(-1, (4, 3)).transpose(1, 2) for x in (states, others))
        key = key[:, :2] if self.shared else key
        mask = self.bias(query.shape[2], key.shape[2])
        return functional.scaled_dot_product_attention(query, key, key, mask, enable_gqa=self.shared)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("n", "m"), [(3, 5), (7, 7)])
@pytest.mark.parametrize(("bias", "lower"), [(causal_lower_right, True), (causal_upper_left, False)])
def test_a_causal_bias_hides_what_lies_after_a_token(bias, lower, n, m, shared):
    torch.manual_seed(0)
    model, given = Biased(bias, shared), (torch.randn(1, n, 12), torch.randn(1, m, 12))
    with torch.no_grad(), record(model) as tape:
        model(*given)
    [array] = tape.trace().sites.values()
    query, key = (x[0].unflatten(-1, (4, 3)).transpose(0, 1) for x in given)
    key = key[:2].repeat_interleave(2, 0) if shared else key
    hidden = torch.ones(n, m, dtype=torch.bool).triu(1 + (m - n) * lower)
    expected = (query @ key.mT / 3**0.5).masked_fill(hidden, -torch.inf).softmax(-1)
    np.testing.assert_allclose(array, expected, atol=1e-6)
    assert tape.error < 1e-5


class Rescaled(nn.Module):
    """Flex attention with a sink of score 1, as its log-sum-exp allows."""

    def __init__(self, way: str):
        super().__init__()
        self.way = way

    def forward(self, states):
        query = states.unflatten(-1, (4, 3)).transpose(1, 2)
        if self.way == "plain":
            return flex_attention(query, query, query)
        if self.way == "return_lse":
            made, total = flex_attention(query, query, query, return_lse=True)
        else:
            made, total = flex_attention(query, query, query, return_aux=AuxRequest(lse=True))
            total = total.lse
        return made * (total - torch.logaddexp(total, torch.ones(()))).exp()[..., None]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ["plain", "return_lse", "return_aux"])
def test_rows_that_may_be_rescaled_by_their_sum_are_said(way):
    with torch.no_grad(), record(model := Rescaled(way)) as tape:
        model(torch.randn(1, 7, 12))
    assert ("shares within the call" in notes_of(tape.trace())[0]) == (way != "plain")


def encoder_layer(*mask: float):
    torch.manual_seed(0)
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    return model, (torch.randn(1, 5, 8),), {"src_key_padding_mask": torch.tensor([mask])}


def one_head_hidden():
    torch.manual_seed(0)
    states, mask = torch.randn(1, 5, 8), torch.tensor([False, True]).view(2, 1, 1).expand(2, 5, 5)
    model = nn.MultiheadAttention(8, 2, batch_first=True).eval()
    return model, (states, states, states), {"attn_mask": mask, "need_weights": False}


APART = {  # what torch fuses into something else than the sum of the parts
    "an added mask, which the fused operation reads as booleans": lambda: encoder_layer(0.0, 1.0, 0.0, 2.0, -1.0),
    "the same with nothing left": lambda: encoder_layer(-0.5, -1.0, -2.0, -0.1, -3.0),
    "a head that sees nothing": one_head_hidden,
}


@pytest.mark.parametrize("case", APART)
def test_what_torch_fuses_into_something_else_is_not_proved(case):
    model, args, kwargs = APART[case]()
    with torch.no_grad():
        plain = model(*args, **kwargs)
        with record(model) as tape:
            made = model(*args, **kwargs)
    trace = tape.trace()
    for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (plain, made))):
        assert one is other is None or torch.equal(one.nan_to_num(7.0), other.nan_to_num(7.0))
    assert tape.error > 0.1 and trace.meta["rebuilt"] > 0.1
    assert all(array.attrs["rebuilt"] > 0.1 for array in trace.sites.values())
    assert notes_of(trace)[0].startswith("Not proved") and "not the weights of the output" in "".join(notes_of(trace))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested")
def test_padding_for_which_torch_writes_zeros_is_no_difference():
    torch.manual_seed(0)
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2).eval()
    padded = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    with torch.no_grad(), record(model) as tape:
        assert not model(torch.randn(2, 5, 8), src_key_padding_mask=padded)[1, 3:].any()
    assert 0 < tape.stack.fused_error < 1e-5 and tape.stack.apart == 0
