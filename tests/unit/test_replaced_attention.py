"""`replace`: the model's own output under other weights, fused or not, and nothing else changed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.architectures import sentence_of, small_model
from triattn_core.errors import ConfigError, InputError
from triattn_core.recording.replace import replace
from triattn_core.recording.tape import record


def output_of(model, *replacement, **options):
    """The output under a replacement, and the weights of each layer that a recorder inside it sees."""
    with torch.no_grad():
        if not replacement:
            return model(**sentence_of(model))[0]
        with replace(model, *replacement, **options):
            return model(**sentence_of(model))[0]


def own_weights(model, layer):
    with torch.no_grad(), record(model, layer) as tape:
        model(**sentence_of(model))
    return tape.attentions[0].arranged()


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("model_type", ["bert", "gpt2", "llama"])
def test_its_own_weights_change_nothing(model_type, implementation):
    model = small_model(model_type)
    model.set_attn_implementation(implementation)
    plain = output_of(model)
    torch.testing.assert_close(output_of(model, own_weights(model, 2), select=2), plain, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(output_of(model, "even", select=2), plain, atol=1e-2)


@pytest.mark.parametrize("weights", ["even", "shuffled", "off"])
def test_fused_and_eager_agree(weights):
    model = small_model("llama")
    fused = output_of(model, weights, select=[1, 3], heads=[0, 2])
    model.set_attn_implementation("eager")
    eager = output_of(model, weights, select=[1, 3], heads=[0, 2])
    torch.testing.assert_close(fused, eager, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(fused, output_of(model), atol=1e-2)


def test_replaced_rows_keep_their_mask_and_sum():
    from triattn_core.recording.replace import even_weights, shuffled_weights

    own = torch.rand(2, 3, 5, 7).masked_fill(torch.rand(2, 3, 5, 7) > 0.6, 0)
    own[0, 0, 0] = 0
    for other in (even_weights(own / own.sum(-1, keepdim=True).clamp_min(1e-9)), shuffled_weights(own, 0)):
        assert torch.equal(other > 0, own > 0)
    shuffled = shuffled_weights(own, 0)
    np.testing.assert_allclose(shuffled.sort(-1).values, own.sort(-1).values)
    assert not torch.equal(shuffled, own)


def test_wrong_weights_are_refused_in_a_line():
    model = small_model("gpt2")
    with pytest.raises(ConfigError, match="expected even, shuffled, off"):
        output_of(model, "uneven")
    with pytest.raises(InputError, match="weights of shape 2 × 2: this attention is 4 × 13 × 13"):
        output_of(model, torch.ones(2, 2))
