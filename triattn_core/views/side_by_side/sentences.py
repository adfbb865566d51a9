"""Side by side in words: what is said of the scale, and what the figure shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from triattn_core.views.lib.number_format import probability
from triattn_core.views.lib.palette import LogScale
from triattn_core.views.lib.strongest import labels
from triattn_core.views.side_by_side.panels import Gap, Panel, panel_titles
from triattn_core.views.side_by_side.scales import key_count

ROLES = {"query": "query", "key": "key"}


def scale_lines(panels: Sequence[Panel], quantity: str) -> list[str]:
    """What is said of the scale of all maps."""
    keys, even = key_count(panels[0].weights), "an even share" if "folded" in panels[0].weights.attrs else "even"
    tri = any(panel.mechanism == "tri" for panel in panels)
    if quantity == "weight":
        return [
            f"One scale: {LogScale.ends}.",  # of all maps, below one of four
            f"Line: {even}, 1/{keys}.",
            *(["Tri is summed over context."] if tri else []),
        ]
    centred = "Each row is centred: softmax does not see the shift."
    return ["One scale for all maps.", centred, *(["Tri is joined by log-sum-exp over context."] if tri else [])]


def alt(panels: Sequence[Panel], gap: Gap | None, texts: dict[str, str], roles: Mapping[str, str] = ROLES) -> str:
    """What the figure shows in words: sizes, what each says, and where two differ most."""
    names, words = panel_titles(panels), labels(panels[0].map_values, texts, "query")
    each = dict.fromkeys(  # two heads of one model say one thing
        f"{p.model or n} says {p.label} with probability {probability(p.probability)}"
        for n, p in zip(names, panels)
        if p.label
    )
    sizes = panels[0].map_values.sizes
    size = f"{sizes['query']} {roles['query']} by {sizes['key']} {roles['key']} positions"
    tail = ""
    if gap is not None and key_count(panels[0].weights) == 1:
        tail = f" As this is read there is one {roles['key']}: nothing to compare."
    elif gap is not None and not np.isnan(gap.divergence).all():
        worst, two = int(np.nanargmax(gap.divergence)), f"{names[gap.left]} and {names[gap.right]}"
        most = f"{two} differ most for {roles['query']} “{words[worst]}”, by {gap.divergence[worst]:.3g} bits."
        tail = f" {most if gap.divergence[worst] else f'The maps of {two} are equal.'}"
    answers = f" {'; '.join(each)}." if each else ""
    return f"Maps of {size}, one for each of {', '.join(names)}.{answers}{tail}"
