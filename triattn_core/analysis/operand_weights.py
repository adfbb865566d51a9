"""What a model of *which two numbers make this one?* gives each pair, from its trace alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from triattn_core.tasks.operands.example import Example, Pair
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import further_axes


def pair_weights(trace: AttentionTrace) -> np.ndarray:
    """The weight of each ordered pair of numbers [n, n], mean over heads; its diagonal is zero.

    Of a cube it is the cube for the one query.  Of two maps, one for each operand, a pair has the product of its two
    weights, over what pairs of different positions have together, as `models.operands.products_of`.
    """
    *_, first = sorted(site for site in trace.sites if (site.role, site.quantity) == ("a_over_b", "weight"))
    weights = trace.site(first)
    if further_axes(weights.dims):
        return weights.mean("head").values[0]
    second = trace.site(replace(first, role="a_over_c"))
    cells = weights.values[:, 0, :, None] * second.values[:, 0, None, :]
    cells = cells * ~np.eye(cells.shape[-1], dtype=bool)
    return (cells / cells.sum((-2, -1), keepdims=True).clip(min=1e-9)).mean(0)


def strongest_pair(weights: np.ndarray) -> tuple[Pair, float]:
    """The pair (i, j), i < j, with the most weight in both orders together, and that weight."""
    both = np.triu(weights + weights.T, 1)
    i, j = np.unravel_index(both.argmax(), both.shape)
    return (int(i), int(j)), float(both[i, j])


def fitting_mask(example: Example) -> np.ndarray:
    """The ordered pairs [n, n] that make the number by one of the four operations."""
    mask = np.zeros((len(example.numbers),) * 2, bool)
    for i, j in example.fitting:
        mask[i, j] = mask[j, i] = True
    return mask
