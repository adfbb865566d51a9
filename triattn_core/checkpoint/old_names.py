"""Names of before in configs and records, read as those of today.

The control of third-order scores was `pairwise` until it got the name that its authors gave it (Strassen attention).
"""

from __future__ import annotations

from typing import Any

SIMILARITIES = {"pairwise": "strassen"}
SETTING = "model.similarity"


def current_config(config: Any) -> Any:
    """The contents of a config.json with the names of today; anything else is returned as it is."""
    model = config.get("model") if isinstance(config, dict) else None
    if not isinstance(model, dict) or model.get("similarity") not in list(SIMILARITIES):
        return config
    name = model["similarity"]
    return config | {"model": model | {"similarity": SIMILARITIES[name]}}


def current_changes(changes: Any) -> Any:
    """What a sweep changed, by dotted name, with the names of today."""
    name = changes.get(SETTING) if isinstance(changes, dict) else None
    return changes | {SETTING: SIMILARITIES[name]} if isinstance(name, str) and name in SIMILARITIES else changes
