"""Attention that is a difference of two maps, found where a module subtracts what they made of the values.

Differential attention (Ye et al. 2024, arXiv 2410.05258): head h of H / 2 is (A[h] - λ A[h + H / 2]) V, with λ learned.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from triattn_core.recording.attention import Attention
from triattn_core.recording.follow import Product
from triattn_core.recording.layout import Layout
from triattn_core.recording.module_stack import Running
from triattn_core.recording.rebuild import heads_of, relative_error, repeat_heads

REBUILT = 1e-4  # largest error of what is taken for a difference of two maps: anything else that is subtracted is not


@dataclass(frozen=True)
class Difference:
    """weights: [head, query, key], signed.  factor: λ.  error: as that of `rebuild.product_error`."""

    weights: Tensor
    factor: float
    error: float


class Differences:
    """The values of the last two attentions, until a module subtracts what was made of them."""

    def __init__(self) -> None:
        self.values: deque[tuple[Attention, Callable[[], Tensor | None]]] = deque(maxlen=2)

    def see_fused(self, attention: Attention, value: Tensor, group: int, batch: int, example: int) -> None:
        """Takes a fused call.  value: [batch…, g, m, d], each head of it for `group` heads."""
        self.values.append((attention, lambda: repeat_heads(heads_of(value, batch, example), group)))

    def see_product(self, attention: Attention, product: Product) -> None:
        """Takes weights that met values in a product."""
        self.values.append((attention, lambda: values_of(product, attention)))

    def find(self, running: Running, args: Sequence[Any], result: Tensor, example: int) -> Attention | None:
        """The difference that a module makes of its last two attentions, if it subtracts what they made.

        args: of the subtraction; result: [batch, n, head, d].
        """
        if len(self.values) < 2 or result.ndim != 4 or len(args) < 2:
            return None
        parts = [attention for attention, _ in self.values]
        if any(part.running is not running or part.kind not in ("sdpa", "softmax") for part in parts):
            return None
        subtracted = args[1][example] if isinstance(args[1], Tensor) and args[1].ndim == 4 else None
        maps, values = [part.arranged() for part in parts], [read() for _, read in self.values]
        if values[0] is None or values[1] is None:
            return None
        found = find_difference((maps[0], maps[1]), (values[0].float(), values[1].float()), subtracted, result[example])
        if found is None:
            return None
        return Attention(
            running,
            "difference",
            found.weights,
            Layout("hnm", "n", "m"),
            found.error,
            parts[0].columns,
            hidden=parts[0].hidden,
            group=parts[0].group,
            factor=found.factor,
            precision=result.dtype,
        )


def values_of(product: Product, attention: Attention) -> Tensor | None:
    """The values [head, key, d] of a product; None for another form of it."""
    layout = attention.layout
    if len(product.values) != 1 or layout.dims != ("head", "query", "key") or layout.blocks:
        return None
    letters = product.value_axes[0]
    own = [letter for letter in letters if letter not in product.axes]
    if len(own) != 1 or layout.key not in letters:
        return None
    row = layout.batch if layout.batch in letters else ""
    arranged = Layout(letters, layout.key, own[0], batch=row)
    return arranged.arrange(product.values[0].detach(), attention.batch, attention.example)


def find_difference(
    maps: tuple[Tensor, Tensor], values: tuple[Tensor, Tensor], subtracted: Any, result: Any
) -> Difference | None:
    """The difference of the two halves of the heads, if that is what a module subtracts; else None.

    maps: the weights [H, n, m] of the last two attentions of the module, which are the same; values: [H, m, d] of
    each, which stand beside each other in a head of the result [n, H / 2, 2 d]; subtracted: λ times the second half.
    """
    (first, second), (value_1, value_2) = maps, values
    heads = first.shape[0]
    if heads % 2 or first.shape != second.shape or value_1.shape != value_2.shape:
        return None
    shape = (first.shape[1], heads // 2, 2 * value_1.shape[-1])
    if any(not isinstance(made, Tensor) or made.shape != shape for made in (subtracted, result)):
        return None
    both = torch.cat([value_1, value_2], -1).double()
    if not torch.equal(first, second) or not torch.equal(both[: heads // 2], both[heads // 2 :]):
        return None
    plus, minus = first.double().chunk(2)
    made = (minus @ both[heads // 2 :]).transpose(0, 1)  # [n, H / 2, 2 d]
    factor = float((made * subtracted.double()).sum() / made.square().sum().clamp_min(1e-30))
    weights = plus - factor * minus
    error = relative_error((weights @ both[: heads // 2]).transpose(0, 1), result)
    return Difference(weights.to(first.dtype), factor, error) if error < REBUILT else None
