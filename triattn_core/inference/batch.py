"""Pads roles to tensors with keep-masks (True = a real token, everywhere)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from triattn_core.tasks.laboratory import Vocabulary
from triattn_core.text.roles import ROLES, Role, Roles
from triattn_core.text.texts import Texts
from triattn_core.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class RoleBatch:
    """The tensors of one role of a batch.

    ids, types, positions: [B, n] long.  keep: [B, n] bool.  alone: [B, n + 2], the ids as `[CLS] … [SEP]`.
    average: [B, cells, n], for long texts the matrix that averages the tokens of each cell; otherwise None.
    special: [B, n] bool, `[CLS]` and `[SEP]`.
    """

    ids: Tensor
    types: Tensor
    positions: Tensor
    keep: Tensor
    alone: Tensor
    average: Tensor | None = None
    special: Tensor | None = None

    def to(self, device: str | torch.device) -> RoleBatch:
        tensors: dict[str, Any] = {name: tensor.to(device) for name, tensor in vars(self).items() if tensor is not None}
        return RoleBatch(**tensors)


@dataclass(frozen=True)
class Batch:
    """Query [B, N], key [B, I] and context [B, J] of B examples."""

    query: RoleBatch
    key: RoleBatch
    context: RoleBatch

    def to(self, device: str | torch.device) -> Batch:
        return Batch(self.query.to(device), self.key.to(device), self.context.to(device))


@dataclass(frozen=True)
class TextBatch:
    """Texts of B examples, each encoded separately, in the order of the task."""

    texts: tuple[RoleBatch, ...]

    def to(self, device: str | torch.device) -> TextBatch:
        return TextBatch(tuple(batch.to(device) for batch in self.texts))


def collate(roles: Sequence[Roles] | Sequence[Texts], tokenizer: Tokenizer | Vocabulary) -> Batch | TextBatch:
    """Batch the roles or texts of examples, each padded to its longest."""
    texts = [row for row in roles if isinstance(row, Texts)]
    if texts:
        return TextBatch(tuple(_pad([row.roles[name] for row in texts], tokenizer) for name in texts[0].roles))
    return Batch(*(_pad([getattr(row, name) for row in roles], tokenizer) for name in ROLES))


def _pad(roles: Sequence[Role], tokenizer: Tokenizer | Vocabulary) -> RoleBatch:
    sizes = [len(role.ids) for role in roles]
    width = max(sizes)
    pad, cls, sep = (tokenizer.special[name] for name in ("pad", "cls", "sep"))
    return RoleBatch(
        ids=_rows([role.ids for role in roles], pad, width),
        types=_rows([role.types for role in roles], 0, width),
        positions=_rows([role.positions for role in roles], 0, width),
        keep=torch.arange(width) < torch.tensor(sizes)[:, None],
        alone=_rows([(cls, *role.ids, sep) for role in roles], pad, width + 2),
        average=_average(roles, width) if any(role.cells for role in roles) else None,
        special=_rows([role.special for role in roles], False, width),
    )


def _rows(rows: Sequence[Sequence[int]], fill: int, width: int) -> Tensor:
    """A row each, filled to this width."""
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows])


def _average(roles: Sequence[Role], width: int) -> Tensor:
    averages = torch.zeros(len(roles), max(len(role.runs) for role in roles), width)
    for row, role in enumerate(roles):
        for cell, (start, end) in enumerate(role.runs):
            averages[row, cell, start:end] = 1 / (end - start)
    return averages
