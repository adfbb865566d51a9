"""The prediction of an imported model, from its trace; without torch."""

from __future__ import annotations

import json

from triattn_core.trace import AttentionTrace


def prediction_of(trace: AttentionTrace) -> list[tuple[str, float]]:
    """Labels, or next tokens, with their probabilities, most likely first; empty if the model has no head."""
    return [(str(label), float(value)) for label, value in json.loads(str(trace.meta.get("prediction", "[]")))]
