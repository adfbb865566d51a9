"""Rows as the owners of data sets give them out, and what is said of a field that is absent."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from triattn_core.analysis.mining.sources import file_source, read_examples
from triattn_core.errors import DataError
from triattn_core.importers.text_rows import TextRow, read_texts
from triattn_core.importers.token_files import parse_tokens, read_tokens
from triattn_core.tasks import TASKS
from triattn_core.trace.token_lists import is_special

PAIRS = [
    ({"sentence1": "a b", "sentence2": "c", "label": "1"}, 1),
    ({"sentence1": "a b", "sentence2": "c", "label": 1.0}, 1),
    ({"question1": "a b", "question2": "c", "is_duplicate": "0"}, 0),
    ({"text_a": "a b", "text_b": "c", "label": "paraphrase"}, 1),
]
INFERENCE = [
    ({"premise": "a b", "hypothesis": "c", "label": 2}, 2),
    ({"sentence1": "a b", "sentence2": "c", "gold_label": "contradiction"}, 2),
    ({"sentence1": "a b", "sentence2": "c", "gold_label": "-"}, None),
    ({"premise": "a b", "hypothesis": "c", "label": "Entailment"}, 0),
]
RACE = {"article": "a b.", "question": "c?", "options": ["d", "e", "f", "g"]}
SQUAD = {"title": "t", "context": "a b c", "question": "d?", "id": "1"}


@pytest.mark.parametrize(
    "task, row, label", [("pairs", *one) for one in PAIRS] + [("inference", *one) for one in INFERENCE]
)
def test_pairs_under_the_names_of_their_owners(task, row, label):
    example = TASKS[task].Example.from_row(row)
    assert list(vars(example).values())[:3] == ["a b", "c", label]


def test_race_has_letters_and_an_article():
    for answer, label in (("A", 0), ("D", 3), (2, 2), ("1", 1), (None, None)):
        example = TASKS["reading"].Example.from_row({**RACE, "answer": answer})
        assert (example.passage, example.label) == ("a b.", label)
    for answer in ("E", "a", "AB", -1, 4):
        with pytest.raises(DataError, match="'answer' must be a whole number from 0 to 3"):
            TASKS["reading"].Example.from_row({**RACE, "answer": answer})


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_squad_as_hugging_face_stores_it(ending, tmp_path):
    answers = [{"text": ["b", "c"], "answer_start": [2, 4]}, {"text": [], "answer_start": []}]
    rows, path = [SQUAD | {"answers": one} for one in answers], tmp_path / f"squad.{ending}"
    if ending == "jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    else:
        pd.DataFrame(rows).to_parquet(path)
    examples = [example for _, example in read_examples("questions", file_source(path))]
    assert [example.answers for example in examples] == [(("b", 2), ("c", 4)), ()]
    with pytest.raises(DataError, match="field 'answers' must be a list"):
        TASKS["questions"].Example.from_row(SQUAD | {"answers": {"text": ["b"], "answer_start": []}})


ABSENT = [
    ("pairs", {"a": "x", "b": "y"}, "field 'text_a' is absent; there are a, b"),
    ("inference", {"premise": "x", "Hypothesis": "y"}, "field 'text_b' is absent; there are premise, Hypothesis"),
    ("reading", {"text": "x", "options": ["a", "b"]}, "field 'passage' is absent; there are text, options"),
    ("questions", {"question": "x"}, "field 'context' is absent; there are question"),
    ("sentences", {}, "field 'text' is absent; there are none"),
    ("dialogue", {"turns": []}, "field 'history' is absent; there are turns"),
]


@pytest.mark.parametrize("task, row, reason", ABSENT)
def test_a_field_that_is_absent_is_said_with_those_that_are_there(task, row, reason):
    with pytest.raises(DataError, match=reason):
        TASKS[task].Example.from_row(row)


def test_rows_for_models_of_others(tmp_path):
    rows = [
        {"premise": "a", "hypothesis": "b", "label": 1.0},
        {"sentence": "a", "label": "1"},
        {"sentence1": "a", "sentence2": "b", "label": "same"},
        {"words": "a"},
    ]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    *read, (_, error) = read_texts(file_source(tmp_path / "rows.jsonl"))
    assert [(row.texts, row.label) for _, row in read] == [(("a", "b"), 1), (("a",), 1), (("a", "b"), "same")]
    assert 'fields "text", or "text_a" and "text_b", are absent; there are words' in str(error)


TOKENS = [
    ("a\nb\n\n", ["a", "b", ""]),
    ("\n\n", ["", ""]),
    ("a\u2028b\nc\x0cd\n", ["a\u2028b", "c\x0cd"]),
    ("a\x85\n\x1c\n b", ["a\x85", "\x1c", " b"]),
    ("a\r\nb\r\n", ["a", "b"]),
    ("a\rb\nc", ["a\rb", "c"]),
    ("one line of words\n", ["one", "line", "of", "words"]),
]


@pytest.mark.parametrize("text, tokens", TOKENS)
def test_a_token_ends_at_a_line_feed_alone(text, tokens, tmp_path):
    (tmp_path / "tokens.txt").write_bytes(text.encode())
    assert read_tokens(tmp_path / "tokens.txt") == parse_tokens(text) == {"tokens": tokens}


def test_special_tokens_are_known_by_their_form_or_by_name():
    special = "[CLS] [MASK] <cls> <mask> <|im_start|> <|eot_id|> <start_of_turn> <pad> </s> [unused12] <extra_id_0>"
    assert all(map(is_special, [*special.split(), "<｜begin▁of▁sentence｜>"]))
    assert not any(map(is_special, ["[UNK]", "<unk>", "<b>", "[1]", "a<|b|>", "<||>", "CLS", "<h1>", "[sep]", "|"]))
    assert is_special("^", {"^"})
    assert parse_tokens('{"tokens": ["^", "a"], "special": ["^"]}') == {"tokens": ["^", "a"], "special": ["^"]}


def test_models_of_others_read_the_questions_of_squads_own_file(tmp_path):
    answers = [{"text": "a cat", "answer_start": 4}, {"text": "a cat", "answer_start": 4}, {"text": "cat"}]
    qas = [{"question": "Who sat?", "id": "1", "answers": answers}, {"question": "Why?", "id": "2", "answers": []}]
    file = tmp_path / "dev.json"
    file.write_text(json.dumps({"version": "1", "data": [{"paragraphs": [{"context": "so a cat sat", "qas": qas}]}]}))
    found = dict(read_texts(file_source(file)))
    assert found == {
        1: TextRow(("Who sat?", "so a cat sat"), answers=("a cat", "cat")),
        2: TextRow(("Why?", "so a cat sat")),
    }
    file.write_text('{"question": "Who?", "passage": "a cat", "answers": ["a cat"], "label": 1}\n')
    assert dict(read_texts(file_source(file))) == {1: TextRow(("Who?", "a cat"), 1, ("a cat",))}
