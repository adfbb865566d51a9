"""How far an answer is a gold answer, as SQuAD counts it."""

from __future__ import annotations

import re
import string
from collections import Counter

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = frozenset(string.punctuation)


def normal(text: str) -> str:
    """Text normalised as by SQuAD: lower case, without ASCII punctuation and articles, single spaces."""
    bare = "".join(char for char in text.lower() if char not in PUNCTUATION)
    return " ".join(ARTICLES.sub(" ", bare).split())


def exact(answer: str, gold: str) -> bool:
    """Whether two answers are equal after SQuAD's normalisation."""
    return normal(answer) == normal(gold)


def f1(answer: str, gold: str) -> float:
    """F1 of the words of an answer, as in SQuAD 1.1."""
    left, right = normal(answer).split(), normal(gold).split()
    num_shared = sum((Counter(left) & Counter(right)).values())
    return 2 * num_shared / (len(left) + len(right)) if num_shared else 0.0
