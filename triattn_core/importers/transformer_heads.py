"""One head of a Hugging Face model ablated: how the labels that it predicts change.

The head's input to the layer's output projection is set to zero; nothing else changes.
`analysis.intervention.head_ablation` sums up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn

from triattn_core.analysis.intervention.batched_variants import log_odds
from triattn_core.analysis.intervention.head_ablation import Head, measure_labelled
from triattn_core.analysis.mining.miner import TablePart
from triattn_core.errors import DataError, InputError
from triattn_core.importers.text_rows import TextRow
from triattn_core.importers.token_coords import encode
from triattn_core.importers.transformer import Transformer
from triattn_core.inference.device import memory_guard
from triattn_core.trace.site import Site

BATCH = 16  # variants of a text in one pass
# What a layer's heads, side by side, are given to, by the names of the families of models.
PROJECTION = re.compile(
    r"\.(attention\.output\.dense|attention\.(dense|out_lin|out_proj|o_proj)|attn\.(c_proj|out_proj|o_proj|proj)"
    r"|self_attn\.(o_proj|out_proj|dense)|self_attention\.dense|SelfAttention\.o)$"
)


def label_of(transformer: Transformer, label: Any) -> int:
    """The class of a row's label, which is its number or its name.  Raises DataError."""
    names = transformer.model.config.id2label
    classes = {str(number): int(number) for number in names} | {
        str(name): int(number) for number, name in names.items()
    }
    if isinstance(label, bool) or str(label) not in classes:
        raise DataError(f"label {label!r}: expected one of {', '.join(map(str, names.values()))}, or its number")
    return classes[str(label)]


def check_labels(transformer: Transformer) -> None:
    """Raises InputError for a model that is no classifier."""
    if transformer.head != "labels" or len(transformer.model.config.id2label) < 2:
        raise InputError(f"{transformer.name} predicts no labels, so the effect of ablating a head cannot be measured")


def measure_rows(
    transformer: Transformer, rows: Iterable[tuple[int, Any]], heads: Sequence[Head]
) -> Iterator[TablePart]:
    """`measure_labelled` of a Hugging Face model."""
    return measure_labelled(rows, lambda row: measure_text(transformer, row, heads).assign(id=""))


@torch.inference_mode()
def measure_text(transformer: Transformer, row: TextRow, heads: Sequence[Head]) -> pd.DataFrame:
    """A row a head: `site`, `head`, `right` without it and `own`, whether the whole model is right; `change` of the
    log-odds of the label.

    Raises InputError: no labels are predicted, or a head cannot be ablated; DataError: not a label.
    """
    check_labels(transformer)
    label = label_of(transformer, row.label)
    text, pair = row.texts[0], row.texts[1] if len(row.texts) > 1 else None
    inputs, _ = encode(transformer.tokenizer, text, pair, transformer.longest)
    inputs = inputs.to(transformer.model.device)
    original = transformer.model(**inputs).logits.double().cpu()
    size = BATCH if transformer.model.config.pad_token_id is not None else 1  # decoders refuse batches without it
    parts = []
    for start in range(0, len(heads), size):
        batch = heads[start : start + size]
        repeated = {name: value.expand(len(batch), *value.shape[1:]) for name, value in inputs.items()}
        with memory_guard("this text"), _ablate_head(transformer, batch):
            parts.append(transformer.model(**repeated).logits.double().cpu())
    scores = torch.cat(parts)
    right = (scores.argmax(-1) == label).tolist()
    change = (log_odds(scores, label) - log_odds(original, label)).tolist()
    sites, numbers = zip(*heads)
    is_right = bool(original.argmax() == label)
    return pd.DataFrame({"site": sites, "head": numbers, "right": right, "own": is_right, "change": change})


@contextmanager
def _ablate_head(transformer: Transformer, heads: Sequence[Head]) -> Iterator[None]:
    """Inside, row i of a batch is computed without head i."""
    projections, count = _projections(transformer), transformer.model.config.num_attention_heads
    with ExitStack() as hooks:
        for row, (site, head) in enumerate(heads):
            layer = Site.parse(site).layer
            assert layer is not None  # as `trace_transformer` names its sites
            handle = projections[layer].register_forward_pre_hook(_zero_head(row, head, count))
            hooks.callback(handle.remove)
        yield


def _zero_head(row: int, head: int, count: int) -> Any:
    def hook(module: nn.Module, arguments: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        head_outputs, *other_arguments = arguments
        width = head_outputs.shape[-1] // count
        head_outputs = head_outputs.clone()
        head_outputs[row, :, head * width : (head + 1) * width] = 0
        return head_outputs, *other_arguments

    return hook


def _projections(transformer: Transformer) -> list[nn.Module]:
    """The output projection of each layer's attention.  Raises InputError where they are not known."""
    model = transformer.model
    named_modules = (model.get_encoder() if model.config.is_encoder_decoder else model).named_modules()
    found = [module for name, module in named_modules if PROJECTION.search(name)]
    if len(found) != model.config.num_hidden_layers:
        raise InputError(f"{transformer.name}: the heads of a {model.config.model_type} model cannot be ablated")
    return found
