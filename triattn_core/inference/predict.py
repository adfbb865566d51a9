"""Outputs and answers of several checkpoints over many rows, in batches of similar length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import ConfigError
from triattn_core.inference.pause import progress


def require_shared_encoder(bundles: Sequence[Bundle]) -> None:
    """Raises ConfigError unless all bundles share an encoder, its limits and a task."""
    first = bundles[0]
    for other in bundles[1:]:
        differing = [name for name in ("device", "task") if getattr(other, name) != getattr(first, name)]
        differing += [
            setting for setting in ("max_tokens", "cells", "labels") if _differ(first.config, other.config, setting)
        ]
        differing += ["vectors"] * _differ(first.config.model, other.config.model, "vectors")
        if first.encoder is not other.encoder and first.encoder != other.encoder:
            same_digest = first.encoder.digest == other.encoder.digest
            differing = differing if differing and same_digest else ["encoder", *differing]
        if differing:
            ask = "ask them apart"
            if not {"device", "task", "labels"} & set(differing):
                ask += " (`triattn cases` takes both, and tells whether they differ)"
            raise ConfigError(f"{first.name} and {other.name} differ in their {' and '.join(differing)}: {ask}")


def _differ(first: object, other: object, name: str) -> bool:
    return getattr(first, name, ()) != getattr(other, name, ())


def batch_by_length(lengths: Sequence[int], size: int, ratio: float = 1.25) -> Iterator[list[int]]:
    """Batches of row indices of similar length, short ones first: at most `size`, none longer than `ratio` times the
    shortest plus four.

    A cube is padded along three axes: one long row in a batch of short ones would cost more than all of them.
    """
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == size or lengths[row] > 4 + ratio * lengths[batch[0]]):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def predict(bundles: Sequence[Bundle], examples: Sequence, size: int = 64) -> list[list]:
    """The answer of each bundle to each example, [bundles][examples]: probabilities, spans or tags, as its kind says.

    Rows of similar length, from any example, share batches of at most `size`; the encoder reads each row once for all
    bundles.  Raises ConfigError if the bundles do not share an encoder.
    """
    require_shared_encoder(bundles)
    first = bundles[0]
    grouped = first.task.roles(examples, first.tokenizer, first.config.limits)
    rows = [row for example_rows in grouped for row in example_rows]
    outputs: list[list[Tensor]] = [[torch.empty(0)] * len(rows) for _ in bundles]
    for indices, batch_outputs in batched_outputs(bundles, rows, size):
        for bundle_outputs, in_batch in zip(outputs, batch_outputs):
            for index, output in zip(indices, in_batch):
                bundle_outputs[index] = output
    answers = []
    for bundle, bundle_outputs in zip(bundles, outputs):
        remaining = iter(bundle_outputs)
        per_example = [[next(remaining) for _ in example_rows] for example_rows in grouped]
        answers.append(bundle.kind.decode_all(bundle, grouped, per_example))
    return answers


def batched_outputs(bundles: Sequence[Bundle], rows: Sequence, size: int) -> Iterator[tuple[list[int], list[Tensor]]]:
    """Yield, for batches of rows of similar length, their indices in `rows` and each bundle's outputs on the CPU."""
    first = bundles[0]
    done = 0
    for indices in batch_by_length([row.length for row in rows], size):
        progress(done, len(rows))
        done += len(indices)
        with torch.inference_mode():
            encoded = first.encoder(first.batch([rows[i] for i in indices]))
            yield indices, [bundle.model(encoded).float().cpu() for bundle in bundles]
