"""Questions about a passage: what is read, its words and windows, and the metrics of SQuAD."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from tests.support.tiny import make_encoder
from triattn_core.errors import DataError, InputError
from triattn_core.models.encoders import load_encoder
from triattn_core.tasks import questions
from triattn_core.text.roles import Limits
from triattn_core.text.rows import rows_file
from triattn_core.trace.site import Site

PASSAGE = "the red cars play what a smaller browser watch the film ? who downloads it ?"
ONE = questions.Example(PASSAGE, "who watch the film ?", (("a smaller browser", 23),), "seven")


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder") / "tiny"
    make_encoder(folder)
    return load_encoder(str(folder), "cpu")[1]


def read(tokenizer, example: questions.Example, tokens: int):
    (windows,) = questions.roles([example], tokenizer, Limits(tokens))
    return windows


def cut(role, text: str) -> list[str]:
    """The text of each cell."""
    return [text[role.spans[a][0] : role.spans[b - 1][1]] for a, b in role.runs]


# --- words and windows ---


def test_a_cell_is_a_word(tokenizer):
    (window,) = read(tokenizer, ONE, 40)
    passage, question = window.roles["passage"], window.roles["question"]
    assert cut(passage, PASSAGE) == PASSAGE.split() and cut(question, ONE.question) == ONE.question.split()
    assert len(passage) > len(passage.runs)  # car ##s
    assert window.axes(Site.parse("attention/weight")) == {"query": passage, "key": question}
    assert window.axes(Site.parse("question/x")) == {"query": question, "key": question}
    assert window.notes == ("The passage: the model does not know it.",)


@pytest.mark.parametrize("most", [5, 7, 11])
def test_windows_overlap_and_leave_nothing_out(tokenizer, most):
    text = "the red cars play big films who watch small browser " * 13
    example = questions.Example(text, "who ?")
    (whole,), windows = read(tokenizer, example, 500), read(tokenizer, example, most)
    every = whole.roles["passage"]
    places = [every.spans[a][0] for a, _ in every.runs]
    last, at = -1, []
    for window in windows:
        role = window.roles["passage"]
        starts = [role.spans[a][0] for a, _ in role.runs]
        assert len(role) <= most and cut(role, text) == [text[s:].split()[0] for s in starts]
        first = places.index(starts[0])
        assert [places.index(one) for one in starts] == list(range(first, first + len(starts)))
        assert first <= last + 1 and first + len(starts) > last
        at.append((first, last := first + len(starts) - 1))
        assert "windows of at most" in window.notes[0] and f"{len(places)} words" in window.notes[0]
    assert at[0][0] == 0 and last == len(places) - 1
    shared = [a[1] + 1 - b[0] for a, b in zip(at, at[1:])]
    assert min(shared) >= 0 and 1 <= max(shared) <= most // 4  # words; a piece more is a word less


def test_a_word_longer_than_a_window_is_several_cells(tokenizer):
    text = "car" + "s" * 17
    windows = read(tokenizer, questions.Example(text, "who"), 5)
    assert len(windows) > 1 and all(len(window.roles["passage"]) <= 5 for window in windows)
    assert sum(len(piece) for window in windows for piece in cut(window.roles["passage"], text)) >= len(text)
    assert windows[0].roles["passage"].runs == ((0, 5),)


def test_an_answer_is_the_words_it_stands_on(tokenizer):
    (window,) = read(tokenizer, ONE, 40)
    role = window.roles["passage"]
    assert questions.cells(role, ONE.spans[0]) == (5, 7)
    assert cut(role, PASSAGE)[5:8] == ["a", "smaller", "browser"]
    assert questions.cells(role, (9, 11)) == (2, 2)  # inside of a word
    assert questions.cells(role, (len(PASSAGE), len(PASSAGE) + 3)) is None
    parts = read(tokenizer, ONE, 8)
    whole = [questions.cells(one.roles["passage"], ONE.spans[0]) for one in parts]
    assert None in whole and any(whole)
    for part, place in zip(parts, whole):
        if place:
            assert cut(part.roles["passage"], PASSAGE)[place[0] : place[1] + 1] == ["a", "smaller", "browser"]


def test_a_question_longer_than_the_passage_is_read(tokenizer):
    (window,) = read(tokenizer, replace(ONE, passage="car", question="who play " * 30), 50)
    assert len(window.roles["passage"].runs) == 1 and len(window.roles["question"].runs) == 50
    assert any(note.startswith("The question is cut after 50 tokens") for note in window.notes)


# --- what is read ---


def test_the_context_may_be_called_passage():
    row = {"question": "who ?", "answers": [{"text": "red", "answer_start": 4}]}
    example = questions.Example.from_row(row | {"passage": PASSAGE})
    assert example == questions.Example.from_row(row | {"context": PASSAGE}) and example.spans == ((4, 7),)
    for part, message in (
        ({}, "'context' is absent; there are question, answers"),
        ({"passage": 3}, "'passage' must be text"),
        ({"passage": "x", "context": 3}, "'context' must be text"),
    ):
        with pytest.raises(DataError, match=f"field {message}"):
            questions.Example.from_row(row | part)


def test_examples_are_twelve_passages_and_the_papers_first():
    examples = questions.examples()
    assert len({one.passage for one in examples}) == 12 and len({one.id for one in examples}) == len(examples)
    assert all("Super Bowl" in example.passage for example in examples[:3])
    paper = next(example for example in examples if example.question == "What day was the game played on?")
    assert paper.answers == (("February 7, 2016", paper.passage.index("February")),)
    for example in examples:
        example.check()
        assert example.answers and all(
            example.passage[a:b] == text for (a, b), (text, _) in zip(example.spans, example.answers)
        )
        assert questions.Example.from_row(questions.row(example)) == replace(example, id="")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"context": 3}, "'context' must be text"),
        ({"question": None}, "'question' must be text"),
        ({"answers": "car"}, "'answers' must be a list"),
        ({"answers": ["car"]}, "an answer must be"),
        ({"answers": [{"text": "car"}]}, "an answer must be"),
        ({"answers": [{"text": "", "answer_start": 0}]}, "an answer must be"),
        ({"answers": [{"text": " ", "answer_start": 3}]}, "an answer must be"),
        ({"answers": [{"text": "car", "answer_start": 1}]}, "answer 'car' is not at character 1 of the passage, 'he '"),
        ({"answers": [{"text": "?", "answer_start": -1}]}, "not at character -1"),
    ],
)
def test_a_bad_record_is_named(tmp_path, change, message):
    row = {"context": "the car", "question": "what ?", "answers": [{"text": "car", "answer_start": 4}], "id": "x"}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n" + json.dumps(row | change) + "\n", "utf-8")
    with pytest.raises(DataError) as error:
        list(questions.read(path))
    assert f"{path}:2: " in str(error.value) and message in str(error.value) and "\n" not in str(error.value)
    qas = [{name: one for name, one in of.items() if name != "context"} for of in (row, row | change)]
    official = {"data": [{"title": "t", "paragraphs": [{"context": change.get("context", "the car"), "qas": qas}]}]}
    path = tmp_path / "official.json"
    path.write_text(json.dumps(official), "utf-8")
    with pytest.raises(DataError) as error:
        list(questions.read(path))
    number = 0 if "context" in change else 1
    assert f"{path}: data[0].paragraphs[0].qas[{number}] (id x): " in str(error.value) and message in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"version": 1}, "the list 'data'"),
        ({"data": [{"paragraphs": {}}]}, "data[0]: must be an object with the list 'paragraphs'"),
        ({"data": [{"paragraphs": [{"context": "a"}]}]}, "data[0].paragraphs[0]: must be an object with the list"),
        ({"data": [{"paragraphs": [{"context": "a", "qas": [3]}]}]}, "data[0].paragraphs[0].qas[0]: must be an object"),
        ({"data": ["x"]}, "data[0]: must be an object"),
    ],
)
def test_a_malformed_official_file_is_named(tmp_path, content, message):
    path = tmp_path / "official.json"
    path.write_text(json.dumps(content), "utf-8")
    with pytest.raises(DataError) as error:
        list(questions.read(path))
    assert str(error.value).startswith(str(path)) and message in str(error.value)


def test_an_official_file_gives_the_same_examples(tmp_path):
    path, rows = (
        tmp_path / "official.json",
        [questions.row(example) | {"id": example.id} for example in questions.examples()],
    )
    paragraphs = [{"context": row.pop("context"), "qas": [row]} for row in rows]
    path.write_text(json.dumps({"data": [{"title": "all", "paragraphs": paragraphs}]}), "utf-8")
    assert tuple(questions.read(path)) == questions.examples()
    packed = tmp_path / "squad" / "packed.json.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert rows_file(tmp_path, "squad/packed") == packed and tuple(questions.read(packed)) == questions.examples()
    cut, bomb = packed.read_bytes()[:-99], gzip.compress(b" " * 30_000_000)
    for bad, message in (
        (cut, "ended before"),
        (b"no gzip", "gzip"),
        (bomb, "decompresses to more than 100 times its size"),
    ):
        packed.write_bytes(bad)
        with pytest.raises(DataError, match=f"packed.json.gz: .*{message}") as error:
            list(questions.read(packed))
        assert "None" not in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "  ", "\n\t"])
def test_an_empty_text_is_said(text):
    with pytest.raises(InputError, match="The question is empty"):
        replace(ONE, question=text).check()
    with pytest.raises(InputError, match="The passage is empty"):
        replace(ONE, passage=text).check()
