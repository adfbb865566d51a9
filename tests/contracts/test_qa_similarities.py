"""Promises that every similarity of the QA study keeps, alone and in the attention of a reader: walks the table."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from tests.oracles import questions as oracle
from triattn_core.attention.qa import OUTPUTS, QaAttention
from triattn_core.attention.qa_similarity import QA_SIMILARITIES
from triattn_core.attention.states import States
from triattn_core.attention.tap import recording
from triattn_core.inference.span_decoding import PASSAGE, QUESTION
from triattn_core.trace.axes import AXES, QUANTITIES

B, M, N, D = 3, 7, 5, 11
LENGTHS = (7, 5), (4, 2), (1, 1)  # words of passage and question
UNLEARNT = {"w_p", "trilinear.w_p"}  # of the attention: `w_p·h` is one number for all question words
pytestmark = pytest.mark.parametrize("name", QA_SIMILARITIES)


def build(name: str, seed: int = 1, dtype: torch.dtype = torch.float64) -> torch.nn.Module:
    torch.manual_seed(seed)
    module = QA_SIMILARITIES[name](D).to(dtype)
    for parameter in module.parameters():
        if parameter.ndim == 1:
            torch.nn.init.normal_(parameter)
    return module


def pair(dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(2)
    return tuple(torch.randn(B, size, D, generator=draw, dtype=torch.float64).to(dtype) for size in (M, N))


def batch(H: torch.Tensor, U: torch.Tensor) -> tuple[States, States]:
    """Passages and questions of different lengths."""
    keeps = [
        torch.arange(size) < torch.tensor([[length[side]] for length in LENGTHS]) for side, size in ((0, M), (1, N))
    ]
    return States(H, keeps[0]), States(U, keeps[1])


@torch.no_grad()
def test_values(name):
    module, (H, U) = build(name), pair()
    weights = [parameter.numpy() for parameter in module.parameters()]
    if name == "t_trilinear":
        weights = [
            parameter.detach().numpy() for part in (module.first, module.second) for parameter in part.parameters()
        ]
        weights += [getattr(module.trilinear, one).numpy() for one in ("w_p", "w_q", "w_pq")]
    phi = getattr(oracle, name)
    expected = [oracle.matrix(lambda h, u: phi(h, u, *weights), *one) for one in zip(H.numpy(), U.numpy())]
    scores = module(H, U)
    torch.testing.assert_close(scores, torch.tensor(np.array(expected)))
    single = build(name, dtype=torch.float32)(H.float(), U.float())  # the fast forms
    torch.testing.assert_close(single, scores.float(), rtol=1e-4, atol=2e-5)


@torch.no_grad()
@pytest.mark.parametrize("scale", [1e-44, 1e-30, 1e-13, 1e19, 1e30])
def test_cosine_does_not_see_how_long_states_are(name, scale):
    if name != "cosine":
        pytest.skip("the others do")
    module, (H, U) = build(name), pair(torch.float32)
    H = H / H.abs().amax(-1, keepdim=True)
    if scale < 1e-38:
        H = H.sign()  # so small that only a few digits are left
    torch.testing.assert_close(module(scale * H, U), module(H, U))
    torch.testing.assert_close(module(scale * H, scale * H), module(H, H))
    ((_, products),) = module.terms(scale * H[0, 0], U[0, 0]).items()
    torch.testing.assert_close(products.sum(), module(H, U)[0, 0, 0])


def test_the_terms_without_u_are_those_that_a_row_shares(name):
    """By their names `span_decoding.cell_facts` tells which terms the softmax does not see."""
    module, (H, U) = build(name), pair()
    first, second = (module.terms(H[0, 0], u) for u in U[0, :2])
    same = {term for term in first if torch.equal(first[term], second[term])}
    assert same == {term for term in first if not QUESTION.search(term)}
    below = module.terms(H[0, 1], U[0, 0])
    assert {term for term in first if torch.equal(first[term], below[term])} == {
        term for term in first if not PASSAGE.search(term)
    }


def test_gradients(name):
    """Of the fast form in float32 against finite differences of the whole matrix in float64."""
    module, (H, U) = build(name), pair()
    onto = torch.randn(B, M, N, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    single = build(name, dtype=torch.float32)
    leaves = [H.float().requires_grad_(), U.float().requires_grad_(), *single.parameters()]
    gradients = torch.autograd.grad((single(*leaves[:2]) * onto).sum(), leaves)
    step = 1e-5
    with torch.no_grad():
        for leaf, slope in zip([H, U, *module.parameters()], gradients):
            flat = leaf.view(-1)
            for i in range(0, len(flat), max(1, len(flat) // 13)):
                before, ends = flat[i].item(), []
                for side in (step, -step):
                    flat[i] = before + side
                    ends.append((module(H, U) * onto).sum().item())
                flat[i] = before
                expected = (ends[0] - ends[1]) / (2 * step)
                assert slope.reshape(-1)[i].item() == pytest.approx(expected, rel=1e-3, abs=1e-3)


@torch.no_grad()
def test_terms_sum_to_the_score(name):
    module, (H, U) = build(name), pair()
    terms = module.terms(H[:, :, None], U[:, None])
    for term in terms.values():
        assert term.expand(B, M, N, D).shape == (B, M, N, D)
    total = sum(term.expand(B, M, N, D) for term in terms.values()).sum(-1)
    torch.testing.assert_close(total, module(H, U))
    cell_terms = module.terms(H[1, 3], U[1, 2])
    assert all(term.shape == (D,) for term in cell_terms.values())
    assert sum(term.sum() for term in cell_terms.values()).item() == pytest.approx(module(H, U)[1, 3, 2].item())


def test_a_zero_state_is_finite(name):
    module, (H, U) = build(name), pair()
    H[0, 2], U[1, 3] = 0.0, 0.0
    H.requires_grad_()
    scores = module(H, U)
    scores.square().sum().backward()
    assert scores.isfinite().all() and H.grad.isfinite().all()


@pytest.mark.parametrize("output", OUTPUTS)
@torch.no_grad()
def test_attention_is_that_of_each_example_alone(name, output):
    torch.manual_seed(1)
    module, (passage, question) = QaAttention(D, name, output).double(), batch(*pair())
    with recording() as record:
        vectors = module(passage, question)
    assert vectors.shape == (B, M, OUTPUTS[output] * D) == (B, M, module.features)
    S, A = record.sites["attention/relevance"], record.sites["attention/weight"]
    for row, (m, n) in enumerate(LENGTHS):
        H, U = passage.vectors[row, :m], question.vectors[row, :n]
        scores = module.similarity(H[None], U[None])[0]
        weights, expected = oracle.attended(scores.numpy(), H.numpy(), U.numpy(), output)
        torch.testing.assert_close(vectors[row, :m], torch.tensor(expected))
        torch.testing.assert_close(A.tensor[row, :m, :n], torch.tensor(weights))
        torch.testing.assert_close(S.tensor[row, :m, :n], scores)


@torch.no_grad()
def test_what_is_masked_cannot_matter_and_what_is_tapped_is_true(name):
    torch.manual_seed(1)
    module, (H, U) = QaAttention(D, name, "O_2"), pair(torch.float32)
    passage, question = batch(H, U)
    plain = module(passage, question)
    with recording() as record:
        loud = module(
            States(torch.where(passage.keep[..., None], H, 1e3), passage.keep),
            States(torch.where(question.keep[..., None], U, 1e3), question.keep),
        )
    torch.testing.assert_close(loud[passage.keep], plain[passage.keep], rtol=0, atol=1e-5)
    assert set(map(str, record.sites)) == {"attention/relevance", "attention/weight"}
    for site, tapped in record.sites.items():
        assert site.quantity == tapped.quantity and tapped.quantity in QUANTITIES
        assert tapped.axes == ("query", "key") and set(tapped.axes) <= set(AXES)
    tapped = record.sites["attention/weight"]
    assert tapped.sums_over == ("key",) and (tapped.tensor >= 0).all()
    torch.testing.assert_close(tapped.tensor.sum(-1), torch.ones(B, M))
    assert not tapped.tensor.mT[~question.keep].any()


def test_every_weight_learns(name):
    torch.manual_seed(1)
    module = QaAttention(D, name, "O_2")
    H, U = (one.requires_grad_() for one in pair(torch.float32))
    module(*batch(H, U)).square().sum().backward()
    assert H.grad.abs().max() > 1e-3 and U.grad.abs().max() > 1e-3
    for key, parameter in module.similarity.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), key
        assert key in UNLEARNT or parameter.grad.abs().max() > 1e-7, key


@torch.no_grad()
def test_save_and_load_changes_nothing(name, tmp_path):
    module, other, given = build(name), build(name, seed=9), pair()
    assert torch.equal(module(*given), other(*given)) == (not list(module.parameters()))
    save_file(module.state_dict(), tmp_path / "model.safetensors")
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    assert torch.equal(module(*given), other(*given))


class AllocationTracker(TorchDispatchMode):
    """The size of every tensor that is made, in numbers: of a view that of what it is a view of."""

    def __init__(self):
        super().__init__()
        self.sizes = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        output = func(*args, **(kwargs or {}))
        tensors = (leaf for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor))
        self.sizes += [tensor.untyped_storage().nbytes() // tensor.element_size() for tensor in tensors]
        return output


def test_nothing_of_size_m_n_d_is_made(name):
    """Forward and backward have matrices [M, N], states [M, d] and blocks of a fixed size, no cube."""
    module, (m, n) = build(name, dtype=torch.float32), (307, 211)
    H, U = (torch.randn(2, size, D, requires_grad=True) for size in (m, n))
    for tracker, run in (
        (AllocationTracker(), lambda: module(H, U)),
        (AllocationTracker(), lambda: module(H, U).square().sum().backward()),
    ):
        with tracker:
            run()
        assert 2 * m * n <= max(tracker.sizes) < m * n * D
