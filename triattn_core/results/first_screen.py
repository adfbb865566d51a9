"""What the page Start shows: a row in three languages, with the weights and answers of two shipped models, and those at
earlier steps of their training.  `triattn_core.training.laboratory.first_screen` writes the file."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "records" / "first_screen.json"
SCALE = 1000  # weights and probabilities are written in thousandths


@cache
def first_screen() -> dict[str, Any]:
    """The file: cards `[word, colour]`, languages, the right card in each, and of `tri` and `two_way` the frames.

    A frame has its step and by language the weights in thousandths (of Tri over the cards in that language; of two-way
    attention over the word itself, the cards, and the language), the answer's colour and its probability.
    """
    return json.loads(FILE.read_text("utf-8"))
