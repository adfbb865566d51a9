"""Variants of one example with tokens removed, evaluated in batches.

Query and key are read apart from the context (BERT_t), so that they stay what they are whatever becomes of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor

from triattn_core.attention.states import States
from triattn_core.attention.tap import is_recording
from triattn_core.attention.tri import LARGEST
from triattn_core.attention.tri_similarity.exponential import without_compilation
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.configs.tan import TanConfig
from triattn_core.errors import ConfigError
from triattn_core.inference.batch import Batch, RoleBatch, collate
from triattn_core.inference.pause import progress
from triattn_core.inference.predict import batch_by_length
from triattn_core.models import answers
from triattn_core.models.encoder import Encoded, Encoder, InputOverride, first_real
from triattn_core.models.tan import Tan
from triattn_core.tasks import require_option
from triattn_core.text.roles import ROLES, Role, Roles

LENGTH_RATIO = 1.05  # times the shortest text of a batch of variants: longer ones go into the next, most time is BERT's


@dataclass(frozen=True)
class Query:
    """One example under one checkpoint: its options and scores, and the answer whose log-odds are followed.

    options: the roles of each text to choose from, one where there is nothing to choose.  option: the one that is
    traced.  scores: [answers], before their softmax.  answer: the index of the answer whose log-odds are followed.
    """

    bundle: Bundle
    example: Any
    options: tuple[Roles, ...]
    option: int
    scores: Tensor
    answer: int

    @property
    def roles(self) -> Roles:
        return self.options[self.option]

    def answer_scores(self, outputs: Tensor) -> Tensor:
        """Scores [V, answers] from outputs [V, outputs] of the traced option; other options keep their scores."""
        if len(self.options) == 1:
            return answers.scores(outputs, [1] * len(outputs))
        scores = self.scores.repeat(len(outputs), 1)
        scores[:, self.option] = outputs[:, 0]
        return scores

    def log_odds(self, outputs: Tensor) -> Tensor:
        """log p - log(1 - p) [V] of the answer, from outputs [V, outputs] of the traced option."""
        return log_odds(self.answer_scores(outputs), self.answer)

    def probability(self, outputs: Tensor) -> Tensor:
        """p [V] of the answer."""
        return self.answer_scores(outputs).double().softmax(-1)[:, self.answer]


def run_query(bundle: Bundle, example, option: int | None = None) -> Query:
    """Evaluates an example once and follows the best answer; if texts are chosen from, that of the traced option.

    Raises InputError for an example that cannot be read, ConfigError for a model without query, key and context.
    """
    if not isinstance(bundle.model, Tan):
        raise ConfigError(f"{bundle.name}: available for models that read query, key and context: Bi, C-Bi and Tri")
    example.check()
    options = tuple(bundle.task.roles([example], bundle.tokenizer, bundle.config.limits)[0])
    require_option(bundle.task, option, len(options))
    with without_compilation():
        outputs = torch.cat([bundle.logits(collate([roles], bundle.tokenizer)) for roles in options])
    scores = answers.scores(outputs, [len(options)])[0]
    best = int(scores.argmax())
    option = (best if len(options) > 1 else 0) if option is None else option
    return Query(bundle, example, options, option, scores, option if len(options) > 1 else best)


def log_odds(scores: Tensor, answer: int) -> Tensor:
    """Log-odds [V] of an answer from scores [V, answers], at least two; of two classes the difference of their
    scores."""
    other_scores = torch.cat([scores[:, :answer], scores[:, answer + 1 :]], 1)
    return scores[:, answer] - other_scores.logsumexp(1)


def outputs_without(
    bundle: Bundle, roles: Roles, removed: Mapping[str, Tensor], read: bool = False, own_context: bool = True
) -> Tensor:
    """Outputs [V, outputs], on the CPU, of V variants of one example with tokens removed.

    removed: by role, [V, n] bool over its tokens, which no part of the model reads.  `[CLS]` and `[SEP]` stay
    in the context as long as a word does; without one there is no context at all, and Tri-Attention falls back to
    Bi-Attention (section IV-A).
    read: BERT_n still reads the tokens removed from the context, so that only attention loses them.
    own_context: False if query and key are not part of the context: C-Bi-Attention then falls back too.
    """
    outputs = torch.empty(len(removed["context"]), bundle.num_outputs)
    with torch.inference_mode(), without_compilation():
        for places, encoded in encode_variants(bundle, roles, removed, read):
            encoded = encoded if own_context else drop_own_context(encoded)
            outputs[places] = bundle.model(encoded if is_recording() else drop_removed(encoded)).float().cpu()
    return outputs


def encode_variants(
    bundle: Bundle, roles: Roles, removed: Mapping[str, Tensor], read: bool = False
) -> Iterator[tuple[list[int], Encoded]]:
    """Yields the encodings of the variants of `outputs_without`, in batches of similar length."""
    batch, encoder = cast(Batch, collate([roles], bundle.tokenizer)).to(bundle.device), cast(Encoder, bundle.encoder)
    done, total = 0, len(removed["context"])
    for places in batch_by_length((~removed["context"]).sum(1).tolist(), batch_size(bundle, roles), LENGTH_RATIO):
        if total > 1:
            progress(done, total)
        done += len(places)
        masks = {role: mask[places].to(bundle.device) for role, mask in removed.items()}
        yield places, encoder(*_variant_batch(batch, roles, masks, read))


def row_slices(rows: int, bundle: Bundle, roles: Roles, share: int = 1) -> Iterator[slice]:
    """Slices of rows, each as large as cubes of LARGEST / share cells allow."""
    size = batch_size(bundle, roles, share)
    return (slice(start, start + size) for start in range(0, rows, size))


def batch_size(bundle: Bundle, roles: Roles, share: int = 1) -> int:
    """The number of rows in a slice of `row_slices`."""
    cells = (
        cast(TanConfig, bundle.config.model).heads
        * len(roles.query.runs)
        * len(roles.key.runs)
        * len(roles.context.runs)
    )
    return max(1, LARGEST // (share * cells))


def repeat_batch(batch: Batch, rows: int) -> Batch:
    """A batch of one example repeated `rows` times."""

    def many(role: RoleBatch) -> RoleBatch:
        repeated: Any = (None if t is None else t.expand(rows, *t.shape[1:]) for t in vars(role).values())
        return RoleBatch(*repeated)

    return Batch(*(many(getattr(batch, role)) for role in ROLES))


def repeat_encoded(encoded: Encoded, count: int) -> Encoded:
    """The encoding of one example repeated `count` times."""

    def many(states: States) -> States:
        repeated: Any = (None if t is None else t.expand(count, *t.shape[1:]) for t in vars(states).values())
        return States(*repeated)

    pooled = None if encoded.pooled is None else encoded.pooled.expand(count, -1)
    return Encoded(many(encoded.query), many(encoded.key), many(encoded.context), pooled)


def _variant_batch(
    example: Batch, roles: Roles, removed: Mapping[str, Tensor], read: bool
) -> tuple[Batch, dict[str, InputOverride]]:
    """A batch of variants and the BERT inputs for it; of one example, so without padding."""
    batch, overrides = repeat_batch(example, len(next(iter(removed.values())))), {}
    for role, mask in removed.items():
        role_batch: RoleBatch = getattr(batch, role)
        if role == "context":
            special = torch.tensor(roles.context.special, device=mask.device)
            keep = (~mask | special) & (~mask & ~special).any(1, keepdim=True)
            overrides[role] = InputOverride(seen=role_batch.keep if read else ~mask | special)
        else:
            keep, edge = ~mask, mask.new_ones(len(mask), 1)
            overrides[role] = InputOverride(seen=torch.cat([edge, keep, edge], 1))
        batch = replace(
            batch, **{role: replace(role_batch, keep=keep, average=_average_kept(role_batch.average, keep))}
        )
    return batch, overrides


def _average_kept(average: Tensor | None, keep: Tensor) -> Tensor | None:
    """Averaging weights over the kept tokens of each cell; a cell without kept tokens is removed."""
    if average is None:
        return None
    weights = average * keep[:, None]
    return weights / weights.sum(-1, keepdim=True).clamp_min(torch.finfo(weights.dtype).tiny)


def drop_removed(encoded: Encoded) -> Encoded:
    """The encoding without removed positions, padded to the longest row, to save computation."""

    def gather(states: States) -> States:
        order = first_real(states.keep)

        def reorder(vectors: Tensor) -> Tensor:
            return vectors.gather(1, order[..., None].expand(-1, -1, vectors.shape[-1]))

        own_context = None if states.own is None else reorder(states.own)
        return States(reorder(states.vectors), states.keep.gather(1, order), own_context)

    return Encoded(gather(encoded.query), gather(encoded.key), gather(encoded.context), encoded.pooled)


def drop_own_context(encoded: Encoded) -> Encoded:
    """The encoding without each token's own context vector."""
    return replace(encoded, query=replace(encoded.query, own=None), key=replace(encoded.key, own=None))


def word_positions(role: Role) -> list[int]:
    """The positions of a role's tokens that are not special."""
    return [i for i, special in enumerate(role.special) if not special]


def removal_masks(roles: Roles, places: Sequence[Sequence[int]], everywhere: bool = True) -> dict[str, Tensor]:
    """Masks for `outputs_without`: for each of V variants the removed positions of the joint sequence, in the context
    and, with `everywhere`, in query and key too."""
    context = torch.zeros(len(places), len(roles.context), dtype=torch.bool)
    for row, positions in enumerate(places):
        context[row, list(positions)] = True
    masks = {"context": context}
    if everywhere:
        for name in ("query", "key"):
            role_positions = torch.tensor(getattr(roles, name).positions)
            masks[name] = context[:, role_positions] & (role_positions >= 0)  # what stands outside of the context stays
    return masks


@contextmanager
def gradients_enabled() -> Iterator[None]:
    """Enables gradients inside, even if a page has turned them off."""
    with torch.inference_mode(False), torch.enable_grad(), without_compilation():
        yield
