"""The encoding of the living TAN: one pretrained encoder reads each sequence and each context text separately."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from triattn_core.attention.states import States
from triattn_core.inference.batch import Batch, RoleBatch
from triattn_core.models.encoder import AS_IT_IS, Encoded, Encoder, EncoderUser, InputOverride, pool_cells
from triattn_core.text.roles import ROLES

NEAR = 1.5  # largest ratio of widths that are padded to one


@dataclass(frozen=True)
class ApartEncoder(EncoderUser):
    """Encodes query, key and context texts separately.  Equal instances give equal states, which bundles share.

    layers: the encoder layer of query and key, and that of the context.  attend_special: whether special tokens are
    context.  In the context, every `[CLS]` begins a text that is encoded separately.
    """

    encoder: Encoder
    layers: tuple[int, int]
    attend_special: bool

    @property
    def joint(self) -> nn.Module:
        """The pretrained encoder."""
        return self.encoder.joint

    def __call__(self, batch: Batch, overrides: Mapping[str, InputOverride] = AS_IT_IS) -> Encoded:
        """States of a batch (of its cells, for long texts); no pooled vector.

        overrides: by role, word vectors that replace the batch's words, or a mask of the tokens that are attended to.
        """
        sequences = {
            "query": _encode_alone(batch.query, overrides.get("query")),
            "key": _encode_alone(batch.key, overrides.get("key")),
            "context": _texts(batch.context, overrides.get("context")),
        }
        states = self._states(sequences)
        query, key = (
            pool_cells(States(states[name][:, 1:-1], role.keep), role)
            for name, role in (("query", batch.query), ("key", batch.key))
        )
        context = sequences["context"].unfold(states["context"], batch.context.ids.shape)
        around = pool_cells(States(context, batch.context.keep), batch.context)
        if not self.attend_special:
            around = States(around.vectors, around.keep & ~_special_cells(batch.context))
        return Encoded(query, key, around, None)

    def _states(self, sequences: Mapping[str, Sequences]) -> dict[str, Tensor]:
        """The states of each role's sequences; equal sequences without overrides are read once."""
        layer = dict(zip(ROLES, (self.layers[0], *self.layers)))
        plain_ids = {
            name: sequence.ids
            for name, sequence in sequences.items()
            if sequence.words is None and sequence.seen is None
        }
        states_by_role = {}
        for names in _group_by_width(plain_ids):
            width = max(plain_ids[name].shape[1] for name in names)
            ids = torch.cat([pad(plain_ids[name], (0, width - plain_ids[name].shape[1]), value=-1) for name in names])
            distinct, positions = ids.unique(dim=0, return_inverse=True)
            layer_states = self._run(distinct.clamp(min=0), distinct >= 0, None)
            for name, rows in zip(names, positions.split([len(plain_ids[name]) for name in names])):
                states_by_role[name] = layer_states[layer[name]][rows, : plain_ids[name].shape[1]]
        for name, inputs in sequences.items():
            if name not in states_by_role:
                states = self._overridden(inputs, layer[name])
                states_by_role[name] = states if inputs.rows is None else states[inputs.rows]
        return states_by_role

    def _overridden(self, inputs: Sequences, layer: int) -> Tensor:
        """States [S, n, h] of sequences with overrides; those of equal ids and masks are read once."""
        ids, mask = inputs.ids.clamp(min=0), inputs.ids >= 0 if inputs.seen is None else inputs.seen
        if inputs.words is not None:
            return self._run(ids, mask, inputs.words)[layer]
        distinct, rows = torch.stack([ids, mask.long()], 1).unique(dim=0, return_inverse=True)
        return self._run(distinct[:, 0], distinct[:, 1].bool(), None)[layer][rows]

    def _run(self, ids: Tensor, mask: Tensor, words: Tensor | None) -> tuple[Tensor, ...]:
        words_or_ids = {"input_ids": ids} if words is None else {"inputs_embeds": words}
        return self.joint(**words_or_ids, attention_mask=mask.long(), output_hidden_states=True).hidden_states


@dataclass(frozen=True)
class Sequences:
    """The sequences of a role: ids [S, n], -1 where padded; `words` and `seen` if an analysis overrides them.

    rows: the sequence of each row of the batch, if rows share sequences.
    row, column, sequence, place: of each context token, its position in the batch and in the sequences.
    """

    ids: Tensor
    words: Tensor | None = None
    seen: Tensor | None = None
    rows: Tensor | None = None
    row: Tensor | None = None
    column: Tensor | None = None
    sequence: Tensor | None = None
    place: Tensor | None = None

    def unfold(self, states: Tensor, shape: Sequence[int]) -> Tensor:
        """Scatter states [S, n, h] of the sequences to the positions of their tokens in the context: [B, J, h]."""
        unfolded = states.new_zeros(*shape, states.shape[-1])
        unfolded[self.row, self.column] = states[self.sequence, self.place]
        return unfolded


def _encode_alone(role: RoleBatch, override: InputOverride | None) -> Sequences:
    real = torch.ones_like(role.alone, dtype=torch.bool)
    real[:, 2:] = role.keep  # n real tokens between two special ones
    ids = role.alone.masked_fill(~real, -1)
    if override is None:
        return Sequences(ids)
    rows = slice(None) if override.words is None else slice(len(override.words))
    return Sequences(ids[rows], override.words, override.seen, override.rows)


def _texts(context: RoleBatch, override: InputOverride | None) -> Sequences:
    """The texts of the contexts as sequences, each starting at its `[CLS]`."""
    override = override or InputOverride()
    real = context.keep if override.seen is None or override.rows is not None else context.keep | override.seen.bool()
    row, column = real.nonzero(as_tuple=True)
    is_start = ((context.ids == context.ids[:, :1]) & real)[row, column]
    sequence = is_start.cumsum(0) - 1
    place = column - column[is_start][sequence]  # tokens keep their places if others are removed
    count, size = int(is_start.sum()), int(place.max()) + 1
    ids = context.ids.new_full((count, size), -1)
    ids[sequence, place] = context.ids[row, column]
    words = seen = None
    if override.words is not None:
        rows = torch.arange(len(context.ids), device=row.device) if override.rows is None else override.rows
        words = override.words.new_zeros(count, size, override.words.shape[-1])
        words[sequence, place] = override.words[rows[row], column]
    if override.seen is not None:
        seen = torch.zeros(count, size, dtype=torch.bool, device=row.device)
        rows = row if len(override.seen) == len(context.ids) or override.rows is None else override.rows[row]
        seen[sequence, place] = override.seen[rows, column].bool()
    return Sequences(ids, words, seen, None, row, column, sequence, place)


def _group_by_width(plain: Mapping[str, Tensor]) -> list[list[str]]:
    """The roles in groups of similar width, narrow ones first."""
    groups: list[list[str]] = []
    for name in sorted(plain, key=lambda role: plain[role].shape[1]):
        if groups and plain[name].shape[1] <= NEAR * plain[groups[-1][0]].shape[1] + 4:
            groups[-1].append(name)
        else:
            groups.append([name])
    return groups


def _special_cells(context: RoleBatch) -> Tensor:
    """[B, tokens or cells] bool: which are special tokens, each a cell of its own."""
    assert context.special is not None  # `collate` fills it
    if context.average is None:
        return context.special
    return (context.average * context.special[:, None]).sum(-1) > 0
