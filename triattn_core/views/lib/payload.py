"""What the payloads of all figures made of maps have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from triattn_core.trace.axes import AXES, QUANTITIES
from triattn_core.views.lib.palette import theme_payload
from triattn_core.views.lib.tokens import text_names


def map_payload(
    texts: Mapping[str, str], axes: Mapping[str, Mapping[str, list]], cell: Sequence[int], caption: str
) -> dict[str, Any]:
    """Texts and their names, axes as `lib.tokens` gives them, the first cell, the caption, colours, and explanations of
    axes and quantities."""
    return {
        "says": QUANTITIES | AXES,
        "texts": dict(texts),
        "names": text_names(texts),
        "themes": theme_payload("log", "signed"),
        "axes": dict(axes),
        "caption": caption,
        "cell": list(cell),
    }
