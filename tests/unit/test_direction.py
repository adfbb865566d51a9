"""Text from right to left inside a sentence."""

from __future__ import annotations

from triattn_core.text.direction import isolate, isolate_quotes

WORD = "\u0627\u0644\u0633\u0644\u0627\u0645"  # Arabic


def test_a_quoted_word_from_right_to_left_is_isolated_and_others_stay():
    assert isolate(WORD) == f"\u2068{WORD}\u2069" and isolate("milk") == "milk"
    sentence = isolate_quotes(f"“milk” gives to “{WORD}”: 0.5")
    assert sentence == f"“milk” gives to “\u2068{WORD}\u2069”: 0.5"
