"""What an imported model predicts, as its trace keeps it; without torch."""

from __future__ import annotations

import json

from triattn_core.trace import AttentionTrace


def prediction_of(trace: AttentionTrace) -> list[tuple[str, float]]:
    """Labels, or next tokens, with their probabilities, the likeliest first; empty where the model has no head."""
    return [(str(label), float(value)) for label, value in json.loads(str(trace.meta.get("prediction", "[]")))]
