"""Tensorized self-attention against its equations: the tensor, and the output that never builds it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.oracles import tensorized as oracle
from triattn_core.attention import tensorized
from triattn_core.attention.masks import mask
from triattn_core.errors import ConfigError

B, H, N, D = 2, 3, 7, 5
MASKS = ["forward", "backward", "none", "distance", "window:2"]
PADDING = {"none": [7, 7], "after": [4, 7], "before": [-5, 7], "all": [0, 3]}


def keeps(name: str) -> torch.Tensor:
    """[B, N]: so many real tokens at the beginning, or, negative, at the end."""
    keep = torch.zeros(B, N, dtype=torch.bool)
    for row, count in enumerate(PADDING[name]):
        keep[row, N + count if count < 0 else 0 : N if count < 0 else count] = True
    return keep


def given(dtype=torch.float64, seed: int = 1) -> list[torch.Tensor]:
    """q, k, v, S, each [B, H, N, D]."""
    draw = torch.Generator().manual_seed(seed)
    return [2 * torch.randn(B, H, N, D, dtype=dtype, generator=draw) for _ in range(4)]


def attend(q, k, v, S, M, keep, *how) -> torch.Tensor:
    """`tensorized.attend` with one mask for all heads and the examples first."""
    heads_first = (part.transpose(0, 1) for part in (q, k, v, S))
    return tensorized.attend(*heads_first, M.expand(len(q[0]), *M.shape), keep, *how).transpose(0, 1)


def expected(q, k, v, S, M, keep, scale_t, scale_s) -> np.ndarray:
    """s [B, H, N, D] of the oracle."""
    output = np.zeros(v.shape)
    for b in range(len(q)):
        for h in range(q.shape[1]):
            arrays = [part[b, h].double().numpy() for part in (q, k, v, S)]
            P = oracle.weights(
                oracle.token2token(arrays[0], arrays[1]), arrays[3], M, keep[b].numpy(), scale_t, scale_s
            )
            output[b, h] = oracle.attended(P, arrays[2], keep[b].numpy())
    return output


@pytest.mark.parametrize("self_too", [False, True])
@pytest.mark.parametrize("name", MASKS)
def test_masks_are_those_of_the_paper(name, self_too):
    np.testing.assert_array_equal(mask(name, N, self_too), oracle.mask(name, N, self_too))


@pytest.mark.parametrize("name", ["foward", "window", "window:", "window:-1", "window:x", ""])
def test_an_unknown_mask_is_named(name):
    with pytest.raises(ConfigError, match="unknown mask"):
        mask(name, N)


@pytest.mark.parametrize("reach", [0, 1_000_001, 9**30])
def test_a_window_that_no_text_has_is_refused(reach):
    with pytest.raises(ConfigError, match="a window reaches 1 to 1,000,000 tokens to either side"):
        mask(f"window:{reach}", N)


@pytest.mark.parametrize("scale", ["log_sigmoid", "identity"])
def test_half_precision_is_near(scale):
    """float16 too, whose least number is far from float32's; padding at the end."""
    torch.manual_seed(4)
    q, k, v, S = torch.randn(4, 2, 1, N, 3).unbind(0)
    M, keep = torch.stack([mask("forward", N), mask("none", N)]), (torch.arange(N) < N - 1)[None]
    whole = tensorized.attend(q, k, v, S, M, keep, scale, "identity")
    half = tensorized.attend(q.half(), k.half(), v.half(), S.half(), M.half(), keep, scale, "identity")
    torch.testing.assert_close(half.float()[:, :, : N - 1], whole[:, :, : N - 1], atol=0.02, rtol=0.02)


@pytest.mark.parametrize("scale_s", tensorized.SCALES)
@pytest.mark.parametrize("scale_t", tensorized.SCALES)
@pytest.mark.parametrize("padding", PADDING)
@pytest.mark.parametrize("name", MASKS)
def test_output_is_that_of_the_equations(name, padding, scale_t, scale_s):
    keep, M, parts = keeps(padding), mask(name, N), given()
    output = attend(*parts, M.double(), keep, scale_t, scale_s)
    wanted = expected(*parts, M.double().numpy(), keep, scale_t, scale_s)
    np.testing.assert_allclose(output, wanted, atol=1e-12)
    single = attend(*(part.float() for part in parts), M, keep, scale_t, scale_s)
    np.testing.assert_allclose(single, wanted, atol=3e-6)


@pytest.mark.parametrize("scale_t", tensorized.SCALES)
@pytest.mark.parametrize("padding", PADDING)
@pytest.mark.parametrize("name", MASKS)
def test_blocks_of_queries_give_the_same_output(name, padding, scale_t, monkeypatch):
    """Blocks of two queries and one; heads of other masks in between."""
    monkeypatch.setattr(tensorized, "LEAST_ROWS", 2)
    keep, (q, k, v, S) = keeps(padding), given()
    M = torch.stack([mask(one, N).double() for one in (name, "backward", name)])
    heads_first = (part.transpose(0, 1) for part in (q, k, v, S))
    output = tensorized.attend(*heads_first, M, keep, scale_t, "identity").transpose(0, 1)
    for h in range(H):
        parts = [part[:, h : h + 1] for part in (q, k, v, S)]
        wanted = expected(*parts, M[h].numpy(), keep, scale_t, "identity")
        np.testing.assert_allclose(output[:, h : h + 1], wanted, atol=1e-12)


@pytest.mark.parametrize("scale_s", tensorized.SCALES)
@pytest.mark.parametrize("scale_t", tensorized.SCALES)
@pytest.mark.parametrize("name", MASKS)
def test_the_tensor_is_that_of_the_equations(name, scale_t, scale_s):
    keep, M = keeps("before"), mask(name, N)
    q, k, _, S = given()
    R = q @ k.mT / D**0.5
    weights = tensorized.tensor(R, S, M.double(), keep[:, None], scale_t, scale_s)
    for b in range(B):
        for h in range(H):
            wanted = oracle.weights(
                R[b, h].numpy(), S[b, h].numpy(), M.double().numpy(), keep[b].numpy(), scale_t, scale_s
            )
            np.testing.assert_allclose(weights[b, h], wanted, atol=1e-12)
    sums = weights.sum(-2)
    assert ((sums - 1).abs().lt(1e-9) | sums.eq(0)).all()


@pytest.mark.parametrize("scale_t", tensorized.SCALES)
@pytest.mark.parametrize("bad", [torch.inf, -torch.inf, torch.nan, 1e38])
def test_what_stands_at_padding_takes_no_part(bad, scale_t):
    keep, M = keeps("after"), mask("none", N).double()
    results = []
    for value in (0.5, bad):
        parts = [part.masked_fill(~keep[:, None, :, None], value) for part in given()]
        q, (_, k, v, S) = given()[0], (part.requires_grad_() for part in parts)
        P = tensorized.tensor(q @ k.mT / D**0.5, S, M, keep[:, None], scale_t, "identity")
        output = attend(q, k, v, S, M, keep, scale_t, "identity")
        real = keep[:, None, :, None]
        (output.where(real, 0.0).sum() + P.where(real[..., None], 0.0).square().sum()).backward()
        results.append([P.where(real[..., None], 0.0), output.where(real, 0.0), S.grad])
    for padded, wanted in zip(*reversed(results)):
        torch.testing.assert_close(padded, wanted, atol=1e-12, rtol=0)


@pytest.mark.parametrize("scale_t", tensorized.SCALES)
@pytest.mark.parametrize("name", MASKS)
def test_gradients_are_those_of_the_tensor(name, scale_t):
    """Of all that is learned; nothing flows where there is nothing to attend to."""
    keep, M = keeps("after"), mask(name, N).double()
    gradients = []
    for explicit in (False, True):
        parts = [part.requires_grad_() for part in given()]
        q, k, v, S = parts
        if explicit:
            P = tensorized.tensor(q @ k.mT / D**0.5, S, M, keep[:, None], scale_t, "identity")
            out = torch.einsum("bhjil,bhil->bhjl", P, v) * keep[:, None, :, None]
        else:
            out = attend(*parts, M, keep, scale_t, "identity")
        (out * torch.linspace(-1, 2, out.numel(), dtype=out.dtype).view_as(out)).sum().backward()
        gradients.append([part.grad for part in parts])
    for actual, wanted in zip(*gradients):
        torch.testing.assert_close(actual, wanted, atol=1e-10, rtol=1e-9)


@pytest.mark.parametrize("scale_t", tensorized.SCALES)
@pytest.mark.parametrize("name", ["forward", "backward", "window:1"])
@pytest.mark.parametrize("place", [0, N - 1])
def test_a_score_out_of_sight_does_not_drown_the_others(name, place, scale_t):
    """One source2token score of 120 where a masked row does not see it: every E that the row sees underflows."""
    keep, M, parts = keeps("none"), mask(name, N), given(torch.float32)
    parts[3][:, :, place] = 120.0
    parts = [part.requires_grad_() for part in parts]
    output = attend(*parts, M, keep, scale_t, "identity")
    wanted = expected(*(part.detach() for part in parts), M.double().numpy(), keep, scale_t, "identity")
    np.testing.assert_allclose(output.detach(), wanted, atol=1e-5)
    output.sum().backward()
    assert all(part.grad.isfinite().all() for part in parts)
    assert output.detach().abs().sum(-1).gt(0).sum() >= B * H * (N - 1)  # all but the one that sees nothing


@pytest.mark.parametrize("scale_t", tensorized.SCALES)
@pytest.mark.parametrize("name", ["forward", "backward", "none"])
def test_pairs_with_hardly_any_score_still_share_out_one(name, scale_t):
    """R near -140, where sigmoid and exp are nothing in float32."""
    keep, M = keeps("before"), mask(name, N)
    q, k, v, S = given(torch.float32)
    q, k = q.abs() + 10, -k.abs() - 6.26
    output = attend(q, k, v, S, M, keep, scale_t, "identity")
    assert (q @ k.mT / D**0.5).mean() < -140
    np.testing.assert_allclose(output, expected(q, k, v, S, M.double().numpy(), keep, scale_t, "identity"), atol=2e-4)


@pytest.mark.parametrize("scale_t", tensorized.SCALES)
@pytest.mark.parametrize("score", [3e38, torch.inf])
def test_a_masked_score_cannot_matter_however_large(score, scale_t):
    """Of a pair that the mask closes: added to it the mask would not."""
    keep, M, results = keeps("none"), mask("forward", N), []
    q, k, v, S = given(torch.float32)
    q[..., 0], k[..., -1, :] = 2.5, 0.0
    for k[..., -1, 0] in (0.0, score):  # the last key, which no query may see
        R = q @ k.mT / D**0.5
        P = tensorized.tensor(R, S, M, keep[:, None], scale_t, "identity")
        results.append((attend(q, k, v, S, M, keep, scale_t, "identity"), P))
    for plain, loud in zip(*results):
        torch.testing.assert_close(loud, plain)


def test_one_token_has_nothing_to_attend_to():
    parts = [part[:, :, :1].requires_grad_() for part in given()]
    keep = torch.ones(B, 1, dtype=torch.bool)
    for name in ("forward", "backward", "window:3", "distance"):
        output = attend(*parts, mask(name, 1), keep, "log_sigmoid", "identity")
        assert not output.any()
    alone = attend(*parts, mask("none", 1), keep, "log_sigmoid", "identity")
    torch.testing.assert_close(alone, parts[2])


def test_what_is_dropped_is_the_dividend_alone():
    """On average the output is the same; where all is kept it is the same."""
    keep, M, parts = keeps("none"), mask("none", N).double(), given()
    whole = attend(*parts, M, keep, "log_sigmoid", "identity")
    torch.manual_seed(1)
    many = torch.stack([attend(*parts, M, keep, "log_sigmoid", "identity", 0.2) for _ in range(3000)])
    assert not torch.allclose(many[0], whole)
    spread = many.std(0) / 3000**0.5
    assert ((many.mean(0) - whole).abs() < 6 * spread).all()


def test_each_of_the_two_factors_is_dropped_by_itself():
    """Of one token, with half of either: of a pair for all features at once, of a value for each feature."""
    q, k, v, S = (part[:1, :1, :1].expand(4000, -1, -1, -1) for part in given())
    torch.manual_seed(1)
    output = attend(q, k, v, S, mask("none", 1).double(), torch.ones(4000, 1).bool(), "log_sigmoid", "identity", 0.5)
    times = (output / v).view(4000, D)
    assert torch.minimum(times.abs(), (times - 4).abs()).max() < 1e-9  # each is doubled where it is kept
    nothing = (times < 1).all(-1).double().mean()
    assert abs(nothing - (0.5 + 0.5 * 0.5**D)) < 0.05
    assert abs(times.mean() - 1) < 0.1


@pytest.mark.parametrize("scale_t", tensorized.SCALES)
@pytest.mark.parametrize(("name", "place"), [("forward", N - 1), ("backward", 0)])
def test_scores_at_the_edge_of_float32_are_as_exact_as_others(name, place, scale_t):
    """Every other feature between what is nothing in float32 and what loses nothing there: values, and large slopes."""
    keep, M = keeps("none"), mask(name, N)
    for score in range(64, 110, 3):
        parts = given(torch.float32)
        parts[3][:, :, place, ::2] = score
        slopes = []
        for dtype in (torch.float64, torch.float32):
            them = [part.clone().to(dtype).requires_grad_() for part in parts]
            output = attend(*them, M.to(dtype), keep, scale_t, "identity")
            slopes.append(torch.autograd.grad((1e5 * output).sum(), them))
        wanted = expected(*parts, M.double().numpy(), keep, scale_t, "identity")
        np.testing.assert_allclose(output.detach(), wanted, atol=1e-5, err_msg=f"score {score}")
        for exact, single in zip(*slopes):
            np.testing.assert_allclose(single, exact, atol=1, rtol=1e-4, err_msg=f"score {score}")
