"""The pair that pages open on is the one that the committed scores choose, and something happens in it."""

from __future__ import annotations

import json

import pytest

from triattn_core.analysis import default_question
from triattn_core.analysis.default_example import (
    CHECKPOINTS,
    EFFECT,
    RECORDS,
    SMALLER,
    SURE,
    TRUSTED,
    appeal,
    choose,
    choose_steps,
    is_fit,
    missing_shares,
    score,
)
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.scenes.attribute import Settings
from triattn_core.tasks import pairs, questions
from triattn_core.views.charts.attribution import LARGE_GAP


@pytest.mark.parametrize("language", CHECKPOINTS)
def test_the_first_pair_is_the_chosen_one(language):
    record = json.loads((RECORDS / f"default_example.pairs.{language}.json").read_text("utf-8"))
    best, first = choose(record["rows"]), pairs.examples(language)[0]
    assert best is not None and best["id"] == first.id and first.id in record["why"]
    assert {row["id"] for row in record["rows"]} == {example.id for example in pairs.examples(language)}


@pytest.mark.parametrize("language", CHECKPOINTS)
def test_its_numbers_are_those_of_the_shipped_checkpoints(language):
    entries = {entry.name: entry for entry in list_checkpoints()}
    if not set(CHECKPOINTS[language]) <= set(entries):
        pytest.skip("not trained")
    record = json.loads((RECORDS / f"default_example.pairs.{language}.json").read_text("utf-8"))
    first = pairs.examples(language)[0]
    stored = next(row for row in record["rows"] if row["id"] == first.id)
    again = score([load(entries[name].path, "cpu") for name in CHECKPOINTS[language]], first)
    assert again["right"] == stored["right"]
    assert again["change"] == pytest.approx(stored["change"], abs=0.02)
    assert again["cost"] == pytest.approx(stored["cost"], abs=0.02)
    assert again["flips"] == stored["flips"]
    assert again["without_context"] == pytest.approx(stored["without_context"], abs=0.02)


def test_attribute_opens_on_attributions_that_can_be_trusted():
    missing = [
        json.loads((RECORDS / f"default_example.pairs.{name}.json").read_text("utf-8"))["missing"]
        for name in CHECKPOINTS
    ]
    assert Settings().steps == choose_steps(missing) and TRUSTED == LARGE_GAP
    assert all(shares[str(Settings().steps)] <= TRUSTED for shares in missing)
    assert choose_steps([dict(zip(missing[0], (1, 20, 3, 2)))]) == 64  # not 16, which is within by luck
    assert choose_steps([dict(zip(missing[0], (1, 2, 3, 20)))]) == 128


@pytest.mark.parametrize("language", CHECKPOINTS)
def test_what_the_first_pair_misses_is_that_of_the_shipped_checkpoint(language):
    name, entries = CHECKPOINTS[language][0], {entry.name: entry for entry in list_checkpoints()}
    if name not in entries:
        pytest.skip("not trained")
    record = json.loads((RECORDS / f"default_example.pairs.{language}.json").read_text("utf-8"))
    again = missing_shares(load(entries[name].path, "cpu"), pairs.examples(language)[0])
    assert again == pytest.approx(record["missing"], abs=0.5)


def test_the_first_question_is_the_chosen_one():
    record = json.loads((RECORDS / "default_example.questions.en.json").read_text("utf-8"))
    best, first = max(record["rows"], key=default_question.appeal), questions.examples()[0]
    assert best["id"] == first.id and first.id in record["why"] and default_question.appeal(best) > 0
    assert {row["id"] for row in record["rows"]} == {example.id for example in questions.examples()}


def test_the_numbers_of_the_first_question_are_those_of_the_shipped_readers():
    entries = {entry.name: entry for entry in list_checkpoints()}
    if not set(default_question.CHECKPOINTS) <= set(entries):
        pytest.skip("not trained")
    record = json.loads((RECORDS / "default_example.questions.en.json").read_text("utf-8"))
    bundles = [load(entries[name].path, "cpu") for name in default_question.CHECKPOINTS]
    again = default_question.score(bundles, questions.examples()[0])
    stored = next(row for row in record["rows"] if row["id"] == again["id"])
    assert again["right"] == stored["right"] and again["probability"] == pytest.approx(stored["probability"], abs=0.005)


def test_a_question_that_all_answer_alike_has_no_appeal():
    row = {"right": {"a": True, "b": True}, "probability": 0.9}
    assert default_question.appeal(row) == 0
    assert default_question.appeal(row | {"right": {"a": True, "b": False}}) == pytest.approx(0.9)


ROW = {
    "id": "x",
    "right": {"tri": True, "bi": False},
    "log_odds": SURE,
    "change": -EFFECT,
    "cost": SMALLER,
    "without_context": -SMALLER,
}


@pytest.mark.parametrize(
    "worse",
    [
        {"right": {"tri": False, "bi": True}},
        {"right": {"tri": True, "bi": True}},
        {"log_odds": 0.4},
        {"change": 0.1},
        {"cost": -0.1},
        {"without_context": 0.1},
    ],
)
def test_a_pair_in_which_nothing_happens_is_not_fit(worse):
    assert is_fit(ROW) and not is_fit(ROW | worse)
    assert choose([ROW | worse]) is None


def test_what_turns_the_answer_has_more_appeal_than_what_moves_a_sure_one():
    turned, sure = ROW | {"log_odds": 1.0, "change": -2.0}, ROW | {"log_odds": 6.0, "change": -2.5}
    assert appeal(turned) > 5 * appeal(sure)
    assert choose([sure, turned]) is turned
