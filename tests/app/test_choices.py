"""Dialogues and passages on the pages: what they open on, what a link does, what bad input says, and what folds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.test_pages import opened, payloads, sound, texts, visible_text
from tests.support import listed
from tests.support.checkpoint_fixtures import checkpoint_fixtures
from tests.support.choices_checkpoints import make_checkpoints
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.tasks import dialogue, reading
from triattn_core.text.segmentation import sentences

TALKS, PASSAGES = dialogue.examples(), reading.examples()
TALK, TEXT = {"task": "Dialogue"}, {"task": "Reading comprehension"}
FIGURES = {"cube": "inspector", "side_by_side": "panels"}  # what the payload of each page's figure has


checkpoint_folder, use_checkpoints = checkpoint_fixtures(make_checkpoints)


def block(app: AppTest) -> dict:
    """The texts and options at the top."""
    return next(payload for payload in payloads(app) if "sections" in payload)


def figure(app: AppTest, page: str) -> dict:
    return next(payload for payload in payloads(app) if FIGURES[page] in payload)


def chosen_text(app: AppTest) -> str:
    """The text of the chosen option."""
    payload = block(app)
    return next(row["text"] for row in listed.options(payload) if row["at"] == listed.chosen(payload))


@pytest.mark.parametrize("page", FIGURES)
def test_pages_open_on_pairs_and_offer_what_is_here(page: str) -> None:
    app = sound(opened(page))
    picker = app.segmented_control(key="task")
    assert picker.value == "pairs" and len(app.text_area) >= 2
    assert {"Sentence pairs", "Dialogue", "Reading comprehension"} <= {*picker.options}
    assert "No checkpoint is here yet" not in visible_text(app)


@pytest.mark.parametrize("page", FIGURES)
def test_tasks_without_a_checkpoint_are_named(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(make_checkpoints(tmp_path, ("pairs", "reading"))))
    app = sound(opened(page, **TALK))
    assert "No checkpoint is here yet for dialogue." in visible_text(app)
    assert "asks for task 'Dialogue'" in visible_text(app)
    assert app.segmented_control(key="task").value == "pairs"


@pytest.mark.parametrize("page", FIGURES)
def test_a_dialogue_is_a_chat_with_ranked_candidates(page: str) -> None:
    app, first = sound(opened(page, **TALK)), TALKS[0]
    payload = block(app)
    assert listed.read_texts(payload) == list(first.history)
    assert [turn["who"] for turn in listed.turns(payload)] == ["A", "B", "A"]
    rows = listed.options(payload)
    assert sorted(row["text"] for row in rows) == sorted(first.candidates)
    given = [row["shares"][-1] for row in rows]
    assert given == sorted(given, reverse=True) and sum(given) == pytest.approx(1, abs=1e-4)
    assert listed.chosen(payload) == rows[0]["at"]  # what the model chooses
    assert [row["at"] for row in rows if row["right"]] == [first.label]
    assert len(rows[0]["shares"]) == {"cube": 1, "side_by_side": 3}[page]


@pytest.mark.parametrize("page", FIGURES)
def test_a_passage_stands_as_text_with_its_options_in_order(page: str) -> None:
    app, first = sound(opened(page, **TEXT)), PASSAGES[0]
    payload = block(app)
    assert listed.read_texts(payload) == [first.passage, first.question]
    assert [row["text"] for row in listed.options(payload)] == list(first.options)
    # Of a long passage what is nearest to the question, by its own number.
    start, end, _, called = listed.passage(payload)["shades"][0]
    first_letter, last_letter = sentences(first.passage)[int(re.match(r"sentence (\d+): ", called)[1]) - 1]
    assert first_letter <= start < end <= last_letter


@pytest.mark.parametrize("page", FIGURES)
def test_a_link_opens_the_same_example_and_option(page: str) -> None:
    app = sound(opened(page, **TALK, example="echo-1", option="3"))
    example = next(one for one in TALKS if one.id == "echo-1")
    assert listed.chosen(block(app)) == 2 and chosen_text(app) == example.candidates[2]
    assert example.candidates[2] in figure(app, page)["texts"].values()
    sound(app.run())
    assert (app.query_params["option"], app.query_params["example"]) == ("3", "echo-1")
    assert not app.info


def test_a_checkpoint_in_the_link_brings_its_task() -> None:
    app = sound(opened("cube", checkpoint="race-tri-additive"))
    assert app.segmented_control(key="task").value == "reading" and listed.passage(block(app))


def test_another_task_opens_on_its_own_example() -> None:
    app = sound(opened("cube", **TALK, example="echo-1", option="3", context="tokens"))
    sound(app.segmented_control(key="task").set_value("reading").run())
    assert listed.read_texts(block(app))[1] == PASSAGES[0].question
    assert app.selectbox(key="context").value == "sentences" and not app.info
    sound(app.segmented_control(key="task").set_value("pairs").run())
    assert not {"example", "option"} & set(app.query_params)


def test_own_text_is_in_the_link_and_has_no_gold() -> None:
    own = {"turns": "hello\n\nwhat now?", "candidates": "one\ntwo"}
    app = sound(opened("cube", **TALK, **own))
    payload = block(app)
    assert listed.read_texts(payload) == ["hello", "what now?"]
    assert not any(row["right"] for row in listed.options(payload))
    assert app.query_params["turns"] == own["turns"]
    app = sound(opened("cube", **TALK, **own, edit="true"))
    app.text_area(key="write-candidates").set_value("one\ntwo\nthree").run()
    assert {row["text"] for row in listed.options(block(sound(app)))} == {"one", "two", "three"}
    assert app.query_params["candidates"] == "one\ntwo\nthree"


def test_text_too_long_for_a_link_is_said_and_kept() -> None:
    passage = "The clock is slow because its oil is old. " * 600
    app = sound(opened("cube", **TEXT, passage=passage, question="Why is it slow?", options="oil\nwater"))
    assert "Too long for a link" in visible_text(app) and "passage" not in app.query_params
    assert "The passage is cut after" in visible_text(app)
    assert listed.read_texts(block(sound(app.run())))[0] == passage.strip()
    text = listed.passage(block(app))
    assert text["begins"] <= text["shades"][0][0] < text["read"] < text["begins"] + len(passage) / 2


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({**TALK, "turns": "and now?", "candidates": "one\ntwo"}, None),
        ({**TALK, "turns": "\n".join(f"turn {i} it is" for i in range(200)), "candidates": "a\nb"}, "of 200 turns"),
        ({**TALK, "turns": "and now?", "candidates": "one\n\n   \ntwo"}, "2 empty lines of the candidates"),
        ({**TALK, "turns": "and now?", "candidates": "\n".join(f"answer {i}" for i in range(100))}, None),
        ({**TALK, "turns": "and now?", "candidates": "only one"}, None),
        ({**TEXT, "passage": "It is red. " * 6000, "question": "Is it?", "options": "yes\nno"}, "is cut after"),
        ({**TEXT, "passage": "It is red.", "question": "Is it?", "options": "\n".join("abcdefghijkl")}, None),
        ({**TALK, "turns": "<script>alert(1)</script>\n看电影 why", "candidates": "<b>x</b>\ny"}, "does not know 看"),
    ],
    ids="one-turn 200-turns blank-candidate 100-candidates single 18,000-words twelve-options markup".split(),
)
def test_odd_input_gives_a_result(query: dict, message: str | None) -> None:
    app = sound(opened("cube", **query))
    assert figure(app, "cube") and "<script>" not in texts(app)
    assert message is None or message in visible_text(app)
    assert all(row["text"].strip() for row in listed.options(block(app)))
    assert not any(row["right"] for row in listed.options(block(app)))  # nobody has said


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({**TALK, "turns": "and now?", "candidates": " \n"}, "No candidate is given: type at least one."),
        ({**TALK, "turns": "", "candidates": "one\ntwo"}, "The dialogue is empty: type at least one turn."),
        ({**TALK, "turns": "x", "candidates": "\n".join("a" * 101)}, "101 candidates are too many: at most 100."),
        ({**TEXT, "passage": "It is.", "question": "Is it?", "options": "yes"}, "One option is no choice"),
        ({**TEXT, "passage": " ", "question": "Is it?", "options": "yes\nno"}, "The passage is empty"),
    ],
)
def test_what_cannot_be_read_is_one_line_with_the_editor_open(query: dict, message: str) -> None:
    app = opened("cube", **query)
    assert not app.exception and len(app.error) == 1
    assert message in app.error[0].value.replace("\\", "")
    assert len(app.text_area) == 2


def test_a_link_that_asks_for_what_is_not_there_says_so() -> None:
    app = sound(opened("cube", **TALK, example="nothing<b>", option="77"))
    assert "example 'nothing<b>'" in visible_text(app) and "asks for option 77: there are 10" in visible_text(app)
    assert listed.read_texts(block(app))[0] == TALKS[0].history[0]
    assert "option 'x': a number" in visible_text(opened("cube", **TALK, option="x"))


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({**TALK, "context": "turns"}, ["[CLS] [SEP]", "turn 1", "turn 2", "turn 3", "response"]),
        ({"context": "sentences"}, ["[CLS] [SEP]", "sentence A", "sentence B"]),
        ({}, None),
    ],
)
def test_the_context_folds(query: dict, names: list[str] | None) -> None:
    context = figure(sound(opened("cube", **query)), "cube")["axes"]["context"]
    assert names is None and "[CLS]" in context["name"] or context["name"] == names
    assert (max(context["cells"]) > 1) == (names is not None)


def test_a_dialogue_opens_folded_to_turns_and_unfolds_to_cells() -> None:
    app = sound(opened("cube", **TALK))
    check = figure(app, "cube")["inspector"]["check"]
    assert "Context is folded from 40 cells to 5" in check and "after 1.000000" in check
    assert app.selectbox(key="context").options == ["turns", "sentences", "tokens", "phrases", "words"]
    app.selectbox(key="context").set_value("tokens").run()
    whole = figure(sound(app), "cube")
    assert len(whole["axes"]["context"]["name"]) == 40 and "folded" not in whole["inspector"]["check"]
    assert any("tokens" in place for place in whole["axes"]["context"]["where"])  # cells of several tokens say so
