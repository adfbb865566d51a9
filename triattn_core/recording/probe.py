"""Read the cube of a kernel that forms no softmax, by the values that it is given.

A kernel that returns o[i] = Σ_jk w[i, j, k] v1[j] ⊙ v2[k] is linear in both values: with v1 one-hot at j and v2 one-hot
at k in one channel, that channel of o[i] is w[i, j, k].  n² / d passes give the whole cube.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from triattn_core.recording.rebuild import relative_error


def probe_cube(kernel: Callable[[Tensor, Tensor], Tensor], value_1: Tensor, value_2: Tensor) -> tuple[Tensor, float]:
    """The weights [batch, head, query, key, context] of a kernel of two values, and their error.

    kernel: called with values [batch, head, n, d] and [batch, head, m, d], it returns [batch, head, q, d]; all else
        that it needs is bound.  value_1, value_2: the model's own.

    The error is that of the cube times the model's values against what the kernel makes of them, as a share of the
    largest number there.

    >>> cube, error = probe_cube(lambda v1, v2: strassen_attend(q, k1, k2, v1, v2), v1, v2)
    """
    n, m, channels = value_1.shape[-2], value_2.shape[-2], value_1.shape[-1]
    pairs = torch.cartesian_prod(torch.arange(n), torch.arange(m))
    parts = []
    with torch.no_grad():
        for some in pairs.split(channels):
            channel = torch.arange(len(some))
            one, two = torch.zeros_like(value_1), torch.zeros_like(value_2)
            one[..., some[:, 0], channel] = 1
            two[..., some[:, 1], channel] = 1
            parts.append(kernel(one, two)[..., : len(some)])
        cube = torch.cat(parts, -1).unflatten(-1, (n, m))
        rebuilt = torch.einsum("bhijk,bhjd,bhkd->bhid", cube, value_1, value_2)
        return cube, relative_error(rebuilt, kernel(value_1, value_2))
