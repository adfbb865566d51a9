"""Batches of problems in numbers: the values themselves, where each stands, and the words around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from triattn_core.tasks.operands.example import Example, place_of
from triattn_core.tasks.operands.gsm8k import MOST
from triattn_core.tasks.operands.operand_pairs import OperandRoles
from triattn_core.tasks.operands.word_numbers import AROUND, HERE, KINDS, Number, held_by_steps
from triattn_core.text.tokenizer import Tokenizer

BUCKETS = 2048  # that words are hashed to, from 1; 0 is no word
LONGEST = 24  # sub-words on one side of a number that are read


@dataclass(frozen=True)
class NumberBatch:
    """B problems of at most n numbers.

    results: [B] double, the numbers made.  values: [B, n] double.  kinds, places, held: [B, n] long; a place counts
    from the last number, `held` is 1 where the words of an earlier step hold the value.  words: [B, n, 2 AROUND] long,
    buckets of the words before and after; of a frozen encoder [B, n, w] long, see `windows`, or [B, n, features], what
    it makes of them.  keep: [B, n] bool.  truth: [B, n, n] bool, both orders of the true pairs.
    """

    results: Tensor
    values: Tensor
    kinds: Tensor
    places: Tensor
    held: Tensor
    words: Tensor
    keep: Tensor
    truth: Tensor

    def to(self, device: str | torch.device) -> NumberBatch:
        """The batch on a device."""
        return NumberBatch(*(tensor.to(device) for tensor in vars(self).values()))

    def take(self, rows: Tensor) -> NumberBatch:
        """Some rows, as wide as their longest."""
        width = int(self.keep[rows].sum(1).max())
        short = {name: tensor[rows] for name, tensor in vars(self).items()}
        narrow = {name: t[:, :width] if t.ndim > 1 else t for name, t in short.items()}
        return NumberBatch(**narrow | {"truth": short["truth"][:, :width, :width]})


def number_batch(rows: Sequence[OperandRoles], tokenizer: Tokenizer | None = None) -> NumberBatch:
    """The batch of some roles."""
    return example_batch([row.example for row in rows if row.example is not None], tokenizer)


def example_batch(examples: Sequence[Example], tokenizer: Tokenizer | None = None) -> NumberBatch:
    """The batch of some examples, padded to the longest; with a tokenizer, `words` are those of a frozen encoder."""
    width = max(len(example.numbers) for example in examples)
    keep = torch.zeros(len(examples), width, dtype=torch.bool)
    values = torch.zeros(len(examples), width, dtype=torch.double)
    kinds, places, held = (torch.zeros(len(examples), width, dtype=torch.long) for _ in range(3))
    around = [torch.tensor([buckets(number) for number in example.numbers]) for example in examples]
    if tokenizer is not None:
        around = windows(examples, tokenizer)
    words = torch.zeros(len(examples), width, max(part.shape[-1] for part in around), dtype=torch.long)
    truth = torch.zeros(len(examples), width, width, dtype=torch.bool)
    for row, example in enumerate(examples):
        size = len(example.numbers)
        keep[row, :size] = True
        values[row, :size] = torch.tensor([number.value for number in example.numbers], dtype=torch.double)
        kinds[row, :size] = torch.tensor([KINDS.index(number.kind) for number in example.numbers])
        places[row, :size] = torch.arange(size - 1, -1, -1)
        held[row, :size] = torch.tensor(held_by_steps(example.numbers), dtype=torch.long)
        words[row, :size, : around[row].shape[-1]] = around[row]
        for i, j in example.truth:
            truth[row, i, j] = truth[row, j, i] = True
    results = torch.tensor([example.result for example in examples], dtype=torch.double)
    return NumberBatch(results, values, kinds, places, held, words, keep, truth)


def buckets(number: Number) -> list[int]:
    """The bucket of each word before and after a number, 0 where there is none: [2 AROUND]."""
    before, after = ([bucket(word) for word in side] for side in sides(number))
    return [0] * (AROUND - len(before)) + before + after + [0] * (AROUND - len(after))


def sides(number: Number) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Up to AROUND words before a number, and after it."""
    here = number.words.index(HERE)
    return number.words[:here][-AROUND:], number.words[here + 1 :][:AROUND]


def windows(examples: Sequence[Example], tokenizer: Tokenizer) -> list[Tensor]:
    """Of each example, `[CLS] words before [MASK] words after [SEP]` of each number [n, w] long, padded at the end."""
    texts = [" ".join(side) for example in examples for number in example.numbers for side in sides(number)]
    found = iter(tokenizer.encode(texts, LONGEST))
    cls, mask, sep, pad = (tokenizer.special[name] for name in ("cls", "mask", "sep", "pad"))
    made = []
    for example in examples:
        rows = [torch.tensor([cls, *next(found).ids, mask, *next(found).ids, sep]) for _ in example.numbers]
        made.append(pad_sequence(rows, batch_first=True, padding_value=pad))
    return made


@lru_cache(maxsize=1 << 16)
def bucket(word: str) -> int:
    """The bucket of a word, the same on every machine."""
    return 1 + crc32(word.encode()) % BUCKETS


def pair_logits(cells: Tensor) -> Tensor:
    """Weights [B, n, n] of ordered pairs → log of the weight of unordered ones [B, pairs of MOST positions]."""
    size = cells.shape[-1]
    both = cells + cells.mT
    logits = both.new_full((len(cells), MOST * (MOST - 1) // 2), -torch.inf)
    first, second = torch.triu_indices(size, size, 1)
    places = torch.tensor([place_of((i, j)) for i, j in zip(first.tolist(), second.tolist())], dtype=torch.long)
    logits[:, places] = both[:, first, second].log()
    return logits
