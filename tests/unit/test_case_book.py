"""The case book: what is kept is found again, and nobody's words are lost."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from triattn_core.case_book import Case, CaseBook
from triattn_core.errors import CaseError
from triattn_core.text.rows import read_json_lines

ROW = {"text_a": "哪些浏览器可以看电影", "text_b": "50 % of a_b", "label": 0}


@pytest.fixture
def book(tmp_path) -> CaseBook:
    return CaseBook(tmp_path / "cases.sqlite")


def test_what_is_kept_is_read_again(book):
    kept = book.keep(Case("pairs", ROW, "Only Tri is right.", ("zh", " only  Tri ", "zh"), "cube", "a=1&head=3"))
    assert kept.version == 1 and kept.id and kept.created == kept.changed
    assert kept.tags == ("only Tri", "zh")
    assert CaseBook(book.path).get(kept.id) == kept
    assert book.tags() == ["only Tri", "zh"]


def test_the_last_kept_stands_first_even_within_a_millisecond(book):
    kept = [book.keep(Case("pairs", ROW)).id for _ in range(60)]
    assert [case.id for case in book.search()] == kept[::-1] == [case.id for case in book.of("pairs", ROW)]


@pytest.mark.parametrize(
    ("asked", "expected_ids"),
    [
        ({}, "abc"),
        ({"text": "BROWSER"}, "ab"),
        ({"text": "browser right"}, "a"),
        ({"text": "浏览器"}, "c"),
        ({"text": "50 %"}, "c"),
        ({"text": "%"}, "c"),
        ({"text": "_"}, "c"),
        ({"text": "odd"}, "b"),
        ({"tags": ["odd"]}, "b"),
        ({"tags": ["odd", "two"]}, "b"),
        ({"tags": ["odd", "none"]}, ""),
        ({"task": "reading"}, "b"),
        ({"text": "browser", "task": "pairs"}, "a"),
    ],
)
def test_search(book, asked, expected_ids):
    ids = {
        book.keep(Case("pairs", {"text_a": "a", "text_b": "b"}, "the browser is right")).id: "a",
        book.keep(Case("reading", {"passage": "Browsers."}, "wrong", ("odd", "two"))).id: "b",
        book.keep(Case("pairs", {**ROW, "text_b": "50 % of a_b"}, "none")).id: "c",
    }
    assert sorted(ids[case.id] for case in book.search(**asked)) == list(expected_ids)


def test_a_change_needs_the_version_it_was_made_from(book):
    first = book.keep(Case("pairs", ROW, "one", ("x",)))
    second = book.change(replace(first, note="two", tags=("x", "y")))
    assert (second.version, second.note, second.tags) == (2, "two", ("x", "y"))
    with pytest.raises(CaseError, match="was changed meanwhile") as caught:
        book.change(replace(first, note="mine"))
    assert caught.value.now == second == book.get(first.id)
    assert book.change(replace(second, tags=())).tags == ()
    book.drop(first.id)
    for call in (lambda: book.get(first.id), lambda: book.change(second), lambda: book.drop(first.id)):
        with pytest.raises(CaseError, match="no case"):
            call()
    assert book.tags() == []


def write(path, number: int) -> list[str]:
    mine = CaseBook(path)
    return [mine.keep(Case("pairs", ROW, f"{number}-{i}", (str(number),))).id for i in range(25)]


@pytest.mark.parametrize("processes", [False, True])
def test_two_who_write_at_once_lose_nothing(book, processes):
    if processes:
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            ids = pool.starmap(write, [(book.path, 0), (book.path, 1)])
    else:
        with ThreadPoolExecutor(4) as pool:
            ids = list(pool.map(write, [book.path] * 4, range(4)))
    assert {case.id for case in book.search()} == {one for some in ids for one in some}
    assert len(book.search()) == 25 * len(ids)


def add_line(path, id: str, number: int) -> None:
    """One line more in the same note, again and again until nobody was faster."""
    mine = CaseBook(path)
    while True:
        case = mine.get(id)
        try:
            mine.change(replace(case, note=case.note + f"{number}\n"))
            return
        except CaseError as error:
            assert "changed meanwhile" in str(error)


def test_changes_to_one_case_at_once_are_all_kept(book):
    id = book.keep(Case("pairs", ROW)).id
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(add_line, [book.path] * 30, [id] * 30, range(30)))
    assert sorted(map(int, book.get(id).note.split())) == list(range(30))
    assert book.get(id).version == 31


def test_export_and_import(book, tmp_path):
    cases = [book.keep(Case("pairs", ROW, f"note {i}", (f"t{i}",), "cube", "a=1")) for i in range(5)]
    assert book.export(tmp_path / "cases.jsonl") == 5
    other = CaseBook(tmp_path / "other.sqlite")
    assert other.load(read_json_lines(tmp_path / "cases.jsonl")) == (5, 0)
    assert {case.id: case for case in other.search()} == {case.id: case for case in cases}
    assert other.load(read_json_lines(tmp_path / "cases.jsonl")) == (0, 5)
    other.change(replace(cases[0], note="mine"))
    assert other.load(read_json_lines(tmp_path / "cases.jsonl")) == (1, 4)
    assert sorted(case.note for case in other.search()) == sorted(["mine", *(f"note {i}" for i in range(5))])


@pytest.mark.parametrize("row", [{}, {"format": 2}, {"format": 1, "task": 3, "row": {}, "version": 1}])
def test_what_is_no_case_is_refused_with_its_line(book, row):
    with pytest.raises(CaseError, match="cases.jsonl:7: not a case"):
        book.load([("cases.jsonl:7", row)])


def test_what_is_no_case_book_is_refused_in_one_line(tmp_path):
    (tmp_path / "rows.sqlite").write_text("no database " * 100)
    for path in (tmp_path / "rows.sqlite", tmp_path / "no" / "where.sqlite"):
        with pytest.raises(CaseError, match="cannot be read or written as a case book") as caught:
            CaseBook(path)
        assert "\n" not in str(caught.value)


def test_a_note_has_an_end(book):
    kept = book.keep(Case("pairs", ROW, "x" * 20_000))
    with pytest.raises(CaseError, match="at most 20,000 characters"):
        book.change(replace(kept, note="x" * 20_001))
