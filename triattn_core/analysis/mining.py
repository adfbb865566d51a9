"""Case studies, mined: two to four checkpoints over the same rows, in batches, and how much context moved attention."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pandas as pd
import torch

from triattn_core.analysis import answered
from triattn_core.analysis.mined import WINDOW, frame
from triattn_core.analysis.moved import moves, take
from triattn_core.batch import collate
from triattn_core.checkpoint import Bundle
from triattn_core.errors import ConfigError, DataError, InputError
from triattn_core.models import answers
from triattn_core.models.encoder import Encoded
from triattn_core.text.roles import Roles
from triattn_core.text.texts import Texts

FEWEST, MOST = 2, 4
SEVERAL = 8  # options of an example, about


@dataclass(frozen=True)
class Part:
    """What a batch gave: rows of the table (see `mined.Mined`), what was set aside, and the line that was come to."""

    table: pd.DataFrame
    aside: tuple[str, ...]
    line: int


def mine(bundles: Sequence[Bundle], rows: Iterable[tuple[int, object]], size: int = 64) -> Iterator[Part]:
    """A part for each batch; who stops iterating keeps the parts that came.

    rows: (line, example of the task, or a DataError that says why there is none), as `sources.examples` gives them.
    Rows are taken in windows and batched in these by length, each about `size` texts; an encoder reads a text once for
    all bundles that share it.  Raises ConfigError for bundles whose answers do not mean the same.
    """
    if not FEWEST <= len(bundles) <= MOST:
        raise ConfigError(f"cases are mined with {FEWEST} to {MOST} checkpoints, not {len(bundles)}")
    if len({bundle.name for bundle in bundles}) < len(bundles):
        raise ConfigError("a checkpoint is named twice: name each once")
    _comparable(bundles)
    groups, line = _groups(bundles), 0
    rows = iter(rows)
    while some := list(islice(rows, max(1, WINDOW // (SEVERAL if bundles[0].task.OUTPUTS == 1 else 1)))):
        good, aside = _read([group[0] for group in groups], some)
        batches = list(_batches(good, size)) or [[]]
        for number, batch in enumerate(batches, 1):
            at = line + (some[-1][0] - line) * number // len(batches)
            yield Part(_table(bundles, groups, batch), tuple(aside) if number == 1 else (), at)
        line = some[-1][0]


def _comparable(bundles: Sequence[Bundle]) -> None:
    first = bundles[0]
    for other in bundles[1:]:
        for what in ("task", "language", "labels"):
            if getattr(other.config, what, ()) != getattr(first.config, what, ()):
                raise ConfigError(f"{first.name} and {other.name} differ in their {what}: ask them apart")
        if other.device != first.device:
            raise ConfigError(f"{first.name} and {other.name} stand on two devices: load them on one")


def _groups(bundles: Sequence[Bundle]) -> list[list[Bundle]]:
    """Bundles that share what is read: the encoder, and how much of a text it takes."""
    found: dict[tuple, list[Bundle]] = {}
    for one in bundles:
        read = (getattr(one.config, what, ()) for what in ("max_tokens", "cells"))
        found.setdefault((id(one.encoder), getattr(one.config.model, "vectors", ()), *read), []).append(one)
    return list(found.values())


def _read(readers: Sequence[Bundle], some: Sequence[tuple[int, object]]) -> tuple[list[tuple], list[str]]:
    """(line, example, [its roles for each reader]) of what all can read, and what is wrong with the others."""
    good, aside = [], [str(one) for _, one in some if isinstance(one, DataError)]
    some = [(line, example) for line, example in some if not isinstance(example, DataError)]
    try:
        return [(*one, of) for one, of in zip(some, _roles(readers, [example for _, example in some]))], aside
    except InputError:  # one of them; now one by one
        for line, example in some:
            try:
                good.append((line, example, *_roles(readers, [example])))
            except InputError as error:
                aside.append(f"line {line}: {error}")
    return good, aside


def _roles(readers: Sequence[Bundle], examples: list) -> list[list[Sequence[Roles | Texts]]]:
    """[examples][readers][options]."""
    if not examples:
        return []
    return list(map(list, zip(*(one.task.roles(examples, one.tokenizer, one.config.limits) for one in readers))))


def _batches(good: Sequence[tuple], size: int) -> Iterator[list[tuple]]:
    """Examples of like length together, each with all its options."""
    batch: list[tuple] = []
    for one in sorted(good, key=lambda one: max(roles.length for of in one[2] for roles in of)):
        batch.append(one)
        if sum(len(of[0]) for *_, of in batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch


def _table(
    bundles: Sequence[Bundle], groups: Sequence[Sequence[Bundle]], good: Sequence[tuple]
) -> pd.DataFrame:
    """A row for each (line, example, its roles for each group); columns in the order of the bundles."""
    task, checkpoints = bundles[0].task, [(bundle.name, bundle.config.model.mechanism) for bundle in bundles]
    found = {
        "row": [line for line, *_ in good],
        "id": [str(example.id)[:80] for _, example, _ in good],
        "label": [-1 if example.label is None else example.label for _, example, _ in good],
        "tokens": [max(one.tokens for one in of[0]) for *_, of in good],
    }
    if bundles[0].config.kind == "reader":
        return frame(found | answered.columns(groups, [example for _, example, _ in good]), checkpoints, task.NAME)
    counts = [len(of[0]) for *_, of in good]
    first = np.cumsum([0, *counts[:-1]])
    for bundle, logits, encoded in _run(groups, good):
        said = answers.probabilities(logits, counts)
        best = [int(np.argmax(one)) for one in said]
        right = [e.label is not None and task.verdict(e, one)[0] for (_, e, _), one in zip(good, said)]
        found[f"{bundle.name} answer"] = best
        found[f"{bundle.name} confidence"] = [min(round(one[at], 4), 0.9999) for one, at in zip(said, best)]
        found[f"{bundle.name} right"] = right
        if bundle.config.model.mechanism == "tri":
            # Of several options the one that is chosen, as the pages trace it; of a single one that one.
            chosen = first + np.minimum(best, np.subtract(counts, 1))
            moved = moves(bundle.model, take(encoded, torch.from_numpy(chosen)))
            found[f"{bundle.name} moved"] = [round(one, 5) for one, _ in moved]
            found[f"{bundle.name} moved at"] = [np.round(one, 4).astype(np.float32) for _, one in moved]
    return frame(found, checkpoints)


def _run(
    groups: Sequence[Sequence[Bundle]], good: Sequence[tuple]
) -> Iterator[tuple[Bundle, torch.Tensor, Encoded]]:
    """Of each bundle its outputs [rows, outputs], and what its encoder has read."""
    for number, group in enumerate(groups if good else ()):
        roles = [one for *_, of in good for one in of[number]]
        with torch.inference_mode():
            encoded = group[0].encoder(collate(roles, group[0].tokenizer).to(group[0].device))
            for bundle in group:
                yield bundle, bundle.model(encoded).float().cpu(), encoded
