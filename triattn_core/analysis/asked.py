"""One example of a checkpoint asked many times over, each time with tokens gone, in batches.

Query and key are read apart from the context (BERT_t), so that they stay what they are whatever becomes of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from triattn_core.attention.similarity.exponential import at_once
from triattn_core.attention.states import States
from triattn_core.attention.tap import recorded
from triattn_core.attention.tri import LARGEST
from triattn_core.batch import Batch, RoleBatch, collate
from triattn_core.checkpoint import Bundle, alike
from triattn_core.errors import ConfigError
from triattn_core.models import answers
from triattn_core.models.encoder import Encoded, Given, first_real
from triattn_core.models.tan import Tan
from triattn_core.tasks import chosen
from triattn_core.text.roles import Role, Roles

ROLES = ("query", "key", "context")
LIKE = 1.05  # times the shortest text of a batch of variants: longer ones go into the next, most time is BERT's


@dataclass(frozen=True)
class Asked:
    """What a bundle says of an example, and which of its answers is looked at.

    options: the roles of each text to choose from, one where there is nothing to choose.  option: the one that is
    traced.  scores: [answers], before their softmax.  answer: the index of the answer whose log-odds are followed.
    """

    bundle: Bundle
    example: object
    options: tuple[Roles, ...]
    option: int
    scores: Tensor
    answer: int

    @property
    def roles(self) -> Roles:
        return self.options[self.option]

    def among(self, outputs: Tensor) -> Tensor:
        """Scores [V, answers] from outputs [V, outputs] of the traced option; the other options' stay what they are."""
        if len(self.options) == 1:
            return answers.scores(outputs, [1] * len(outputs))
        found = self.scores.repeat(len(outputs), 1)
        found[:, self.option] = outputs[:, 0]
        return found

    def log_odds(self, outputs: Tensor) -> Tensor:
        """log p - log(1 - p) [V] of the answer, from outputs [V, outputs] of the traced option."""
        return log_odds(self.among(outputs), self.answer)

    def probability(self, outputs: Tensor) -> Tensor:
        """p [V] of the answer."""
        return self.among(outputs).double().softmax(-1)[:, self.answer]


def ask(bundle: Bundle, example, option: int | None = None) -> Asked:
    """Asks once.  The answer is the best one; where texts are chosen from, that of the traced option.

    Raises InputError for an example that cannot be read, ConfigError for a model without query, key and context.
    """
    if not isinstance(bundle.model, Tan):
        raise ConfigError(f"{bundle.name}: this is asked of models that read query, key and context: Bi, C-Bi and Tri")
    example.check()
    options = tuple(bundle.task.roles([example], bundle.tokenizer, bundle.config.limits)[0])
    chosen(bundle.task, option, len(options))
    with at_once():
        outputs = torch.cat([bundle.logits(collate([one], bundle.tokenizer)) for one in options])
    scores = answers.scores(outputs, [len(options)])[0]
    best = int(scores.argmax())
    option = (best if len(options) > 1 else 0) if option is None else option
    return Asked(bundle, example, options, option, scores, option if len(options) > 1 else best)


def log_odds(scores: Tensor, answer: int) -> Tensor:
    """[V] of scores [V, answers], at least two: of two classes the difference of their scores."""
    others = torch.cat([scores[:, :answer], scores[:, answer + 1 :]], 1)
    return scores[:, answer] - others.logsumexp(1)


def without(bundle: Bundle, roles: Roles, gone: Mapping[str, Tensor], read: bool = False, own: bool = True) -> Tensor:
    """Outputs [V, outputs], on the CPU, of V variants of one example that lack tokens.

    gone: by role, [V, n] bool over its tokens; nobody reads these.  `[CLS]` and `[SEP]` stay in the context as long as
    a word does; without one there is no context at all, and Tri-Attention falls back to Bi-Attention (section IV-A).
    read: BERT_n goes on reading what is gone from the context, so that attention alone loses it.
    own: False where query and key do not stand in the context: C-Bi-Attention falls back too.
    """
    found = torch.empty(len(gone["context"]), bundle.outputs)
    with torch.inference_mode(), at_once():
        for places, encoded in variants(bundle, roles, gone, read):
            encoded = encoded if own else apart(encoded)
            found[places] = bundle.model(encoded if recorded() else left(encoded)).float().cpu()
    return found


def variants(
    bundle: Bundle, roles: Roles, gone: Mapping[str, Tensor], read: bool = False
) -> Iterator[tuple[list[int], Encoded]]:
    """What the encoder gives of the variants of `without`, some rows of about the same length at a time."""
    one = collate([roles], bundle.tokenizer).to(bundle.device)
    for places in alike((~gone["context"]).sum(1).tolist(), size(bundle, roles), LIKE):
        some = {role: mask[places].to(bundle.device) for role, mask in gone.items()}
        yield places, bundle.encoder(*_variants(one, roles, some, read))


def parts(rows: int, bundle: Bundle, roles: Roles, share: int = 1) -> Iterator[slice]:
    """Rows at a time: as many as cubes of LARGEST / share cells hold."""
    most = size(bundle, roles, share)
    return (slice(start, start + most) for start in range(0, rows, most))


def size(bundle: Bundle, roles: Roles, share: int = 1) -> int:
    """How many rows `parts` takes at a time."""
    cells = bundle.config.model.heads * len(roles.query.runs) * len(roles.key.runs) * len(roles.context.runs)
    return max(1, LARGEST // (share * cells))


def repeated(one: Batch, rows: int) -> Batch:
    """One example as many rows."""

    def many(role: RoleBatch) -> RoleBatch:
        return RoleBatch(*(None if t is None else t.expand(rows, *t.shape[1:]) for t in vars(role).values()))

    return Batch(*(many(getattr(one, role)) for role in ROLES))


def rows(encoded: Encoded, count: int) -> Encoded:
    """The same of what the encoder gave."""

    def many(states: States) -> States:
        return States(*(None if t is None else t.expand(count, *t.shape[1:]) for t in vars(states).values()))

    pooled = encoded.pooled.expand(count, -1)
    return Encoded(many(encoded.query), many(encoded.key), many(encoded.context), pooled)


def _variants(one: Batch, roles: Roles, gone: Mapping[str, Tensor], read: bool) -> tuple[Batch, dict[str, Given]]:
    """A batch and what its BERTs are given; one example, so that there is no padding."""
    batch, given = repeated(one, len(next(iter(gone.values())))), {}
    for role, mask in gone.items():
        of: RoleBatch = getattr(batch, role)
        if role == "context":
            special = torch.tensor(roles.context.special, device=mask.device)
            keep = (~mask | special) & (~mask & ~special).any(1, keepdim=True)
            given[role] = Given(seen=of.keep if read else ~mask | special)
        else:
            keep, edge = ~mask, mask.new_ones(len(mask), 1)
            given[role] = Given(seen=torch.cat([edge, keep, edge], 1))
        batch = replace(batch, **{role: replace(of, keep=keep, average=_average(of.average, keep))})
    return batch, given


def _average(average: Tensor | None, keep: Tensor) -> Tensor | None:
    """Means over what is left of each cell; a cell of which nothing is left is gone."""
    if average is None:
        return None
    left = average * keep[:, None]
    return left / left.sum(-1, keepdim=True).clamp_min(torch.finfo(left.dtype).tiny)


def left(encoded: Encoded) -> Encoded:
    """The same in as many places as the fullest row needs: what is gone is not computed with."""

    def some(states: States) -> States:
        at = first_real(states.keep)
        vectors, own = (None if t is None else t.gather(1, at[..., None].expand(-1, -1, t.shape[-1]))
                        for t in (states.vectors, states.own))  # fmt: skip
        return States(vectors, states.keep.gather(1, at), own)

    return Encoded(some(encoded.query), some(encoded.key), some(encoded.context), encoded.pooled)


def apart(encoded: Encoded) -> Encoded:
    """The same without each token's own context vector."""
    return replace(encoded, query=replace(encoded.query, own=None), key=replace(encoded.key, own=None))


def words(role: Role) -> list[int]:
    """The places of a role's tokens that are not special."""
    return [i for i, special in enumerate(role.special) if not special]


def gone(roles: Roles, places: Sequence[Sequence[int]], everywhere: bool = True) -> dict[str, Tensor]:
    """Masks for `without`: of V variants the places of the joint sequence that are gone from the context, and with
    `everywhere` from query and key too, where their tokens stand there."""
    context = torch.zeros(len(places), len(roles.context), dtype=torch.bool)
    for row, some in enumerate(places):
        context[row, list(some)] = True
    found = {"context": context}
    if everywhere:
        found |= {name: context[:, list(getattr(roles, name).positions)] for name in ("query", "key")}
    return found


@contextmanager
def gradients() -> Iterator[None]:
    """Inside, gradients are kept, also where a page has turned them off."""
    with torch.inference_mode(False), torch.enable_grad(), at_once():
        yield
