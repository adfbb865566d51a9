"""The page Case book from app.py: list, search, edits of two people, the way back, and the book as a file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.case_book import worked_cases
from tests.app.test_pages import opened, sound, texts
from tests.support.pages import page_links
from triattn_core.case_book import Case, CaseBook
from triattn_core.tasks import dialogue, pairs, reading

PAIR = pairs.row(pairs.examples("zh")[0])
LONG = {"history": ["so much to say " * 900, "and then?"], "candidates": ["this", "that"], "label": 1}
KEPT = [
    Case("pairs", PAIR, "看 and 下 share an object.", ("verb", "zh"), "cube", "checkpoint=lcqmc-tri-dot&layer=1"),
    Case("reading", reading.row(reading.examples()[1]), "Needs two sentences.", ("two",), "side_by_side", "example=x"),
    Case("dialogue", LONG, "", (), "side_by_side", "checkpoints=a&checkpoints=b"),
    Case("a task of tomorrow", {"what": "<script>alert(1)</script>"}, "**bold** $x$", ("odd",), "../secret", "a=1"),
]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRIATTN_CASES", str(tmp_path / "cases.sqlite"))
    return tmp_path / "cases.sqlite"


@pytest.fixture
def book(place: Path) -> CaseBook:
    return CaseBook(place)


@pytest.fixture
def ids(book: CaseBook) -> list[str]:
    return [book.keep(case).id for case in KEPT]


def notes(app: AppTest) -> list[str]:
    return app.dataframe[0].value["note"].tolist()


def field(app: AppTest, kind: str):
    start = {"text_area": "note-", "multiselect": "tags-"}[kind]
    return next(one for one in app.get(kind) if one.key.startswith(start))


def test_buttons_go_from_case_to_case(ids: list[str]) -> None:
    app = sound(opened("case_book", case=ids[-1]))
    assert app.button(key="Previous-case").disabled
    sound(app.button(key="Next-case").click().run())
    assert app.query_params["case"] == ids[-2] and not app.button(key="Previous-case").disabled


def test_an_empty_book_says_where_cases_come_from_and_makes_no_file(place: Path) -> None:
    app = sound(opened("case_book"))
    assert len(app.info) == 1 and "No case has been kept yet" in app.info[0].value and not place.exists()


def test_an_empty_book_opens_on_examples_that_can_be_kept(place: Path) -> None:
    app = sound(opened("case_book"))
    shown = [f"{link.page}?{link.query_string}" for link in page_links(app)]
    assert len(shown) == len(worked_cases.CASES)
    sound(app.button(key="keep-worked").click().run())
    assert place.exists() and notes(app) == [case.note for case in worked_cases.CASES]
    assert field(app, "text_area").value == worked_cases.CASES[0].note  # the first is open


def test_all_are_listed_and_filters_leave_what_they_say(ids: list[str]) -> None:
    app = sound(opened("case_book"))
    assert sorted(notes(app)) == sorted(case.note for case in KEPT)
    for key, asked, index in (("words", "share object", 0), ("words", PAIR["text_a"][:4], 0), ("words", "two", 1)):
        sound(app.text_input(key=key).set_value(asked).run())
        assert notes(app) == [KEPT[index].note], asked
        assert f"<b>1</b> of {len(KEPT)} cases" in texts(app)
    sound(app.text_input(key="words").set_value("").run())
    sound(app.selectbox(key="tag").set_value("odd").run())
    assert notes(app) == [KEPT[3].note] and "<script>" not in texts(app)
    sound(app.selectbox(key="of").set_value("pairs").run())
    assert "No matching cases" in texts(app) and not app.dataframe


def test_a_case_opens_where_it_was_kept_with_its_texts(ids: list[str]) -> None:
    app = sound(opened("case_book", case=ids[0]))
    assert PAIR["text_a"] in texts(app)
    (link,) = page_links(app)
    assert link.proto.page.endswith("cube") and "kept with lcqmc-tri-dot" in texts(app)
    assert "checkpoint=lcqmc-tri-dot" in link.proto.query_string and "layer=1" in link.proto.query_string
    app = sound(opened("case_book", case=ids[1]))
    (link,) = page_links(app)
    query = link.proto.query_string
    assert f"example={reading.examples()[1].id}" in query and "example=x" not in query
    app = sound(opened("case_book", case=ids[3]))
    assert not page_links(app) and "No page can open this row" in texts(app)


def test_a_row_too_long_for_a_link_is_handed_over(ids: list[str]) -> None:
    app = sound(opened("case_book", case=ids[2]))
    assert not page_links(app)
    app.button(key="open-side_by_side").click().run()
    assert app.session_state["choice-input"].parts["turns"].splitlines()[-1] == "and then?"
    assert dialogue.Example.from_row(LONG).history[0].strip() in app.session_state["choice-input"].parts["turns"]


def test_note_and_tags_are_edited(book: CaseBook, ids: list[str]) -> None:
    app = sound(opened("case_book", case=ids[0]))
    assert field(app, "text_area").value == KEPT[0].note
    field(app, "text_area").set_value("Another note.")
    field(app, "multiselect").set_value(["verb", "object"])
    sound(app.button(key="save").click().run())
    kept = book.get(ids[0])
    assert (kept.note, kept.tags, kept.version) == ("Another note.", ("object", "verb"), 2)
    field(app, "text_area").set_value("And another.")
    sound(app.button(key="save").click().run())
    assert book.get(ids[0]).version == 3


@pytest.mark.parametrize(("choice", "left"), [("theirs", "Theirs."), ("mine", "Mine.")])
def test_of_two_writers_the_second_sees_what_stands_there(book, ids: list[str], choice: str, left: str) -> None:
    app = sound(opened("case_book", case=ids[0]))
    field(app, "text_area").set_value("Mine.")
    book.change(replace(book.get(ids[0]), note="Theirs.", tags=("they",)))
    sound(app.button(key="save").click().run())
    assert book.get(ids[0]).note == "Theirs."
    assert "Current version: Theirs\\. Tags: they" in app.warning[0].value
    assert field(app, "text_area").value == "Mine."
    sound(app.button(key=choice).click().run())
    assert not app.warning and field(app, "text_area").value == left
    sound(app.button(key="save").click().run())
    assert book.get(ids[0]).note == left


def test_what_another_changed_is_shown_where_nothing_was_written(book: CaseBook, ids: list[str]) -> None:
    app = sound(opened("case_book", case=ids[0]))
    book.change(replace(book.get(ids[0]), note="Theirs."))
    sound(app.run())
    assert field(app, "text_area").value == "Theirs." and not app.warning


def test_a_case_is_taken_out_and_one_that_is_gone_is_said(book: CaseBook, ids: list[str]) -> None:
    app = sound(opened("case_book", case=ids[0]))
    sound(app.button(key="drop").click().run())
    assert len(notes(app)) == 3 and len(book.search()) == 3
    app = sound(opened("case_book", case=ids[1]))
    book.drop(ids[1])
    field(app, "text_area").set_value("Too late.")
    app.button(key="save").click().run()
    assert not app.exception and "no case" in " ".join(caption.value for caption in app.caption)


def test_the_book_comes_from_a_file(book: CaseBook, place: Path, tmp_path: Path) -> None:
    other = CaseBook(tmp_path / "other.sqlite")
    for case in KEPT:
        other.keep(case)
    app = sound(opened("case_book"))
    content = "".join(other.lines()).encode()
    sound(app.file_uploader(key="book-file").upload("book.jsonl", content).run())
    assert len(book.search()) == 4 and "4 new, 0 were here already" in " ".join(
        caption.value for caption in app.caption
    )
    lines = [line for line in other.lines() if "Needs two" not in line] + [json.dumps({"format": 1})]
    app.file_uploader(key="book-file").set_value(("bad.jsonl", "\n".join(lines).encode(), "")).run()
    assert "were here already" not in " ".join(caption.value for caption in app.caption)
    assert not app.exception and "bad\\.jsonl" in app.error[0].value and len(book.search()) == 4


def test_what_is_no_book_is_one_line(place: Path) -> None:
    place.write_text("no database " * 100)
    app = opened("case_book")
    assert not app.exception and len(app.error) == 1 and "case book" in app.error[0].value
