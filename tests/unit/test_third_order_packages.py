"""Third-order attention of this package against the packages of other authors: values and gradients to 1e-5.

The packages are installed from requirements-authors.txt; where one is missing, its tests are skipped.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from triattn_core.attention.contextual_value import context_alone, multiplicative
from triattn_core.attention.softmax import joint_softmax
from triattn_core.attention.tri_similarity.determinant import determinant
from triattn_core.attention.tri_similarity.scaled_dot import tsdp
from triattn_core.attention.tri_similarity.strassen import strassen
from triattn_core.attention.tri_similarity.tree import tree

B, H, N, D = 2, 3, 7, 13


def attend(score: Callable, value: Callable, query, key, context, value_key, value_context) -> Tensor:
    keep = torch.ones(key.shape[-2], dtype=torch.bool)
    return value(joint_softmax(score(query, key, context), keep, keep), value_key, value_context)


def assert_same(ours: Callable[..., Tensor], theirs: Callable[..., Tensor], features: int = D) -> None:
    torch.manual_seed(1)
    arrays = [torch.randn(B, H, N, features, dtype=torch.float64) for _ in range(5)]
    outputs, gradients = [], []
    for function in (ours, theirs):
        leaves = [array.clone().requires_grad_() for array in arrays]
        outputs.append(function(*leaves))
        outputs[-1].square().sum().backward()
        gradients.append([torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in leaves])
    torch.testing.assert_close(*outputs, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(*gradients, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("features", [12, 13, 14])
@pytest.mark.parametrize(("score", "signed"), [(tsdp, False), (determinant, True)], ids=["product", "determinant"])
def test_simplicial_attention(score, signed, features):
    package = pytest.importorskip("simplicial_attention.simplicial_attention")

    def theirs(query, key, context, value_key, value_context):
        return package.naive_two_simplicial_attend(
            query, (key, context), (value_key, value_context), use_signed_determinant=signed
        )

    assert_same(lambda *tensors: attend(score, multiplicative, *tensors), theirs, features)


def test_strassen_attention():
    """The package divides the query by √D, so that its term of key and context is not divided."""
    package = pytest.importorskip("strassen_attention.strassen_attention")
    scale = D**0.25

    def ours(query, key, context, value_key, value_context):
        return attend(strassen, multiplicative, query / scale, key * scale, context * scale, value_key, value_context)

    assert_same(ours, package.strassen_attend)


def test_poly_attention():
    package = pytest.importorskip("poly_attention.poly_attention")

    def theirs(query, key, context, value_key, value_context):
        return package.reference_poly_attention(query, key, key, context, value_context)[0]

    assert_same(lambda *tensors: attend(tree, context_alone, *tensors), theirs)
