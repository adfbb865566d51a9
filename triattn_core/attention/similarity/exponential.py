"""`p · tanh(pair + context)` without a tanh per element.

`tanh(x) = 1 - 2 / (1 + exp(2x))`, and the exponential of a sum is a product: one multiply-add and one reciprocal an
element.  Each factor must be bounded on its own (with 50 and -50 the sum is 0 and the product form says 1), so that
beyond BOUND the plain form is taken.
"""

from __future__ import annotations

import shutil
import warnings
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

BOUND = 20.0  # exp(2 * 20)^2 is far inside float32
CHUNK = 1 << 17  # elements that stay in a core's cache
WORTH_COMPILING = 1 << 22  # elements; below, compiling costs more than it gives


def tanh_score(
    pair: Float[Tensor, "*b N I D"], context: Float[Tensor, "*b J D"], p: Float[Tensor, "*w D"]
) -> Float[Tensor, "*b N I J"]:
    """`sum_d p_d tanh(pair[n,i,d] + context[j,d])` for every n, i and j; in at least float32."""
    if pair.dtype in (torch.float16, torch.bfloat16):
        return tanh_score(pair.float(), context.float(), p.float()).to(pair.dtype)
    with torch.no_grad():
        bounded = pair.numel() == 0 or max(pair.abs().max(), context.abs().max()) <= BOUND
    if not bounded or pair.dtype == torch.float64:
        return plain(pair, context, p)
    several = pair.shape[0] > 1  # a single example is answered at once: nobody waits for a compiler
    if several and pair.numel() * context.shape[-2] >= WORTH_COMPILING and _compiler():
        return _compiled()(pair, context, p)
    return plain(pair, context, p) if torch.is_grad_enabled() else _chunked(pair, context, p)


def plain(pair: Tensor, context: Tensor, p: Tensor) -> Tensor:
    """The equation as it stands: the form that everything else is measured against."""
    return (torch.tanh(pair[..., None, :] + context[..., None, None, :, :]) * p[..., None, None, None, :]).sum(-1)


def exponential(pair: Tensor, context: Tensor, p: Tensor) -> Tensor:
    """The product form, for factors within BOUND."""
    product = torch.exp(2 * pair)[..., None, :] * torch.exp(2 * context)[..., None, None, :, :]
    return p.sum(-1)[..., None, None, None] - 2 * (p[..., None, None, None, :] / (1 + product)).sum(-1)


def _chunked(pair: Tensor, context: Tensor, p: Tensor) -> Tensor:
    """The product form in blocks that stay in the cache; as a matrix product over the features."""
    *batch, N, I, D = pair.shape
    J = context.shape[-2]
    pairs = torch.exp(2 * pair).reshape(-1, N * I, 1, D)
    contexts = torch.exp(2 * context).expand(*batch, J, D).reshape(-1, 1, J, D)
    vectors = p.expand(*batch, D).reshape(-1, D, 1)
    found = pair.new_empty(len(pairs), N * I, J)
    rows = max(1, CHUNK // (J * D))
    for one in range(len(pairs)):
        for start in range(0, N * I, rows):
            block = pairs[one, start : start + rows] * contexts[one]
            found[one, start : start + rows] = (block.add_(1).reciprocal_() @ vectors[one]).squeeze(-1)
    return (vectors.sum(-2, keepdim=True) - 2 * found).reshape(*batch, N, I, J)


@cache
def _compiler() -> bool:
    return shutil.which("g++") is not None or shutil.which("clang++") is not None or torch.cuda.is_available()


@cache
def _compiled():
    warnings.filterwarnings("ignore", module="torch._inductor")
    return torch.compile(exponential, dynamic=True)
