"""`p · tanh(pair + context)` without a tanh per element.

`tanh(x) = 1 - 2 / (1 + exp(2x))`, and the exponential of a sum is a product: one multiply-add and one reciprocal per
element.  Each factor must be bounded (for 50 and -50 the sum is 0, but the product form gives 1), so the plain form is
used beyond BOUND.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

from triattn_core.attention.tri_similarity import blockwise

BOUND = 20.0  # exp(2 * 20)^2 is well within float32
WORTH_COMPILING = 1 << 22  # elements; below, compiling costs more time than it saves
_at_once: ContextVar[bool] = ContextVar("at_once", default=False)


def tanh_score(
    pair: Float[Tensor, "*b N I D"], context: Float[Tensor, "*b J D"], p: Float[Tensor, "*w D"]
) -> Float[Tensor, "*b N I J"]:
    """`sum_d p_d tanh(pair[n,i,d] + context[j,d])` for every n, i and j; computed in at least float32."""
    if pair.dtype in (torch.float16, torch.bfloat16):
        with torch.autocast(pair.device.type, enabled=False):
            return tanh_score(pair.float(), context.float(), p.float()).to(pair.dtype)
    with torch.no_grad():
        nonempty = pair.numel() and context.numel()
        bounded = nonempty and max(pair.abs().max(), context.abs().max()) <= BOUND
    if not bounded or pair.dtype == torch.float64:
        return plain(pair, context, p)
    if worth_compiling(pair, context):
        return compiled_kernel()(pair, context, p)
    *batch, N, I, D = pair.shape
    J = context.shape[-2]
    pairs, contexts = pair.reshape(-1, N * I, D), context.expand(*batch, J, D).reshape(-1, J, D)
    scores = blockwise.Score.apply(pairs, contexts, p.expand(*batch, D).reshape(-1, D))
    return scores.reshape(*batch, N, I, J)


def worth_compiling(pair: Tensor, context: Tensor) -> bool:
    """Whether to compile: for large batches, if there is a compiler; not for single examples or within `at_once`."""
    elements = pair.numel() * context.shape[-2]  # one per cell and feature
    return pair.shape[0] > 1 and elements >= WORTH_COMPILING and not _at_once.get() and has_compiler()


@contextmanager
def without_compilation() -> Iterator[None]:
    """Within the block, in this thread, large batches are not compiled either, because a user is waiting."""
    token = _at_once.set(True)
    try:
        yield
    finally:
        _at_once.reset(token)


def plain(pair: Tensor, context: Tensor, p: Tensor) -> Tensor:
    """The plain equation: the reference for the other forms."""
    return (torch.tanh(pair[..., None, :] + context[..., None, None, :, :]) * p[..., None, None, None, :]).sum(-1)


def exponential(pair: Tensor, context: Tensor, p: Tensor) -> Tensor:
    """The product form, for factors within BOUND."""
    product = torch.exp(2 * pair)[..., None, :] * torch.exp(2 * context)[..., None, None, :, :]
    return p.sum(-1)[..., None, None, None] - 2 * (p[..., None, None, None, :] / (1 + product)).sum(-1)


@cache
def has_compiler() -> bool:
    """Whether there is a working compiler; it may lack headers."""
    if torch.cuda.is_available():
        return True
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return False
    command = [compiler, "-x", "c++", "-fopenmp", "-shared", "-fPIC", "-o", os.devnull, "-"]
    program = b'#include <cmath>\n#include <omp.h>\nextern "C" int threads() { return omp_get_max_threads(); }\n'
    return subprocess.run(command, input=program, capture_output=True, check=False).returncode == 0


@cache
def compiled_kernel() -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """`exponential`, compiled for tensors of any size."""
    warnings.filterwarnings("ignore", module="torch._inductor")
    return torch.compile(exponential, dynamic=True)
