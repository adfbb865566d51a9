"""Make the weights of a fused attention again, and measure how far weights times values are from what was computed."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import torch
from torch import Tensor

from triattn_core.errors import InputError
from triattn_core.recording.follow import Product

BEYOND = 1000.0  # a score so far below that of its row's best is one that a mask has lowered
LOW = -50.0  # a mask of two numbers, 0 and one below this, as Swin's -100, hides: exp(-50) is 2e-22


@dataclass(frozen=True)
class FusedCall:
    """The arguments of `scaled_dot_product_attention`: query [..., h, n, d], key and value [..., g, m, d]."""

    query: Tensor
    key: Tensor
    value: Tensor
    attn_mask: Tensor | None = None
    dropout_p: float = 0.0
    is_causal: bool = False
    scale: float | None = None
    enable_gqa: bool = False

    def __post_init__(self) -> None:
        bias = sys.modules.get("torch.nn.attention.bias")  # imports torch's compiler; who made such a mask has it
        if bias and isinstance(self.attn_mask, bias.CausalBias):  # a tensor that holds no numbers
            lower = self.attn_mask.variant == bias.CausalVariant.LOWER_RIGHT
            n, m = self.query.shape[-2], self.key.shape[-2]
            mask = torch.ones(n, m, dtype=torch.bool, device=self.query.device).tril((m - n) * lower)
            object.__setattr__(self, "attn_mask", mask)

    @property
    def group(self) -> int:
        """How many query heads share a key head."""
        return self.query.shape[-3] // self.key.shape[-3] if self.enable_gqa else 1

    def windows(self, batch: int) -> int:
        """How many rows [h, n, d] the call has for an example, such as windows of a picture."""
        rows = self.query.shape[0] if self.query.ndim == 4 else 1
        return rows // batch if rows > batch and rows % batch == 0 else 1


def fused_group(call: FusedCall, batch: int = 1, example: int = 0) -> int:
    """How many query heads share a key head, whether the call or the model before it repeats the keys."""
    heads = heads_of(call.query, batch, example).shape[0]
    return count_to_a_key(heads, heads_of(call.key, batch, example), heads_of(call.value, batch, example))


def rebuild_weights(call: FusedCall, result: Tensor, batch: int = 1, example: int = 0) -> tuple[Tensor, float]:
    """The weights [h, n, m] of one example of a fused call in float32, head by head, and their error.

    Where the call has several rows for an example, such as windows of an image, the heads of all follow each other.

    softmax(q kᵀ · scale + mask), as the documentation of torch defines it; a row with nothing to attend to is zeros.
    The error is that of `relative_error` of weights times values against `result`, what the call returned.
    """
    query, key, value, made = (heads_of(x, batch, example) for x in (call.query, call.key, call.value, result))
    heads, n, m = query.shape[0], query.shape[1], key.shape[1]
    group = max(1, heads // max(1, key.shape[0]))
    weights = torch.empty(heads, n, m, dtype=torch.float32, device=query.device)
    scale = 1 / math.sqrt(query.shape[-1]) if call.scale is None else call.scale
    mask = call.attn_mask
    if mask is not None and mask.ndim > 2:
        mask = heads_of(mask.expand(*call.query.shape[:-2], n, m), batch, example)
    hidden = torch.ones(n, m, dtype=torch.bool, device=query.device).triu_(1) if call.is_causal else None
    worst = size = 0.0
    for head in range(heads):
        row = weights[head]
        torch.matmul(query[head].float(), key[head // group].float().mT, out=row)
        row.mul_(scale)
        if mask is not None:
            part = mask[head] if mask.ndim == 3 else mask
            row.masked_fill_(~part, -torch.inf) if part.dtype == torch.bool else row.add_(part)
        if hidden is not None:
            row.masked_fill_(hidden, -torch.inf)
        torch.softmax(row, -1, out=row)
        row.nan_to_num_(0.0) if mask is not None else row
        rebuilt = row @ value[head // group].float()
        target = made[head].float()
        if target.numel():
            difference, largest = float((rebuilt - target).abs().max()), float(target.abs().max())
            worst, size = max(worst, difference if difference == difference else math.inf), max(size, largest)
    return weights, worst / (size or 1.0)


def attention_scores(call: FusedCall) -> Tensor:
    """The scores [batch…, h, n, m] of a fused call in float32, all at once; minus infinity where its mask hides."""
    scale = 1 / math.sqrt(call.query.shape[-1]) if call.scale is None else call.scale
    scores = call.query.float() @ repeat_heads(call.key, call.group).float().mT * scale
    hidden = hidden_by_order(call) if call.is_causal else None
    if hidden is not None:
        scores = scores.masked_fill(hidden, -torch.inf)
    if call.attn_mask is not None:
        boolean = call.attn_mask.dtype == torch.bool
        scores = scores.masked_fill(~call.attn_mask, -torch.inf) if boolean else scores + call.attn_mask
    return scores


def repeat_heads(tensor: Tensor, group: int) -> Tensor:
    """Key or value heads, each as many times as heads share it."""
    return tensor.repeat_interleave(group, -3) if group > 1 else tensor


def hidden_by_order(call: FusedCall) -> Tensor:
    """The cells [n, m] that a causal call hides."""
    return torch.ones(call.query.shape[-2], call.key.shape[-2], dtype=torch.bool, device=call.query.device).triu(1)


def hidden_cells(call: FusedCall, batch: int = 1, example: int = 0) -> Tensor | None:
    """The cells [n, m] that the mask of a fused call hides in the first head of an example."""
    n, m = call.query.shape[-2], call.key.shape[-2]
    if call.is_causal:
        return hidden_by_order(call)
    if call.attn_mask is None:
        return None
    mask = call.attn_mask
    if mask.ndim > 2:
        mask = heads_of(mask.expand(*call.query.shape[:-2], n, m), batch, example)[0]
    return (~mask if mask.dtype == torch.bool else is_masked(mask)).expand(n, m)


def is_hidden(scores: Tensor) -> Tensor:
    """Which scores [..., m] a mask has set: minus infinity, near the lowest number of their type, or so far below the
    best of their row (`BEYOND`) that their weight is zero, as masks of -1e4 or -1e9 do.

    A row that is hidden as a whole, whose scores are all lowered alike, is found by the first two alone.
    """
    lowest = scores <= torch.finfo(scores.dtype).min / 2
    return lowest | (scores < scores.amax(-1, keepdim=True) - BEYOND) if scores.numel() else lowest


def is_masked(mask: Tensor) -> Tensor:
    """Which cells an added mask [..., m] hides: see `is_hidden`; of a mask of two numbers, 0 and one below -50, that
    one."""
    hidden = is_hidden(mask)
    low = mask.min() if mask.numel() else None
    if low is not None and low < LOW and bool(((mask == 0) | (mask == low)).all()):
        hidden = hidden | (mask == low)
    return hidden


def count_to_a_key(heads: int, *tensors: Tensor) -> int:
    """How many of the heads share a key head, where the heads of keys or values [h, m, d] are repeated: those that are
    equal are one."""
    distinct = max((len(torch.unique(t.flatten(1), dim=0)) if t.numel() else t.shape[0] for t in tensors), default=0)
    return heads // distinct if distinct and heads % distinct == 0 else 1


def product_error(product: Product, weights: Tensor, result: Tensor) -> float:
    """The error of weights, in float32, times the values of a product against its result."""
    values = [value.float() for value in product.values]
    return relative_error(torch.einsum(product.equation, weights.float(), *values), result)


def relative_error(rebuilt: Tensor, result: Tensor) -> float:
    """The largest difference, as a share of the largest number of the result; infinite where either is no number."""
    if not result.numel():
        return 0.0
    difference, size = (rebuilt.float() - result.float()).abs().max(), result.float().abs().max()
    error = float(difference / size.clamp_min(1e-30))
    return error if error == error else float("inf")


def require_example(example: int, batch: int) -> None:
    """Raises InputError where a batch has no such row."""
    if example >= batch:
        raise InputError(f"example {example}: the batch has {batch} row{'s' * (batch > 1)}, counted from 0")


def heads_of(tensor: Tensor, batch: int, example: int) -> Tensor:
    """[h, n, d] of one example of [batch…, h, n, d]; a tensor without a batch as it is.  Raises InputError: no such
    example."""
    if tensor.ndim == 2:
        return tensor[None]
    require_example(example, batch)
    if tensor.ndim == 4 and tensor.shape[0] == batch:
        return tensor[example]
    rows = tensor.flatten(0, -3)
    return rows.unflatten(0, (batch, -1))[example] if rows.shape[0] % batch == 0 else rows


def marks_of(values: Tensor, batch: int) -> Tensor:
    """The mean of the values of each key [batch, m], by which a key is known again, of values [batch…, m, d]."""
    rows = values.flatten(0, -3) if values.ndim > 2 else values[None]
    rows = rows.unflatten(0, (batch, -1)) if rows.shape[0] % batch == 0 else rows[None]
    return rows.float().mean((1, -1))


def row_of_example(scores: Tensor, batch: int, example: int) -> Tensor:
    """The scores [n, m] of the first head of an example."""
    if scores.ndim < 3 or not scores.shape[0]:
        return scores[(0,) * (scores.ndim - 2)] if scores.numel() else scores.new_zeros(scores.shape[-2:])
    rows = max(1, scores.shape[0] // batch)
    place = example * rows if example * rows < scores.shape[0] else 0
    return scores[(place, *(0,) * (scores.ndim - 3))] if scores.numel() else scores.new_zeros(scores.shape[-2:])
