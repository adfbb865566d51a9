"""The cells of all panels as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from triattn_core.views.lib.strongest import labels
from triattn_core.views.side_by_side.panels import Gap, Panel, panel_titles


def table(panels: Sequence[Panel], gap: Gap | None, texts: Mapping[str, str], across: str = "key") -> pd.DataFrame:
    """Every cell as a row, for CSV: query, key (or what is `across`) and their positions, then for each panel its
    weight, rank and, where relevance is drawn, relevance; last the difference, how far apart seeds lie where there are
    any, and of the row's query the divergence in bits and how many of its strongest keys are the same."""
    first, names = panels[0].map_values, panel_titles(panels)
    positions = np.indices(first.shape).reshape(2, -1)
    columns: dict = {}
    for axis, where in zip(("query", "key"), positions):
        name = across if axis == "key" else axis
        places = first[f"{axis}_at"].values if f"{axis}_at" in first.coords else np.arange(first.sizes[axis])
        columns |= {name: np.array(labels(first, dict(texts), axis), object)[where], f"{name}_at": places[where]}
        if f"{axis}_cells" in first.coords:
            columns[f"{name}_tokens"] = first[f"{axis}_tokens"].values[where]
    for name, panel in zip(names, panels):
        columns |= {f"{name} weight": panel.weights.values.ravel(), f"{name} rank": panel.rank.ravel()}
        if first.attrs["quantity"] == "relevance":
            columns[f"{name} relevance"] = panel.map_values.values.ravel()
    if gap is not None:
        columns[f"{names[gap.left]} − {names[gap.right]}"] = gap.values.values.ravel()
        if gap.noise is not None:
            columns["between seeds"] = gap.noise.ravel()
        columns["divergence, bits"] = gap.divergence[positions[0]]
        if gap.overlap is not None:
            columns[f"same of top {gap.top}"] = gap.overlap[positions[0]]
    return pd.DataFrame(columns)
