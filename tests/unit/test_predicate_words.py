"""Counts of words as predicates, and what they say of a word that is asked about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from triattn_core.tasks.predicate_words import FEW, FILE, Counts, count_words, counts_text, doubt, read_counts
from triattn_core.tasks.roles import Example

COUNTS: Counts = {"the": (8797, 0), "in": (2981, 1), "car": (50, 1), "bit": (3, 1)}


def test_a_sentence_counts_once_however_many_predicates_it_has() -> None:
    words = ("Dogs", "bit", "and", "bit", "dogs")
    rows = [Example(words, 1), Example(words, 3), *[Example(("dogs", f"run{i}"), 1) for i in range(FEW - 2)]]
    counts = count_words(rows)
    assert counts["dogs"] == (FEW, 0) and counts["bit"] == (2, 2) and counts["run0"] == (1, 1)
    assert "and" not in counts


def test_counts_are_read_as_they_were_written(tmp_path: Path) -> None:
    assert read_counts(tmp_path) == {}
    (tmp_path / FILE).write_text(counts_text(COUNTS), "utf-8")
    assert (
        read_counts(tmp_path) == COUNTS == {word: tuple(pair) for word, pair in json.loads(counts_text(COUNTS)).items()}
    )


@pytest.mark.parametrize(
    "word, says",
    [
        ("The", "“The” is a predicate in 0 of its 8,797 occurrences in training: it is probably none."),
        ("in", "in 1 of its 2,981 occurrences"),
        ("zebra", "occurs fewer than 5 times in training, never as a predicate: it may be none."),
        ("car", ""),
        ("bit", ""),
    ],
    ids=("never", "seldom", "unseen", "often enough", "rare predicate"),
)
def test_what_counts_say_against_a_word(word: str, says: str) -> None:
    found = doubt(word, COUNTS)
    assert bool(found) == bool(says) and says in found
    assert not doubt(word, {})


def test_a_sentence_without_spaces_is_quoted_in_part() -> None:
    assert doubt("书" * 300, COUNTS).count("书") < 50
