"""What a Hugging Face model predicts, from its outputs: labels, a value, or the next token."""

from __future__ import annotations

from typing import Any

import torch

from triattn_core.text.token_names import name_piece, unique_names

NEXT = 5  # next tokens to list for a language model


def predict(head: str, config: Any, tokenizer: Any, outputs: Any) -> tuple[list[tuple[str, float]], list[str]]:
    """What a model predicts, most likely first, and a note where that is not a number.

    head: `labels`, `next token` or nothing.  config: the model's.
    """
    if not head:
        return [], []
    scores = outputs.logits[0].float().cpu()
    if not scores[-1:].isfinite().any() or scores.isnan()[-1:].any():
        return [], ["What the model predicts is not a number."]
    return (_next_tokens(tokenizer, scores) if head == "next token" else _labels(config, scores)), []


def _next_tokens(tokenizer: Any, scores: torch.Tensor) -> list[tuple[str, float]]:
    """The most likely tokens after the last."""
    top = scores[-1].softmax(-1).topk(min(NEXT, scores.shape[-1]))
    ids = top.indices.tolist()
    names = [
        name_piece(str(piece), tokenizer.decode([i])) for i, piece in zip(ids, tokenizer.convert_ids_to_tokens(ids))
    ]
    return list(zip(unique_names(names, ids), top.values.tolist()))


def _labels(config: Any, scores: torch.Tensor) -> list[tuple[str, float]]:
    """Labels with their probabilities, or the value of a regression."""
    if len(scores) == 1:
        return [(config.id2label.get(0, "value"), float(scores[0]))]
    multi_label = config.problem_type == "multi_label_classification"
    shares = (scores.sigmoid() if multi_label else scores.softmax(-1)).tolist()
    return sorted(
        ((config.id2label.get(i, str(i)), share) for i, share in enumerate(shares)), key=lambda pair: -pair[1]
    )
