"""The encoding of the living TAN: one pretrained encoder reads each sequence, and each text of the context, alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from triattn_core.attention.states import States
from triattn_core.inference.batch import Batch, RoleBatch
from triattn_core.models.encoder import AS_IT_IS, Encoded, Encoder, Given, filtered

NEAR = 1.5  # longest over shortest of what is padded to one length


@dataclass(frozen=True)
class ApartEncoder:
    """Two are equal where they read the same of the same encoder: then bundles share what they give.

    layers: of the states of query and key, and of those of the context.  attend_special: whether special tokens are
    context.  In the context every `[CLS]` begins a text that is encoded alone.
    """

    encoder: Encoder
    layers: tuple[int, int]
    attend_special: bool

    @property
    def joint(self) -> nn.Module:
        """The pretrained encoder."""
        return self.encoder.joint

    @property
    def hidden(self) -> int:
        """Width of a state."""
        return self.encoder.hidden

    @property
    def digest(self) -> str:
        """Of the encoder's tensors."""
        return self.encoder.digest

    def __call__(self, batch: Batch, given: Mapping[str, Given] = AS_IT_IS) -> Encoded:
        """States of a batch, of its cells where texts are filtered; no pooled vector.

        given: by role, what the encoder is given in place of the batch's words, or may attend to.
        """
        sequences = {
            "query": _alone(batch.query, given.get("query")),
            "key": _alone(batch.key, given.get("key")),
            "context": _texts(batch.context, given.get("context")),
        }
        states = self._states(sequences)
        query, key = (
            filtered(States(states[name][:, 1:-1], role.keep), role)
            for name, role in (("query", batch.query), ("key", batch.key))
        )
        context = sequences["context"].unfold(states["context"], batch.context.ids.shape)
        around = filtered(States(context, batch.context.keep), batch.context)
        if not self.attend_special:
            around = States(around.vectors, around.keep & ~_special_cells(batch.context))
        return Encoded(query, key, around, None)

    def _states(self, sequences: Mapping[str, Sequences]) -> dict[str, Tensor]:
        """The states of each role's sequences; what is plain text and alike is read once."""
        layer = dict(zip(("query", "key", "context"), (self.layers[0], *self.layers)))
        plain = {name: one.ids for name, one in sequences.items() if one.words is None and one.seen is None}
        found = {}
        for names in _of_like_width(plain):
            width = max(plain[name].shape[1] for name in names)
            ids = torch.cat([pad(plain[name], (0, width - plain[name].shape[1]), value=-1) for name in names])
            distinct, place = ids.unique(dim=0, return_inverse=True)
            every = self._run(distinct.clamp(min=0), distinct >= 0, None)
            for name, rows in zip(names, place.split([len(plain[name]) for name in names])):
                found[name] = every[layer[name]][rows, : plain[name].shape[1]]
        for name, one in sequences.items():
            if name not in found:
                seen = one.ids >= 0 if one.seen is None else one.seen
                states = self._run(one.ids.clamp(min=0), seen, one.words)[layer[name]]
                found[name] = states if one.rows is None else states[one.rows]
        return found

    def _run(self, ids: Tensor, seen: Tensor, words: Tensor | None) -> tuple[Tensor, ...]:
        what = {"input_ids": ids} if words is None else {"inputs_embeds": words}
        return self.joint(**what, attention_mask=seen.long(), output_hidden_states=True).hidden_states


@dataclass(frozen=True)
class Sequences:
    """What the encoder reads of a role: ids [S, n], -1 where padded; `words` and `seen` where an analysis gives them.

    rows: which sequence each row of the batch has, where rows are alike.
    row, column, sequence, place: of each token of a context its cell of the batch, and where it is read.
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
        """States [S, n, h] of the sequences, put where their tokens stand in the context: [B, J, h]."""
        found = states.new_zeros(*shape, states.shape[-1])
        found[self.row, self.column] = states[self.sequence, self.place]
        return found


def _alone(role: RoleBatch, given: Given | None) -> Sequences:
    real = torch.ones_like(role.alone, dtype=torch.bool)
    real[:, 2:] = role.keep  # n real tokens between two special ones
    ids = role.alone.masked_fill(~real, -1)
    if given is None:
        return Sequences(ids)
    some = slice(None) if given.words is None else slice(len(given.words))
    return Sequences(ids[some], given.words, given.seen, given.rows)


def _texts(context: RoleBatch, given: Given | None) -> Sequences:
    """The texts of the contexts, each from its `[CLS]` on."""
    given = given or Given()
    real = context.keep if given.seen is None or given.rows is not None else context.keep | given.seen.bool()
    row, column = real.nonzero(as_tuple=True)
    begins = ((context.ids == context.ids[:, :1]) & real)[row, column]
    sequence = begins.cumsum(0) - 1
    place = column - column[begins][sequence]  # tokens keep their places where others are gone
    count, size = int(begins.sum()), int(place.max()) + 1
    ids = context.ids.new_full((count, size), -1)
    ids[sequence, place] = context.ids[row, column]
    words = seen = None
    if given.words is not None:
        rows = torch.arange(len(context.ids), device=row.device) if given.rows is None else given.rows
        words = given.words.new_zeros(count, size, given.words.shape[-1])
        words[sequence, place] = given.words[rows[row], column]
    if given.seen is not None:
        seen = torch.zeros(count, size, dtype=torch.bool, device=row.device)
        rows = row if len(given.seen) == len(context.ids) or given.rows is None else given.rows[row]
        seen[sequence, place] = given.seen[rows, column].bool()
    return Sequences(ids, words, seen, None, row, column, sequence, place)


def _of_like_width(plain: Mapping[str, Tensor]) -> list[list[str]]:
    """The names in groups whose widths are near each other, narrow ones first."""
    groups: list[list[str]] = []
    for name in sorted(plain, key=lambda one: plain[one].shape[1]):
        if groups and plain[name].shape[1] <= NEAR * plain[groups[-1][0]].shape[1] + 4:
            groups[-1].append(name)
        else:
            groups.append([name])
    return groups


def _special_cells(context: RoleBatch) -> Tensor:
    """[B, tokens or cells] bool: special tokens are cells of their own."""
    if context.average is None:
        return context.special
    return (context.average * context.special[:, None]).sum(-1) > 0
