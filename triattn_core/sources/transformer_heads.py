"""One head of a Hugging Face model ablated: how the labels that it predicts change.

The weights of the head are zero where they meet the values; nothing else changes.  Which module computes a site is what
the recorder saw on the same text.
`analysis.intervention.head_ablation` sums up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from triattn_core.analysis.intervention.batched_variants import log_odds
from triattn_core.analysis.intervention.head_ablation import Head, measure_labelled
from triattn_core.analysis.mining.miner import TablePart
from triattn_core.errors import DataError, InputError
from triattn_core.importers.text_rows import TextRow
from triattn_core.importers.token_coords import encode
from triattn_core.inference.device import memory_guard
from triattn_core.recording.ablate import ablate_heads
from triattn_core.recording.prefix import hold_layers, layer_path
from triattn_core.recording.tape import record
from triattn_core.sources.transformer import Transformer
from triattn_core.trace.site import Site

BATCH = 16  # variants of a text in one pass


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


def logits_without(transformer: Transformer, inputs: Any, heads: Sequence[tuple[Site, int]]) -> tuple[Tensor, Tensor]:
    """The logits [1, labels] of one text, and those [heads, labels] without each head, in float64.

    The layers before that of a head run once.  Raises InputError for a head that was not recorded or cannot be ablated.
    """
    model = transformer.model
    with record(model) as tape:
        original = model(**inputs).logits.double().cpu()
    places = tape.places()
    if unknown := [site for site, _ in heads if site not in places]:
        raise InputError(f"{transformer.name}: {unknown[0]} was not recorded on this text")
    size = BATCH if model.config.pad_token_id is not None else 1  # decoders refuse batches without it
    by_layer: dict[str, list[int]] = {}
    for number, (site, _) in enumerate(heads):
        by_layer.setdefault(layer_path(places[site][0]), []).append(number)
    uncached = {"use_cache": False} if getattr(model.config, "use_cache", False) else {}
    prefix = hold_layers(model, [place[0] for place in places.values()], lambda twin: twin(**inputs, **uncached), 1)
    scores = torch.zeros(len(heads), original.shape[1], dtype=torch.float64)
    for layer, numbers in by_layer.items():
        for start in range(0, len(numbers), size):
            batch = numbers[start : start + size]
            parts = [(places[site], head) for site, head in (heads[number] for number in batch)]
            repeated = {name: value.expand(len(batch), *value.shape[1:]) for name, value in inputs.items()}
            held = prefix.held_before(layer, len(batch))
            with memory_guard("this text"), held as twin, ablate_heads(twin, parts):
                scores[batch] = twin(**repeated, **uncached).logits.double().cpu()
    return original, scores


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
    original, scores = logits_without(transformer, inputs, [(Site.of(site), head) for site, head in heads])
    right = (scores.argmax(-1) == label).tolist()
    change = (log_odds(scores, label) - log_odds(original, label)).tolist()
    sites, numbers = zip(*heads)
    is_right = bool(original.argmax() == label)
    return pd.DataFrame({"site": sites, "head": numbers, "right": right, "own": is_right, "change": change})
