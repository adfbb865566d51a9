"""The cells of all functions as rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from triattn_core.views.lib.strongest import words
from triattn_core.views.similarity.panels import OVER_PASSAGE, FunctionPanel


def table(panels: Sequence[FunctionPanel]) -> pd.DataFrame:
    """Every cell of every function as a row, for CSV: words and positions, relevance and weight, start and end."""
    parts = []
    for panel in panels:
        weights, texts = panel.weights, dict(panel.trace.texts)
        positions = np.indices(weights.shape).reshape(2, -1)
        columns: dict = {"function": panel.title, "checkpoint": str(panel.trace.meta.get("checkpoint", ""))}
        for axis, name, where in zip(("query", "key"), ("passage", "question"), positions):
            columns |= {name: np.array(words(weights, texts, axis), object)[where], f"{name}_at": where}
            if f"{axis}_cells" in weights.coords:
                columns[f"{name}_words"] = weights[f"{axis}_cells"].values[where]
        columns |= {"relevance": panel.scores.values.ravel(), "weight": weights.values.ravel()}
        columns |= {end: panel.end(end).values[positions[0]] for end in ("start", "end")}
        if panel.has_over_passage:
            columns["weight_over_passage"] = panel.values_of(OVER_PASSAGE).values.ravel()
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)
