"""What a Hugging Face model predicts, from its outputs: labels, a value, or the next token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from triattn_core.text.token_names import name_piece, unique_names

if TYPE_CHECKING:
    from triattn_core.importers.transformer import Transformer

NEXT = 5  # next tokens to list for a language model


def predict(transformer: Transformer, outputs: Any) -> tuple[list[tuple[str, float]], list[str]]:
    """What the model predicts, most likely first, and a note where that is not a number."""
    if not transformer.head:
        return [], []
    scores = outputs.logits[0].float().cpu()
    if not scores[-1:].isfinite().any() or scores.isnan()[-1:].any():
        return [], ["What the model predicts is not a number."]
    return _read_scores(transformer, scores), []


def _read_scores(transformer: Transformer, scores: torch.Tensor) -> list[tuple[str, float]]:
    """Labels with their probabilities, the value of a regression, or the most likely next tokens."""
    if transformer.head == "next token":
        top = scores[-1].softmax(-1).topk(min(NEXT, scores.shape[-1]))
        ids, tokenizer = top.indices.tolist(), transformer.tokenizer
        pieces = tokenizer.convert_ids_to_tokens(ids)
        names = [name_piece(str(piece), tokenizer.decode([i])) for i, piece in zip(ids, pieces)]
        return list(zip(unique_names(names, ids), top.values.tolist()))
    config = transformer.model.config
    if len(scores) == 1:
        return [(config.id2label.get(0, "value"), float(scores[0]))]
    multi_label = config.problem_type == "multi_label_classification"
    shares = (scores.sigmoid() if multi_label else scores.softmax(-1)).tolist()
    return sorted(
        ((config.id2label.get(i, str(i)), share) for i, share in enumerate(shares)), key=lambda pair: -pair[1]
    )
