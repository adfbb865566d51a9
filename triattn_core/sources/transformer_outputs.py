"""What a Hugging Face model predicts, from its outputs: labels, a value, the next token, the masked one, or a span."""

from __future__ import annotations

from typing import Any

import torch

from triattn_core.sources.answer_spans import NO_PASSAGE, passage_places, span_scores, span_text, spans_of
from triattn_core.sources.transformer import MASKED_WORD, SPAN
from triattn_core.text.token_names import name_piece, unique_names

NEXT = 5  # next tokens to list for a language model, or spans
NOT_A_NUMBER = "What the model predicts is not a number."


def predict(
    head: str, config: Any, tokenizer: Any, outputs: Any, ids: torch.Tensor
) -> tuple[list[tuple[str, float]], list[str]]:
    """What a model predicts, most likely first, and a note where that is not a number, or no word is masked.

    head: `labels`, `next token`, `masked word`, `answer span` or nothing.  config: the model's.  ids: that it read,
    [1, n].
    """
    if not head:
        return [], []
    if head == SPAN:
        return _spans(tokenizer, outputs, ids)
    scores = outputs.logits[0].float().cpu()
    if head == MASKED_WORD:
        if not (places := masked_places(tokenizer, ids)[0]):
            return [], [no_mask(tokenizer)]
        head, scores = "next token", scores[: places[0] + 1]
    if not scores[-1:].isfinite().any() or scores.isnan()[-1:].any():
        return [], [NOT_A_NUMBER]
    return (_next_tokens(tokenizer, scores) if head == "next token" else _labels(config, scores)), []


def masked_places(tokenizer: Any, ids: torch.Tensor) -> list[list[int]]:
    """The positions of the mask token in each row of ids [B, n]."""
    rows = [[] if tokenizer.mask_token_id is None else (row == tokenizer.mask_token_id).nonzero()[:, 0] for row in ids]
    return [list(map(int, places)) for places in rows]


def no_mask(tokenizer: Any) -> str:
    """What is said of a text in which no word is masked."""
    if tokenizer.mask_token is None:
        return "This model guesses a masked word, and its tokenizer declares no mask token: save it with mask_token."
    return f"This model guesses a masked word: write {tokenizer.mask_token} in its place."


def _next_tokens(tokenizer: Any, scores: torch.Tensor) -> list[tuple[str, float]]:
    """The most likely tokens after the last."""
    top = scores[-1].softmax(-1).topk(min(NEXT, scores.shape[-1]))
    ids = top.indices.tolist()
    names = [name_piece(piece, tokenizer.decode([i])) for i, piece in zip(ids, tokenizer.convert_ids_to_tokens(ids))]
    return list(zip(unique_names(names, ids), top.values.tolist()))


def _spans(tokenizer: Any, outputs: Any, ids: torch.Tensor) -> tuple[list[tuple[str, float]], list[str]]:
    """The most likely spans of the passage, or why there is none."""
    if not (places := passage_places(tokenizer, ids[0])):
        return [], [NO_PASSAGE[0].upper() + NO_PASSAGE[1:] + "."]
    spans = spans_of(places)
    scores = span_scores(outputs, spans)[0]
    if scores.isnan().any():
        return [], [NOT_A_NUMBER]
    top = scores.softmax(-1).topk(min(NEXT, len(spans)))
    numbers = top.indices.tolist()
    names = unique_names([span_text(tokenizer, ids[0], spans[i]) for i in numbers], numbers)
    return list(zip(names, top.values.tolist())), []


def _labels(config: Any, scores: torch.Tensor) -> list[tuple[str, float]]:
    """Labels with their probabilities, or the value of a regression."""
    if len(scores) == 1:
        return [(config.id2label.get(0, "value"), float(scores[0]))]
    multi_label = config.problem_type == "multi_label_classification"
    shares = (scores.sigmoid() if multi_label else scores.softmax(-1)).tolist()
    return sorted(
        ((config.id2label.get(i, str(i)), share) for i, share in enumerate(shares)), key=lambda pair: -pair[1]
    )
