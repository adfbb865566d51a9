"""Text in lines of a stated width."""

from __future__ import annotations

import textwrap

from triattn_core.scenes.printing.letters import type_width
from triattn_core.scenes.printing.plate import LETTER

TOLERANCE = 0.05  # inches by which a single word may be wider than its line


def wrap(text: str, room: float, size: float, weight: int) -> list[str]:
    """Lines that fit into the room, in inches."""
    lines: list[str] = []
    letters = max(1, int(room / (LETTER * size)))  # of a word that has no room, such as the name of a checkpoint
    fits = lambda word: type_width(word, size, weight) <= room + TOLERANCE  # noqa: E731
    for word in [
        part
        for word_of_text in text.split()
        for part in ([word_of_text] if fits(word_of_text) else textwrap.wrap(word_of_text, letters))
    ]:
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and type_width(longer, size, weight) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
