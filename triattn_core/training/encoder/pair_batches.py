"""Post-training rows of an encoder: two sequences and whether they match, as batches for BERT."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn

from triattn_core.tasks import TASKS
from triattn_core.tasks import pairs as pairs_task
from triattn_core.text.roles import Limits, segment_ids
from triattn_core.text.rows import matches
from triattn_core.text.tokenizer import Tokenizer

Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """The token ids of two sentences and the pair's label; minimal, because there are many."""

    a: Ids
    b: Ids
    label: int

    def __len__(self) -> int:
        return len(self.a) + len(self.b) + 3


Group = list[Pair]  # the options of an example; a single pair is one of its own


def read_pairs(files: Sequence[Path], tokenizer: Tokenizer, limit: int, training: bool = True) -> list[Pair]:
    """All labelled pairs of the files, tokenized; for training files, those that may be trained on."""
    pairs = []
    for file in files:
        rows = (example for example in pairs_task.read(file, training) if example.label is not None)
        while part := list(islice(rows, 10_000)):
            a = tokenizer.encode([example.text_a for example in part], limit)
            b = tokenizer.encode([example.text_b for example in part], limit)
            labels = (example.label for example in part if example.label is not None)
            pairs += [Pair(left.ids, right.ids, label) for left, right, label in zip(a, b, labels)]
    return pairs


def collate(rows: Sequence[Pair], tokenizer: Tokenizer, match: bool | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """ids, types, keep, each [B, J], of `[CLS] A [SEP] B [SEP]`."""
    width = max(map(len, rows))
    ids = torch.full((len(rows), width), tokenizer.special["pad"])
    types = torch.zeros_like(ids)
    cls, sep = tokenizer.special["cls"], tokenizer.special["sep"]
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor([cls, *row.a, sep, *row.b, sep])
        types[i, len(row.a) + 2 : len(row)] = 1
        if tokenizer.match if match is None else match:
            a, b = segment_ids(row.a, row.b, tokenizer)
            types[i, 1 : len(a) + 1], types[i, len(a) + 2 : len(row) - 1] = torch.tensor(a), torch.tensor(b)
    return ids, types, ids != tokenizer.special["pad"]


def collate_texts(texts: Sequence[Ids], tokenizer: Tokenizer) -> tuple[Tensor, Tensor]:
    """ids and keep, each [texts, n], of `[CLS] text [SEP]`."""
    cls, sep, pad = (tokenizer.special[name] for name in ("cls", "sep", "pad"))
    ids = torch.full((len(texts), max(map(len, texts)) + 2), pad)
    for i, text in enumerate(texts):
        ids[i, : len(text) + 2] = torch.tensor([cls, *text, sep])
    return ids, ids != pad


def mean_vectors(bert: nn.Module, ids: Tensor, keep: Tensor) -> Tensor:
    """Mean vectors [texts, h] of BERT's last states over the tokens of each text, including special ones."""
    states = bert(input_ids=ids, attention_mask=keep.long()).last_hidden_state.float()
    return (states * keep[..., None]).sum(1) / keep.sum(1, keepdim=True)


def mask(ids: Tensor, tokenizer: Tokenizer, share: float) -> tuple[Tensor, Tensor]:
    """Ids [B, J] with a share of the tokens masked (80 % as [MASK], 10 % as a random token), and the mask."""
    ordinary = ~torch.isin(ids, torch.tensor(list(tokenizer.special.values())))
    hidden = ordinary & (torch.rand(ids.shape) < share)
    draw = torch.rand(ids.shape)
    visible = torch.where(hidden & (draw < 0.8), tokenizer.special["mask"], ids)
    random = torch.randint(len(tokenizer), ids.shape)
    return torch.where(hidden & (draw >= 0.9), random, visible), hidden


def read_options(
    files: Sequence[Path], task: str, tokenizer: Tokenizer, limit: int, where: dict[str, str], training: bool = True
) -> Iterator[Group]:
    """Yield the options of each example of a choice task as pairs: context, option, whether it is right.

    The first sequence is BERT's first segment: the dialogue, or the passage.
    """
    task_module = TASKS[task]
    rows = (example for file in files for example in task_module.read(file, training) if example.label is not None)
    rows = (example for example in rows if matches(vars(example), where))
    while part := list(islice(rows, 512)):
        for example, options in zip(part, task_module.roles(part, tokenizer, Limits(limit))):
            right = example.label if len(options) > 1 else 1 - example.label
            yield [_pair(option.context.ids, option.context.types, int(i == right)) for i, option in enumerate(options)]


def _pair(ids: Ids, types: Sequence[int], label: int) -> Pair:
    second = types.index(1)
    return Pair(ids[1 : second - 1], ids[second:-1], label)


def swap_pairs(rows: Sequence[Pair], share: float) -> list[Pair]:
    """The rows with a share of them swapped, B before A, because the relation is symmetric."""
    is_swapped = torch.rand(len(rows)) < share
    return [Pair(row.b, row.a, row.label) if swap else row for row, swap in zip(rows, is_swapped.tolist())]


def count_and_labels(groups: Sequence[Group]) -> tuple[list[int], Tensor]:
    """The number of rows of each example, and the index of the right one (for a single row, whether it is right)."""
    labels = [group[0].label if len(group) == 1 else [row.label for row in group].index(1) for group in groups]
    return [len(group) for group in groups], torch.tensor(labels)
