"""Flex attention, which forms scores by a function: given one-hot values, what it returns is its weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from triattn_core.recording.attention import Attention
from triattn_core.recording.layout import Layout
from triattn_core.recording.module_stack import Running
from triattn_core.recording.rebuild import count_to_a_key, heads_of, marks_of, relative_error, repeat_heads


def read_flex(
    running: Running, func: Callable[..., Any], args: Any, result: Tensor, batch: int, example: int
) -> Attention:
    """The attention of one example of a call `flex_attention(query, key, value, ...)`, which returned `result`."""
    query, key, value = args[:3]
    m = key.shape[-2]
    with torch._C.DisableTorchFunction(), torch.no_grad():
        one_hot = torch.eye(m, dtype=value.dtype, device=value.device).expand(*value.shape[:-2], m, m).contiguous()
        weights = heads_of(func(query, key, one_hot, *args[3:])[0], batch, example).float()
        heads = weights.shape[0]
        values = heads_of(value, batch, example)
        group = count_to_a_key(heads, heads_of(key, batch, example), values)
        rebuilt = weights @ repeat_heads(values, heads // values.shape[0]).float()
        made = heads_of(result, batch, example)
        error, hidden = relative_error(rebuilt, made), (weights == 0).all(0)
    layout = Layout("hnm", "n", "m")
    kind = "flex with its sum" if _returns_sum(args, query) else "flex"
    common = (running, kind, weights, layout, error, m, batch, example, hidden, None, group)
    return Attention(*common, precision=made.dtype, marks=marks_of(value, batch))


def _returns_sum(args: Any, query: Tensor) -> bool:
    """Whether the call also gives the model the log-sum-exp of each row, which a graph of gradients keeps anyway."""
    options = next((one for one in args if isinstance(one, dict) and "OUTPUT_LOGSUMEXP" in one), {})
    return bool(options.get("OUTPUT_LOGSUMEXP")) and not (torch.is_grad_enabled() and query.is_cuda)
