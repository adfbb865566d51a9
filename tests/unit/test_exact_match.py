"""Exact match and F1, worked by hand from the rules of SQuAD's script, version 1.1."""

from __future__ import annotations

import pytest

from triattn_core.inference.span_decoding import Span
from triattn_core.tasks import answer_match, questions


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("The  Cat's, an A-Team!", "cats ateam"),  # punctuation goes first: what is left of A-Team is no article
        ("the", ""),
        ("Theatre of a than", "theatre of than"),
        ("$1,000.50", "100050"),
        ("24–10", "24–10"),  # a dash that is not ASCII is no punctuation
        ("L’Été, “a”", "l’été “ ”"),  # nor are these; the article between them is one
        ("ça a été", "ça été"),  # ç is a letter: the a of ça is no word
        ("ÉCOLE\u00a0 the\tend\n", "école end"),
        ("A\u0301", "á".replace("á", "\u0301")),  # a and a loose accent: the accent is no letter
        ("ΑΝ an", "αν"),  # Greek alpha, nu
        ("１2", "１2"),
    ],
)
def test_answers_are_compared_as_squad_does(text, bare):
    assert answer_match.normal(text) == bare


@pytest.mark.parametrize(
    ("answer", "known", "same", "shared"),
    [
        ("The Bay Area.", "bay area", True, 1.0),
        ("in the Bay Area", "San Francisco Bay Area", False, 4 / 7),  # 2 of 3 and of 4 words
        ("boat boat red", "red boat", False, 4 / 5),  # the second boat has no partner
        ("boat boat", "boat boat boat", False, 4 / 5),  # 2 of 2 and of 3
        ("24-10", "24–10", False, 0.0),
        ("the", "an", True, 0.0),  # both are empty: equal, and no word is shared
        ("", "car", False, 0.0),
        ("six", "seven", False, 0.0),
    ],
)
def test_exact_match_and_f1(answer, known, same, shared):
    assert answer_match.exact(answer, known) is same
    assert answer_match.f1(answer, known) == pytest.approx(shared, abs=1e-12)


def test_the_answer_that_fits_best_counts():
    answers = ("7, 2016", 25), ("February 7, 2016", 16)
    example = questions.Example("The game was on February 7, 2016 here", "when ?", answers)
    assert all(example.passage[start:].startswith(text) for text, start in answers)
    assert questions.verdict(example, [Span(16, 32, 0.5, 0), Span(0, 3, 0.4, 0)]) == (True, 1.0)
    right, shared = questions.verdict(example, [Span(16, 24, 0.5, 0)])
    assert not right and shared == pytest.approx(2 / 4)
    assert questions.metrics([(True, 1.0), (False, 0.5), (False, 0.0)]) == {"em": 33.33, "f1": 50.0}


def test_a_blind_choice():
    example = questions.Example("a b c d", "?", (("a", 0), ("a", 0), ("b c", 2)))
    assert questions.baseline([example], longest=3) == {"chance": round(100 * 2 / 9, 2)}  # 4 + 3 + 2 runs of words
