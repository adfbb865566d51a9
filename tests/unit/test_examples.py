"""The project's own pairs: sound, varied, balanced."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from triattn_core.tasks import pairs

ROWS = [json.loads(line) for line in Path(pairs.__file__).with_name("pairs.en.jsonl").read_text("utf-8").splitlines()]
KINDS = ["overlap", "paraphrase", "negation", "number", "name", "order", "role", "modality", "comparison", "polysemy"]


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9:]+", text.lower()))


def test_there_are_at_least_forty_and_half_of_them_match() -> None:
    labels = Counter(example.label for example in pairs.examples())
    assert sum(labels.values()) >= 40
    assert labels[0] == labels[1]


def test_rows_are_as_they_are_read() -> None:
    for row, example in zip(ROWS, pairs.examples(), strict=True):
        assert set(row) == {"id", "text_a", "text_b", "label", "kind"}
        assert (row["text_a"], row["text_b"], row["label"], row["id"]) == (
            example.text_a,
            example.text_b,
            example.label,
            example.id,
        )
        assert row["id"].startswith(row["kind"] + "-")


def test_every_kind_is_there_with_both_labels() -> None:
    assert {row["kind"] for row in ROWS} == set(KINDS)
    assert all({row["label"] for row in ROWS if row["kind"] == kind} == {0, 1} for kind in KINDS)


def test_no_pair_and_no_id_stands_twice() -> None:
    for name in ("id", "pair"):
        found = [row["id"] if name == "id" else frozenset((row["text_a"], row["text_b"])) for row in ROWS]
        assert len(set(found)) == len(found), name


def test_the_kinds_are_what_they_say() -> None:
    for row in ROWS:
        a, b = words(row["text_a"]), words(row["text_b"])
        shared = len(a & b) / len(a | b)
        if row["kind"] == "paraphrase":
            assert not a & b, row["id"]
        if row["kind"] in ("overlap", "number") and row["label"] == 0:
            assert shared >= 0.4, row["id"]
        if (row["kind"], row["label"]) in {("order", 0), ("role", 0)}:
            assert a == b, row["id"]
        assert 2 <= len(row["text_a"].split()) <= 12


def test_the_papers_case_is_among_the_first() -> None:
    first = pairs.examples()[1]
    assert (first.text_a, first.text_b) == ("Which browsers can play movies?", "Which browser can download movies?")
    assert first.label == 0
