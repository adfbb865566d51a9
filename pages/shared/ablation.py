"""COIN as it is and with each of its parts ablated: computed once for an example, kept, shared by all sessions."""

from __future__ import annotations

from typing import Any

from pages.shared import models
from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes import runner


def explain_ablations(entry: Entry, example: Any) -> dict[str, models.Explanation]:
    """COIN's results on an example by ablated part: "" (nothing), `layer.0`, …, `context`.  Raises TriattnError."""
    unablated = models.explain(entry, example)

    def run(bundle):
        return runner.explain_ablations(bundle, unablated, example)

    return models.answer(entry, f"{entry.name} with each part ablated", run, unablated.source)
