"""Rows of dialogue and of reading whose right choice a small model can learn."""

from __future__ import annotations

import random

from tests.support.tiny import WORDS
from triattn_core.text.roles import Limits

LIMITS = Limits(48, (3, 3, 14))


def dialogue_row(draw: random.Random, single: bool) -> dict:
    """The true response begins with the last turn's first word."""
    turns = [" ".join(draw.choices(WORDS[4:-3], k=draw.randint(1, 5))) for _ in range(draw.randint(1, 4))]
    responses = [" ".join(draw.choices(WORDS[4:-3], k=4)) for _ in range(4)]
    label = draw.randrange(4)
    responses[label] = f"{turns[-1].split()[0]} {responses[label]}"
    if single:
        return {"history": turns, "response": responses[label], "label": 1} if label % 2 else {
            "history": turns, "response": responses[label - 1], "label": 0
        }  # fmt: skip
    return {"history": turns, "candidates": responses, "label": label}


def reading_row(draw: random.Random) -> dict:
    """The right option is the word after "is" in the passage; options are two to four."""
    options = draw.sample(WORDS[4:16], draw.randint(2, 4))
    answer = draw.randrange(len(options))
    passage = f"the car watch. it is {options[answer]} . who play?"
    level = draw.choice(["middle", "high"])
    return {"passage": passage, "question": "what is it ?", "options": options, "answer": answer, "level": level}
