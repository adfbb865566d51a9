"""How right a model of others is about a row: its label, each next word of its text, a masked word, or the answer.

A *classifier* (of Hugging Face, or a module of one's own) is right where its best label is that of the row.  A
*decoder* reads the text and is asked at each token for the next one; a decoder that reads an encoder is asked for each
token of the target, the second text, given those before it.  Of these its share of right words is between 0 and 1, and
in place of the log-odds of the label stands the mean log-probability of the words.  A model that guesses *masked words*
is right where the word that it puts in the place of the first mask is the row's label.  A model that finds *answers*
is right where the best span of the passage is one of them after SQuAD's normalisation; in place of the log-odds of the
label stand those of all such spans together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from triattn_core.analysis.intervention.batched_variants import log_odds
from triattn_core.analysis.intervention.head_ablation import Head
from triattn_core.errors import DataError, InputError
from triattn_core.importers.text_rows import TextRow
from triattn_core.recording.own_module import OwnModule
from triattn_core.sources.answer_spans import LONGEST, NO_PASSAGE, passage_places, span_scores, span_text, spans_of
from triattn_core.sources.own_text import OwnText, kind_of, scores_of
from triattn_core.sources.transformer import MASKED_WORD, NEXT_TOKEN, SPAN, Transformer
from triattn_core.sources.transformer_heads import check_labels, class_number, label_of, read_without
from triattn_core.sources.transformer_inputs import as_input, read_target, read_text
from triattn_core.sources.transformer_outputs import masked_places, no_mask
from triattn_core.sources.transformer_replace import Asked, replaced_outputs
from triattn_core.sources.transformer_trace import trace_transformer
from triattn_core.sources.weight_change import WeightChange
from triattn_core.sources.written import DECODERS_OWN, with_start
from triattn_core.tasks.answer_match import f1, normal
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site

LABELS, WORDS, MASKED, ANSWERS = "accuracy", "next words right", "masked words right", "exact answers"
SHORT = "it has no two tokens, so that there is no next word to ask for"


@dataclass(frozen=True)
class AskedRow:
    """A row as a loaded model reads it, and what is right.

    right: the number of the label, or of each next word that it knows [words]; places: [words], where the scores of
    these words stand.  None of a label.
    """

    asked: Asked
    right: Tensor = field(repr=False)
    places: Tensor | None = field(default=None, repr=False)

    def score(self, outputs: Any) -> Tensor:
        """[B, 2], in float64: how much of a row is right, 0 to 1, and the log-odds of the label or the mean
        log-probability of the words."""
        logits = self.logits(outputs)
        if self.places is None:
            logits = logits[:, 0]
            return torch.stack([(logits.argmax(-1) == self.right).double(), log_odds(logits, int(self.right))], -1)
        found = logits.log_softmax(-1).gather(-1, self.right.expand(len(logits), -1)[..., None])[..., 0]
        return torch.stack([(logits.argmax(-1) == self.right).double().mean(-1), found.mean(-1)], -1)

    def logits(self, outputs: Any) -> Tensor:
        """The scores of all answers where it is asked, [B, words or 1, answers], in float64.  A module of one's own
        runs one row, whether it has an axis of rows or not."""
        logits = scores_of(outputs).detach().double().cpu()
        rows = 1 if isinstance(self.asked.transformer, OwnModule) or logits.ndim < 2 else len(logits)
        logits = logits.reshape(rows, -1, logits.shape[-1])
        return logits[:, -1:] if self.places is None else logits[:, self.places]

    def under(self, changes: Sequence[WeightChange]) -> Tensor:
        """`score` as it is and under each change, [1 + changes, 2].  Raises InputError as `replaced`."""
        found, _ = replaced_outputs(
            self.asked, changes, [None] * len(changes), lambda rows: self.score(self.asked.run(rows))
        )
        return found

    def without(self, heads: Sequence[Head]) -> Tensor:
        """`score` as it is and without each head, [1 + heads, 2].  Raises InputError as `read_without`."""
        places = [(Site.of(site), head) for site, head in heads]
        if isinstance(self.asked.transformer, OwnModule):
            return self.under([WeightChange("off", (place,)) for place in places])
        return read_without(self.asked.transformer, self.asked.inputs, places, self.score)


@dataclass(frozen=True)
class AskedSpans(AskedRow):
    """A question as a loaded model reads it.  spans, texts: of its passage; right: the numbers of those that are one of
    the answers."""

    spans: list[tuple[int, int]] = field(kw_only=True, repr=False)
    texts: list[str] = field(kw_only=True, repr=False)
    answers: tuple[str, ...] = field(kw_only=True, repr=False)

    def overlap(self, outputs: Any) -> float:
        """F1, 0 to 1, of the words of the best span of one row and the answer that is most like it, as SQuAD has it."""
        best = self.texts[int(self.logits(outputs)[0, 0].argmax())]
        return max(f1(best, answer) for answer in self.answers)

    def score(self, outputs: Any) -> Tensor:
        logits = self.logits(outputs)[:, 0]
        meant = torch.zeros(logits.shape[-1], dtype=torch.bool).index_fill(0, self.right, True)
        odds = logits[:, meant].logsumexp(-1) - logits[:, ~meant].logsumexp(-1)
        return torch.stack([meant[logits.argmax(-1)].double(), odds], -1)

    def logits(self, outputs: Any) -> Tensor:
        return span_scores(outputs, self.spans).detach().double()[:, None]


def ask_row(model: Transformer | OwnModule, row: TextRow) -> AskedRow:
    """Raises DataError: no label or answer, one that is none of the model's, or no next word; InputError: a model that
    predicts none of these."""
    if isinstance(model, OwnModule):
        return _ask_module(model, row)
    if model.head == SPAN:
        return _ask_spans(model, row)
    if model.head == NEXT_TOKEN:
        return _ask_words(model, row)
    if model.head == MASKED_WORD:
        return _ask_masked(model, row)
    check_labels(model)
    return AskedRow(_put(model, row), torch.tensor(label_of(model, require_label(row))))


def trace_row(model: Transformer | OwnModule, row: TextRow) -> AttentionTrace:
    """The trace of a row; of a decoder that reads an encoder, with the second text as its target."""
    if isinstance(model, OwnModule):
        return OwnText.of(model, row.texts).trace()
    if model.head == NEXT_TOKEN and model.has_decoder and len(row.texts) > 1:
        return trace_transformer(model, row.texts[0], target=row.texts[1])
    return trace_transformer(model, *row.texts)


def metric_of(model: Transformer | OwnModule) -> str:
    """What is counted as right: LABELS, WORDS, MASKED or ANSWERS.  Raises InputError for a model that predicts none."""
    if isinstance(model, OwnModule):
        if model.names is None:
            raise InputError(f"{model.name}: its function names no answers, so nobody knows whether they are right")
        return LABELS if kind_of(model.names) == "labels" else WORDS
    if model.head in (found := {NEXT_TOKEN: WORDS, MASKED_WORD: MASKED, SPAN: ANSWERS}):
        return found[model.head]
    check_labels(model)
    return LABELS


def require_label(row: TextRow) -> int | str:
    """Raises DataError where a row has none."""
    if row.label is None:
        raise DataError("no label: whether the answer is right is not known")
    return row.label


def _put(model: Transformer, row: TextRow) -> Asked:
    return Asked.put(model, row.texts[0], row.texts[1] if len(row.texts) > 1 else None)


def _ask_words(model: Transformer, row: TextRow) -> AskedRow:
    text, target = row.texts[0], row.texts[1] if len(row.texts) > 1 else None
    if not model.has_decoder:
        asked = _put(model, row)
        ids = asked.inputs["input_ids"][0].cpu()
        if len(ids) < 2:
            raise DataError(SHORT)
        return AskedRow(asked, ids[1:], torch.arange(len(ids) - 1))
    if target is None:
        raise DataError('no target: rows of a translation are {"source", "target"}')
    inputs, _ = read_text(model, text)
    given, ids = read_target(model, target)
    inputs[DECODERS_OWN] = as_input(given)
    return AskedRow(Asked(model, inputs.to(model.model.device)), torch.tensor(ids), torch.arange(len(ids)))


def _ask_masked(model: Transformer, row: TextRow) -> AskedRow:
    asked, word, tokenizer = _put(model, row), str(require_label(row)), model.tokenizer
    places = masked_places(tokenizer, asked.inputs["input_ids"])[0]
    if not places:
        raise DataError(no_mask(tokenizer))
    # As it stands there: after a space, a bracket or nothing the same word is another token for some tokenizers.
    at = next((number for number, text in enumerate(row.texts) if tokenizer.mask_token in text), 0)
    texts = (*row.texts[:at], row.texts[at].replace(tokenizer.mask_token, word.strip(), 1), *row.texts[at + 1 :])
    ids, filled = (
        asked.inputs["input_ids"][0].cpu(),
        _put(model, replace(row, texts=texts)).inputs["input_ids"][0].cpu(),
    )
    others = torch.arange(len(ids)) != places[0]
    stands = len(ids) == len(filled) and torch.equal(ids[others], filled[others])
    number = int(filled[places[0]]) if stands else None
    if number in (None, tokenizer.unk_token_id, tokenizer.mask_token_id):
        raise DataError(
            f"label {word!r}: it is no one token of {model.name} there, so that it cannot stand for one mask"
        )
    return AskedRow(asked, torch.tensor([number]), torch.tensor(places[:1]))


def _ask_spans(model: Transformer, row: TextRow) -> AskedSpans:
    if not row.answers:
        raise DataError('no answer: rows are {"question", "context", "answers"}, as SQuAD has them')
    if len(row.texts) < 2:
        raise DataError(NO_PASSAGE)
    inputs, tokens = read_text(model, *row.texts)
    ids = inputs["input_ids"][0]
    if not (spans := spans_of(passage_places(model.tokenizer, ids))):
        raise DataError(NO_PASSAGE)
    # As they stand in the passage; decoded tokens have other spaces.
    cuts = [(tokens.spans[start][0], tokens.spans[end][1]) for start, end in spans]
    texts = [row.texts[1][a:b] or span_text(model.tokenizer, ids, span) for (a, b), span in zip(cuts, spans)]
    wanted = set(map(normal, row.answers))
    right = [number for number, text in enumerate(texts) if normal(text) in wanted]
    if not right:
        raise DataError(f"{row.answers[0]!r} is no span of the passage of at most {LONGEST} tokens that it reads")
    asked = Asked(model, with_start(model, inputs))
    return AskedSpans(asked, torch.tensor(right), spans=spans, texts=texts, answers=tuple(row.answers))


def _ask_module(own: OwnModule, row: TextRow) -> AskedRow:
    asked, metric = OwnText.of(own, row.texts), metric_of(own)
    numbers = {name: i for i, name in enumerate(own.names or ())}
    if metric == LABELS:
        label = str(require_label(row))
        number = class_number(label, dict(enumerate(own.names or ())))
        if number is None:
            raise DataError(f"label {label!r}: expected one of {', '.join(numbers)}, or its number")
        return AskedRow(asked, torch.tensor(number))
    tokens = asked.tokens or []
    known = [(place, numbers[token]) for place, token in enumerate(tokens[1:]) if token in numbers]
    if not known:
        raise DataError(SHORT if len(tokens) < 2 else "none of its next words is among the names of the answers")
    places, right = zip(*known)
    return AskedRow(asked, torch.tensor(right), torch.tensor(places))
