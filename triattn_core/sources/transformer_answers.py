"""What the outputs of a Hugging Face model say: labels, the next word, the first masked one, or a span."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from triattn_core.errors import InputError
from triattn_core.inference.predictions import Prediction
from triattn_core.sources.answer_spans import NO_PASSAGE, passage_places, span_scores, span_text, spans_of
from triattn_core.sources.transformer import MASKED_WORD, SPAN
from triattn_core.sources.transformer_outputs import masked_places, no_mask
from triattn_core.text.token_names import name_piece, unique_names

SHOWN = 5  # answers that are listed, of many


@dataclass(frozen=True)
class Answers:
    """What each of B rows of one input says.

    kind: `labels`, `next word`, `masked word` or `span`.  logits: [B, answers], before their softmax; of labels that do
    not exclude each other, before their sigmoid.  names: of chosen answers, in words.
    """

    kind: str
    logits: Tensor
    names: Callable[[list[int]], Sequence[str]] = field(repr=False)
    exclusive: bool = True

    @property
    def log_odds(self) -> Tensor:
        """log p - log(1 - p) of every answer, [B, answers], in float64."""
        scores = self.logits.double()
        if not self.exclusive:
            return scores
        log_p = scores.log_softmax(-1)
        rest = torch.log1p(-log_p.exp().clamp(max=1 - 1e-16))
        if scores.shape[-1] == 2:
            return scores - scores.flip(-1)
        return log_p - rest

    @property
    def probabilities(self) -> Tensor:
        """[B, answers], in float64."""
        scores = self.logits.double()
        return scores.softmax(-1) if self.exclusive else scores.sigmoid()

    def predictions(self, notes: Sequence[str] = ()) -> list[Prediction]:
        """A prediction for each row, all with the answers of the first row, the most likely first, and those that are
        the best of another row."""
        shares = self.probabilities
        count = shares.shape[1] if self.kind == "labels" else min(SHOWN, shares.shape[1])
        shown = shares[0].topk(count).indices.tolist()
        shown += [i for i in dict.fromkeys(shares.argmax(-1).tolist()) if i not in shown]
        labels = tuple(self.names(shown))
        return [
            Prediction(labels, tuple(row[shown].tolist()), shown.index(int(row.argmax())), notes=tuple(notes))
            for row in shares
        ]


def read_answers(transformer: Any, outputs: Any, ids: Tensor) -> Answers:
    """The answers of a model with a head to ids [B, n], or [1, n] of each of its B rows.  Raises InputError where it
    has no head, nothing is masked that it could guess, or there is no passage whose span could be the answer."""
    model, tokenizer = transformer.model, transformer.tokenizer
    if transformer.head == SPAN:
        return _spans(transformer, outputs, ids)
    logits = getattr(outputs, "logits", None)
    if logits is None or not transformer.head:
        raise InputError(f"{transformer.name} has no head: it predicts nothing whose change could be measured")
    if logits.ndim == 2:
        if logits.shape[1] == 1:
            raise InputError(f"{transformer.name} predicts a number: there is no answer whose odds could change")
        several = model.config.problem_type == "multi_label_classification"
        label = model.config.id2label
        return Answers("labels", logits.float().cpu(), lambda i: [str(label.get(n, n)) for n in i], not several)
    if transformer.head == MASKED_WORD:
        places = masked_places(tokenizer, ids)
        if not all(places):
            raise InputError(f"{transformer.name}: {no_mask(tokenizer)}")
        first = torch.tensor([row[0] for row in places], device=logits.device).expand(len(logits))
        at_mask = logits[torch.arange(len(logits), device=logits.device), first]
        return Answers("masked word", at_mask.float().cpu(), lambda ids: name_words(tokenizer, ids))
    return Answers("next word", logits[:, -1].float().cpu(), lambda ids: name_words(tokenizer, ids))


def _spans(transformer: Any, outputs: Any, ids: Tensor) -> Answers:
    """The spans of the passage of the first row."""
    if not (places := passage_places(transformer.tokenizer, ids[0])):
        raise InputError(f"{transformer.name}: {NO_PASSAGE}")
    spans = spans_of(places)

    def names(numbers: list[int]) -> Sequence[str]:
        return unique_names([span_text(transformer.tokenizer, ids[0], spans[i]) for i in numbers], numbers)

    return Answers("span", span_scores(outputs, spans), names)


def name_words(tokenizer: Any, ids: list[int]) -> list[str]:
    """The tokens of these ids as a reader knows them, no two alike."""
    pieces = tokenizer.convert_ids_to_tokens(ids)
    return unique_names([name_piece(piece, tokenizer.decode([i])) for i, piece in zip(ids, pieces)], ids)
