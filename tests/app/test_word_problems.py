"""Word problems in the Laboratory: what a reader types is lit, answered, followed, and refused in one line."""

from __future__ import annotations

import re
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from pages.laboratory import problem_input
from pages.shared import sentence_box
from tests.app.test_pages import opened, sound, texts
from triattn_core.checkpoint.registry import operands_checkpoints
from triattn_core.results.where_it_pays import IN_PLACE
from triattn_core.studies.which_two_numbers import BY_QUESTION
from triattn_core.tasks.operands.word_numbers import find_numbers

pytestmark = pytest.mark.skipif(not operands_checkpoints(), reason="not trained")
MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"


def page(**query: str) -> AppTest:
    return opened("laboratory", laboratory="Word problems", **query)


def test_it_opens_where_tri_finds_the_pair_and_two_way_attention_does_not():
    shown = texts(sound(page()))
    assert '<mark class="t-picked">15</mark>' in shown and "<mark>24</mark>" in shown
    tri, two_way = (shown[shown.index(f"<b>{name}") :][:200] for name in ("Tri", "Two-way, one layer"))
    assert "15 + 8 = 23" in tri and "3 and 24 do not make 23" in two_way
    assert "it is not that set&#x27;s own metric" in shown and "Would refute it" in shown


def test_the_rows_without_a_lead_stand_beside_those_with_one():
    shown = texts(page())
    table = shown[shown.index("Where a relation of three pays") :]
    rows = [row for row in table.split("<tr>") if "<td" in row]
    by_task = {row[: row.index("</td>")].removeprefix("<td>"): row for row in rows}
    assert "<b>ahead by 21.8</b>" in by_task["Which two numbers make this one? (GSM8K)"]
    stories = [row for task, row in by_task.items() if "CLUTRR" in task]
    of_tri = [row for row in stories if IN_PLACE not in unescape(row)]
    assert len(of_tri) == 3 and all("not ahead" in row for row in of_tri)
    assert len(stories) == 6
    assert all("triangle attention ahead by" in row and "<b>ahead" not in row for row in stories if row not in of_tri)
    assert "Told the operation alone" in shown


def test_a_changed_number_moves_the_pair_and_the_number_asked_for():
    app = sound(page())
    problem = app.text_area(key="problem")
    sound(problem.set_value(problem.value.replace("8 on", "11 on")).run())
    shown = texts(app)
    assert app.text_input(key="makes").value == "26" and "15 + 11 = 26" in shown
    assert "<b>Your change.</b>" in shown and "Tri: 15 + 8 = 23" in shown


def test_a_question_in_the_text_asks_for_its_number_until_another_is_asked_for():
    app = sound(page())
    problem = app.text_area(key="problem")
    sound(problem.set_value("A farmer has 3 crates of 24 eggs and sells 15. Which two numbers make 72?").run())
    shown = texts(app)
    assert app.text_input(key="makes").value == "72" and f"3 {TIMES} 24 = 72" in shown
    assert "<mark>15</mark>" in shown and "<mark>72</mark>" not in shown and ">two</mark>" not in shown
    sound(app.text_input(key="makes").set_value("9").run())
    assert app.text_input(key="makes").value == "9" and f"24 {MINUS} 15 = 9" in texts(app)


def test_a_link_keeps_the_number_that_the_page_opens_on_beside_a_question():
    problem = "3 crates of 24 eggs, 15 sold on Monday and 8 on Tuesday. Which two numbers make 72?"
    app = sound(page(problem=problem))
    assert app.text_input(key="makes").value == "23" and "15 + 8 = 23" in texts(app)
    app = sound(page(problem="3 crates of 24 eggs. Which two numbers make 72?"))  # no two make 23
    assert app.text_input(key="makes").value == "72"


@pytest.mark.parametrize("made", ["seventy-two", "$72", "72 eggs"])
def test_a_number_is_asked_for_as_the_problem_writes_its_own(made):
    assert f"3 {TIMES} 24 = 72" in texts(sound(page(makes=made)))


def test_what_is_not_read_as_written_is_said():
    shown = texts(sound(page(problem="\u00bd of 12 and 8, then -5 and 7.", makes="20")))
    assert "not as \u00bd" in shown and "Signs are not read" in shown
    assert "Signs" not in texts(sound(page(problem="From 2024-03-05 on 6 of 9.", makes="15")))


def test_a_click_asks_for_another_number_and_a_step_joins_the_numbers():
    app = sound(page())
    pills = app.get("button_group")[0]
    assert "72" in pills.options
    sound(pills.set_value("72").run())
    assert app.text_input(key="makes").value == "72" and f"3 {TIMES} 24 = 72" in texts(app)
    sound(app.button(key="take-step").click().run())
    assert app.text_area(key="problem").value.endswith(f"\n3 {TIMES} 24 = 72")
    assert "<mark>72</mark>" in texts(app) or '<mark class="t-picked">72</mark>' in texts(app)


@pytest.mark.parametrize(
    ("query", "message"),
    (
        ({"problem": "A farmer has some eggs."}, "The problem has no numbers"),
        ({"problem": "A farmer has 3 crates."}, "The problem has 1 number:"),
        ({"problem": " "}, "The problem is empty"),
        ({"problem": " ".join(map(str, range(1, 19)))}, "The problem has 18 numbers"),
        ({"makes": "eggs"}, "Which two make 'eggs'"),
        ({"makes": "1/2/3"}, "Which two make '1/2/3'"),
        ({"makes": "-5"}, "Which two make '-5'"),
        ({"makes": "0"}, "Which two make '0'"),
    ),
)
def test_what_cannot_be_answered_is_one_line(query, message):
    app = page(**query)
    assert not app.exception and len(app.error) == 1
    assert message in app.error[0].value.replace("\\", "")
    assert "Over GSM8K" in texts(app)  # what was measured stays


@pytest.mark.parametrize("problem", ("I have 5 apples.", "No numbers.", " ".join(map(str, range(1, 19)))))
def test_a_problem_that_is_refused_keeps_the_number_of_the_link(problem):
    app = page(problem=problem, makes="72")
    assert len(app.error) == 1 and "does not use" not in texts(app)
    assert not any("does not use" in said.value for said in (*app.info, *app.warning, *app.toast))
    assert app.text_input(key="makes").value == "72"


def test_the_row_of_the_number_takes_no_style_of_other_boxes():
    assert not re.search(rf"st-key-{problem_input.ROW}\b", sentence_box.CSS)


def test_what_the_map_shows_is_named_by_what_it_is():
    shown = texts(page())
    assert "lies on pairs that fit" in shown and "on the truth" not in shown
    assert BY_QUESTION in shown and "“Twenty-five” is 25, “25 %” is 25 too" in shown
    assert [number.value for number in find_numbers("twenty-five of 25 %")] == [20, 5, 25]
    assert "No pair fits" in texts(page(makes="1000"))


def test_a_number_that_no_pair_makes_and_one_that_several_make():
    assert "no pair does" in texts(sound(page(makes="1000")))
    several = texts(sound(page(problem="3 crates of 24 eggs, 15 sold, boxes of 12.", makes="9")))
    assert f"24 {MINUS} 15 = 9" in several and "2 pairs fit" in several


def test_chinese_and_few_numbers_are_answered_with_a_note():
    shown = texts(sound(page(problem="农夫有3箱鸡蛋,每箱24个。", makes="72")))
    assert f"3 {TIMES} 24 = 72" in shown
    assert "they know the numbers alone" in shown and "this problem has fewer" in shown
