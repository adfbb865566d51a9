"""One head of a Hugging Face model ablated: how the labels that it predicts change.

The weights of the head are zero where they meet the values; nothing else changes.  Which module computes a site is what
the recorder saw on the same text.
`analysis.intervention.head_ablation` sums up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from triattn_core.errors import DataError, InputError
from triattn_core.recording.ablate import ablate_heads
from triattn_core.recording.prefix import hold_layers, layer_path
from triattn_core.recording.tape import record
from triattn_core.sources.transformer import Transformer
from triattn_core.sources.transformer_errors import one_line
from triattn_core.trace.site import Site

BATCH = 16  # variants of a text in one pass


def label_of(transformer: Transformer, label: Any) -> int:
    """The class of a row's label, which is its number or its name.  Raises DataError."""
    names = {int(number): str(name) for number, name in transformer.model.config.id2label.items()}
    label = int(label) if isinstance(label, bool) and len(names) == 2 else label
    found = None if isinstance(label, bool) else class_number(str(label), names)
    if found is None:
        raise DataError(f"label {label!r}: expected one of {', '.join(names.values())}, or its number")
    return found


def class_number(label: str, names: Mapping[int, str]) -> int | None:
    """The number of a class by its name, its number, or its name in other case, where only one class has that."""
    exact = [number for number, name in names.items() if name == label]
    numbers = [number for number in names if str(number) == label]
    folded = [number for number, name in names.items() if name.casefold() == label.casefold()]
    found = exact or numbers or folded * (len(folded) == 1)
    return found[-1] if found else None


def check_labels(transformer: Transformer) -> None:
    """Raises InputError for a model that is no classifier."""
    if transformer.head != "labels" or len(transformer.model.config.id2label) < 2:
        what = "a number and" if transformer.head == "labels" else ""
        reason = "there is no answer that is right, or that a head could change"
        raise InputError(f"{transformer.name} predicts {what} no labels: {reason}".replace("  ", " "))
    if transformer.model.config.problem_type == "multi_label_classification":
        raise InputError(
            f"{transformer.name} answers yes or no to each label (multi_label_classification): one label a row does not"
            " say whether that is right"
        )


@torch.inference_mode()
def read_without(
    transformer: Transformer, inputs: Any, heads: Sequence[tuple[Site, int]], read: Callable[[Any], Tensor]
) -> Tensor:
    """What `read` makes, [rows, …], of the outputs of one text, then without each head: [1 + heads, …].

    The layers before that of a head run once.  Raises InputError for a head that was not recorded or cannot be ablated.
    """
    model = transformer.model
    with record(model) as tape, one_line(transformer.name, model):
        outputs = model(**inputs)
    original = read(outputs)
    places = tape.places()
    if unknown := [site for site, _ in heads if site not in places]:
        raise InputError(f"{transformer.name}: {unknown[0]} was not recorded on this text")
    size = BATCH if model.config.pad_token_id is not None else 1  # decoders refuse batches without it
    by_layer: dict[str, list[int]] = {}
    for number, (site, _) in enumerate(heads):
        by_layer.setdefault(layer_path(places[site][0]), []).append(number)
    uncached = {"use_cache": False} if getattr(model.config, "use_cache", False) else {}
    prefix = hold_layers(model, [place[0] for place in places.values()], lambda twin: twin(**inputs, **uncached), 1)
    found = original.repeat(1 + len(heads), *[1] * (original.ndim - 1))
    for layer, numbers in by_layer.items():
        for start in range(0, len(numbers), size):
            batch = numbers[start : start + size]
            parts = [(places[site], head) for site, head in (heads[number] for number in batch)]
            repeated = {name: value.expand(len(batch), *value.shape[1:]) for name, value in inputs.items()}
            held = prefix.held_before(layer, len(batch))
            with one_line(transformer.name, model), held as twin, ablate_heads(twin, parts):
                found[[1 + number for number in batch]] = read(twin(**repeated, **uncached))
    return found
