"""The project's own pairs: sound, varied, balanced."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from triattn_core.tasks import pairs

KINDS = {
    "en": "reworded same-topic sense".split(),
    "hard.en": "overlap paraphrase negation number name order role modality comparison polysemy".split(),
    "zh": "overlap paraphrase negation number order role question comparison polysemy reversal".split(),
}
ROWS = {
    name: [json.loads(line) for line in Path(pairs.__file__).with_name(f"pairs{join}{name}.jsonl").open("rb")]
    for name, join in zip(KINDS, (".", "-", "."))
}
PAPER = {
    "en": ("Which browsers can play movies?", "Which browser can download movies?"),
    "zh": ("哪些浏览器可以看电影", "什么浏览器可以下电影"),
}
both = pytest.mark.parametrize("language", KINDS)


def words(text: str) -> Counter[str]:
    """English words; Chinese characters, since no space parts its words."""
    return Counter(re.findall(r"[a-z0-9:]+|[\u4e00-\u9fff]", text.lower()))


def shared(row: dict) -> float:
    a, b = words(row["text_a"]), words(row["text_b"])
    return (a & b).total() / (a | b).total()


@both
def test_there_are_at_least_forty_and_half_of_them_match(language: str) -> None:
    own = [row for row in ROWS[language] if (row["text_a"], row["text_b"]) != PAPER["zh"]]
    labels = Counter(row["label"] for row in own)
    assert labels.total() >= 40
    assert labels[0] == labels[1]


@both
def test_rows_are_as_they_are_read(language: str) -> None:
    known = {example.id: example for example in pairs.examples(language[-2:])}
    assert len(known) == sum(len(rows) for name, rows in ROWS.items() if name[-2:] == language[-2:])
    for row in ROWS[language]:
        example = known[row["id"]]
        assert set(row) == {"id", "text_a", "text_b", "label", "kind"}
        assert (row["text_a"], row["text_b"], row["label"], row["id"]) == (
            example.text_a,
            example.text_b,
            example.label,
            example.id,
        )
        assert row["id"].startswith(row["kind"] + "-")


@both
def test_every_kind_is_there_with_both_labels(language: str) -> None:
    rows = ROWS[language]
    assert {row["kind"] for row in rows} == set(KINDS[language])
    labels = {kind: {row["label"] for row in rows if row["kind"] == kind} for kind in KINDS[language]}
    of_one = {"reworded": {1}, "same-topic": {0}}
    assert all(found == of_one.get(kind, {0, 1}) for kind, found in labels.items())


@both
def test_no_pair_and_no_id_stands_twice(language: str) -> None:
    for name in ("id", "pair"):
        rows = ROWS[language]
        keys = [row["id"] if name == "id" else frozenset((row["text_a"], row["text_b"])) for row in rows]
        assert len(set(keys)) == len(keys), name


def test_the_english_kinds_are_what_they_say() -> None:
    for row in (*ROWS["en"], *ROWS["hard.en"]):
        a, b = set(words(row["text_a"])), set(words(row["text_b"]))
        if row["kind"] == "paraphrase":
            assert not a & b, row["id"]
        if row["kind"] in ("overlap", "number") and row["label"] == 0:
            assert len(a & b) / len(a | b) >= 0.4, row["id"]
        if (row["kind"], row["label"]) in {("order", 0), ("role", 0)}:
            assert a == b, row["id"]
        assert 2 <= len(row["text_a"].split()) <= 12


def test_the_chinese_kinds_are_what_they_say() -> None:
    for row in ROWS["zh"]:
        kind, label = row["kind"], row["label"]
        if kind == "paraphrase":
            assert shared(row) < 0.25, row["id"]
        if (kind, label) in {("overlap", 0), ("number", 0), ("negation", 0), ("question", 0)}:
            assert shared(row) >= 0.4, row["id"]
        if (kind, label) in {("order", 0), ("order", 1), ("role", 0), ("reversal", 0), ("reversal", 1)}:
            assert words(row["text_a"]) == words(row["text_b"]), row["id"]
        if kind == "negation":
            assert re.search("[不没]", row["text_a"] + row["text_b"]), row["id"]
        for text in (row["text_a"], row["text_b"]):
            assert 5 <= len(text) <= 20 and re.search("[\u4e00-\u9fff]", text), row["id"]


def test_the_papers_case_is_among_them() -> None:
    for language, case in PAPER.items():
        assert (*case, 0) in [(one.text_a, one.text_b, one.label) for one in pairs.examples(language)[:50]]


def test_a_language_without_examples_gets_english_ones() -> None:
    assert pairs.examples("../../x") == pairs.examples() == pairs.examples("en") != pairs.examples("zh")
