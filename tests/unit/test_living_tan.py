"""The living form of TAN against its oracle, and its controls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import nn

from tests.oracles import living as oracle
from tests.oracles.tan import Sequence, attend, below, gelu, linear
from triattn_core.attention import fixed_weights
from triattn_core.attention.cbi import OwnContext
from triattn_core.attention.states import States
from triattn_core.configs.tan import TanConfig
from triattn_core.models.encoder import Encoded
from triattn_core.models.tan import Tan

HIDDEN, WIDTH, HEADS, N, I, J, ROWS = 15, 14, 2, 3, 5, 11, 4


LIVING = {
    "layers": 1, "width": WIDTH, "token_comparison": "mlp", "pooling": "mean_max", "pooled": False,
    "context": "apart", "states": (2, 2), "attend_special": False,
}  # fmt: skip


def encoded(seed: int = 0) -> Encoded:
    """A batch whose rows are: whole; padded; without a context; without a real query token."""
    draw = torch.Generator().manual_seed(seed)
    vectors = [torch.randn(ROWS, size, HIDDEN, generator=draw, dtype=torch.float64) for size in (N, I, J)]
    keep = [torch.ones(ROWS, size, dtype=torch.bool) for size in (N, I, J)]
    keep[0][1, 2:] = keep[1][1, 3:] = keep[2][1, 7:] = keep[2][2] = keep[0][3] = False
    return Encoded(*map(States, vectors, keep), pooled=None)


def network(**config) -> Tan:
    torch.manual_seed(1)
    tan = Tan(TanConfig(**{**LIVING, "heads": HEADS, **config}), HIDDEN).double().eval()
    for weight in tan.parameters():
        nn.init.normal_(weight, std=0.5)
    return tan


# --- the network ---


def expected(tan: Tan, given: Encoded, row: int, mechanism: str) -> torch.Tensor:
    W = {name: tensor.numpy() for name, tensor in tan.state_dict().items()}
    a, b, context = (
        Sequence(one.vectors[row].numpy(), one.keep[row].numpy()) for one in (given.query, given.key, given.context)
    )
    a, b = (Sequence(linear(one.vectors, below(W, "narrow.")), one.keep) for one in (a, b))
    if mechanism != "bi":
        context = Sequence(linear(context.vectors, below(W, "narrow_context.")), context.keep)
    if mechanism == "cbi":
        A, B = W["own.A.weight"], W["own.B.weight"]
        a, b = (Sequence(one.vectors, one.keep, oracle.own_context(one.vectors, context, A, B)) for one in (a, b))
    here = below(W, "layers.0.")
    pooled = []
    for query, key in ((a, b), (b, a)):
        around = context if mechanism != "tri" or context.keep.any() else Sequence(context.vectors, context.keep)
        output = attend(query, key, around, below(here, "attention."), mechanism, HEADS)
        pooled.append(
            oracle.pooled(Sequence(oracle.compare(query.vectors, output, below(here, "comparison."), 1), query.keep))
        )
    joined = np.concatenate(pooled)
    inner = gelu(linear(joined[None], below(W, "predict.0.")))
    return torch.tensor(linear(inner, below(W, "predict.3."))[0])


@pytest.mark.parametrize("mechanism", ["bi", "cbi", "tri"])
def test_logits(mechanism):
    tan, given = network(mechanism=mechanism), encoded()
    with torch.no_grad():
        logits = tan(given)
    for row in range(ROWS):
        torch.testing.assert_close(logits[row], expected(tan, given, row, mechanism), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mechanism", ["bi", "bi_joint", "cbi", "tri"])
@pytest.mark.parametrize("value", [None, "value_and_product"])
def test_padding_does_not_matter(mechanism, value):
    tan, given = network(mechanism=mechanism, similarity="dot", value=value), encoded()
    changed = Encoded(
        *(
            replace(states, vectors=torch.where(states.keep[..., None], states.vectors, 9.0))
            for states in (given.query, given.key, given.context)
        ),
        pooled=None,
    )
    torch.testing.assert_close(tan(given), tan(changed))


@pytest.mark.parametrize("mechanism", ["bi", "bi_joint", "cbi", "tri"])
def test_nothing_goes_round_the_attention(mechanism):
    """Where a sentence can attend to nothing, what stands in the other does not reach its half of the answer."""
    tan, given = network(mechanism=mechanism, similarity="dot"), encoded()
    blind = Encoded(given.query, replace(given.key, keep=given.key.keep & False), given.context, None)
    if mechanism in ("bi_joint", "cbi"):  # these read the context, too
        blind = replace(blind, context=replace(given.context, keep=given.context.keep & False))
    other = replace(blind, key=replace(blind.key, vectors=blind.key.vectors + 1))
    torch.testing.assert_close(tan(blind), tan(other))


def test_own_context():
    module, given = OwnContext(HIDDEN).double(), encoded()
    output = module(given.query.vectors, given.context)
    for row in range(ROWS):
        around = Sequence(given.context.vectors[row].numpy(), given.context.keep[row].numpy())
        slow = oracle.own_context(
            given.query.vectors[row].numpy(), around, module.A.weight.detach().numpy(), module.B.weight.detach().numpy()
        )
        torch.testing.assert_close(output[row], torch.tensor(slow))


def test_settings_that_do_not_fit_are_refused():
    for wrong, message in (
        ({"pooled": True}, "pooled"),
        ({"states": None}, "states"),
        ({"context": "joint", "states": None}, "attend_special"),
        ({"token_comparison": "none", "value": "value_and_product"}, "token_comparison"),
        ({"states": (0, 2)}, "count from 1"),
    ):
        with pytest.raises(ValidationError, match=message):
            TanConfig(mechanism="tri", **{**LIVING, **wrong})
    with pytest.raises(ValidationError, match="bi_joint"):
        TanConfig(mechanism="bi_joint")


def test_a_published_config_is_written_as_it_was():
    """Records tell configs apart by a digest of what is written."""
    published = TanConfig(mechanism="tri").model_dump()
    assert "weights" not in published and "context" not in published and published["layers"] == 2
    living = TanConfig(mechanism="tri", **LIVING).model_dump(mode="json")
    assert living["context"] == "apart" and TanConfig.model_validate(living).states == (2, 2)


# --- the controls ---


def test_fixed_weights():
    draw = torch.Generator().manual_seed(3)
    keeps = {name: torch.ones(3, size, dtype=torch.bool) for name, size in (("query", N), ("key", I), ("context", J))}
    keeps["query"][1, 2:] = keeps["key"][1, 3:] = keeps["context"][1, 7:] = keeps["key"][2] = False
    for ndim in (4, 5):
        shape = (3, HEADS, N, I, J)[:ndim]
        weights = torch.rand(shape, generator=draw, dtype=torch.float64)
        for name, function in fixed_weights.FIXED.items():
            output = function(weights, keeps)
            for row in range(3):
                for head in range(HEADS):
                    real = [one[row].numpy() for one in (keeps["query"], keeps["key"], keeps["context"])]
                    slow = oracle.replaced(name, weights[row, head].numpy(), *real[:2], real[2] if ndim == 5 else None)
                    torch.testing.assert_close(output[row, head], torch.tensor(slow), msg=f"{name}, {ndim}, {row}")


def test_permuted_keys_move_whole_slices_alike_for_all_queries():
    keeps = {"key": torch.tensor([[True] * 5, [True, False, True, True, False]])}
    weights = torch.rand(2, HEADS, N, 5, J)
    weights = weights * keeps["key"][:, None, None, :, None]
    output = fixed_weights.permuted_keys(weights, keeps, torch.Generator().manual_seed(1))
    moved = 0
    for row in range(2):
        real = keeps["key"][row].nonzero()[:, 0].tolist()
        for head in range(HEADS):
            source = [
                next(j for j in real if torch.equal(output[row, head, :, i], weights[row, head, :, j])) for i in real
            ]
            assert sorted(source) == real
            moved += source != real
    assert moved and torch.count_nonzero(output[1, :, :, [1, 4]]) == 0


def test_a_control_attends_evenly():
    own, even = network(mechanism="tri", similarity="dot"), network(mechanism="tri", similarity="dot", weights="even")
    even.load_state_dict(own.state_dict())
    given = encoded()
    assert not torch.allclose(own(given), even(given))
    keys = [name for name, _ in even.named_parameters() if "attention.query" in name]
    even(given).sum().backward()
    assert keys and all(even.get_parameter(name).grad is None for name in keys)
