"""What goes in as a chat or as a passage, and its options: the payload against the example."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from jsonschema import Draft202012Validator

from tests.support import listed
from triattn_core.views import answers
from triattn_core.views.lib import lists
from triattn_core.views.lib.strongest import brief
from triattn_core.views.lib.tokens import text_names

SCHEMA = json.loads((Path(lists.__file__).parent / "lists.schema.json").read_text("utf-8"))
TALK = answers.ChoiceExample(
    {"turn.1": "it broke", "turn.2": "<b>why</b>?"},
    ("no", "so", "</script>"),
    "response",
    True,
    ("Dialogue", "Candidates"),
    ("candidate", "true"),
    2,
    ("A", "B"),
    {"turn.1": 0, "turn.2": 11},
)
READ = {"passage": "It is red. It is old.", "question": "What is it?"}
TEXT = answers.ChoiceExample(READ, ("red", "blue"), "option", False, ("Passage", "Options"), ("option", "right"), 0)
SAID = {"Bi": [0.2, 0.5, 0.3], "Tri": [0.1, 0.3, 0.6]}


def mass(rows: list) -> xr.DataArray:
    columns = dict(zip(("label", "text", "start", "end"), zip(*rows)))
    coords = {f"context_{name}": ("context", list(values)) for name, values in columns.items()}
    return xr.DataArray(np.array([row[4] for row in rows]), coords, ("context",))


SHARES = mass(
    [("[CLS] [SEP]", "", 0, 0, 0.25), ("turn 1", "turn.1", 0, 8, 0.4), ("turn 2", "turn.2", 0, 11, 0.15)]
    + [("response", "response", 0, 2, 0.2)]
)


def test_candidates_are_ranked_by_the_last_model_and_keep_their_numbers():
    payload = answers.figure(TALK, SAID, 1, mechanisms=("bi", "tri")).payload
    rows = listed.options(payload)
    assert [(row["at"], row["mark"]) for row in rows] == [(2, "3"), (1, "2"), (0, "1")]
    assert rows[0]["shares"] == [0.3, 0.6] and [row["right"] for row in rows] == [True, False, False]
    columns = payload["sections"][1]["parts"][0]["columns"]
    assert [(one["title"], one["ink"]) for one in columns if one["mark"] == "meters"] == [("Bi", "bi"), ("Tri", "tri")]
    assert columns[0]["help"] == ["rank 1", "rank 2", "rank 3"]
    assert listed.chosen(payload) == 1 and listed.passage(payload) is None


def test_options_of_a_question_keep_their_order():
    payload = answers.figure(TEXT, {"": [0.1, 0.9]}, 0).payload
    assert [(row["mark"], row["at"]) for row in listed.options(payload)] == [("A", 0), ("B", 1)]
    assert listed.passage(payload)["text"] == READ["passage"]
    assert [turn["short"] for turn in listed.turns(payload)] == ["Q"]


def test_turns_have_their_speaker_their_share_and_what_is_read():
    payload = answers.figure(TALK, {"": SAID["Tri"]}, 1, mass=SHARES).payload
    first, last = listed.turns(payload)
    assert (first["short"], first["long"], first["who"]) == ("T1", "turn 1: not read", "A")
    assert last["who"] == "B" and last["long"] == "turn 2"
    assert (first["looks"], last["looks"]) == ("mute", "even asks query")
    assert [first["share"], last["share"]] == [0.4, 0.15]
    texts = payload["sections"][0]
    assert texts["foot"] == "The candidate itself holds 20 %, [CLS] and [SEP] 25 %."
    assert texts["note"] == "share of the attention, per turn"


def test_turns_have_their_share_over_an_even_one():
    tokens = SHARES.assign_coords(context_tokens=("context", [3, 8, 2, 7]))  # 20 in all
    assert foot(TALK, tokens).endswith(" Share over an even share by tokens: T1 ×1, T2 ×1.5.")
    apart = tokens.isel(context=[1, 2])  # neither special tokens nor the candidate are context
    assert foot(TALK, apart / 0.55) == "Share over an even share by tokens: T1 ×0.91, T2 ×1.4."
    assert "even" not in foot(replace(TALK, chat=False), tokens)


def foot(example: answers.ChoiceExample, shares: xr.DataArray) -> str:
    return answers.figure(example, SAID, 1, mass=shares).payload["sections"][0].get("foot", "")


def test_nothing_is_said_of_shares_where_no_model_looks_at_the_context():
    texts = answers.figure(TALK, SAID, 1).payload["sections"][0]
    assert "foot" not in texts and "note" not in texts
    assert answers.figure(TALK, SAID, 1, mass=SHARES).payload["sections"][0]["note"].startswith("Tri: ")


def test_sentences_of_a_passage_are_shaded_against_the_largest():
    shares = mass([("sentence 1", "passage", 0, 10, 0.3), ("sentence 2", "passage", 11, 21, 0.124)])
    payload = answers.figure(TEXT, {"": [0.1, 0.9]}, 0, mass=shares).payload
    shades = [[0, 10, 0.3, "sentence 1: 30 %"], [11, 21, 0.124, "sentence 2: 12.4 %"]]
    assert "at most 30 %" in payload["sections"][0]["note"] and listed.passage(payload)["shades"] == shades


def test_one_turn_may_hold_all():
    whole = mass([("turn 2", "turn.2", 0, 11, 1.0)])
    rows = answers.figure(TALK, SAID, 1, mass=whole).payload["sections"][0]["parts"][0]
    assert listed.column(rows, "meters")["said"] == ["", "100 %"]


def test_a_single_candidate_that_nobody_judged():
    payload = answers.figure(replace(TALK, options=("no",), gold=None), {"": [0.4]}, 0).payload
    assert [row["right"] for row in listed.options(payload)] == [False]


@pytest.mark.parametrize("pins", [True, False])
@pytest.mark.parametrize("example", [TALK, TEXT], ids=["talk", "text"])
def test_it_keeps_the_schema_of_lists(example, pins):
    said = {name: shares[: len(example.options)] for name, shares in SAID.items()}
    drawn = dict(answers.figure(example, said, 1, 0, pins, SHARES, ("bi", "tri")).payload)
    payload = json.loads(json.dumps(drawn, allow_nan=False))
    assert payload == drawn, "plain values of JSON alone"
    Draft202012Validator(SCHEMA).validate(payload)
    assert listed.pinned(payload) == [0]
    payload["sections"][1]["parts"][0]["columns"][0]["colour"] = "red"
    assert not Draft202012Validator(SCHEMA).is_valid(payload)


def test_the_offline_page_reads_no_text_as_html():
    page = answers.figure(TALK, SAID, 0, mass=SHARES).html()
    inside = re.search(r'<script id="payload" type="application/json">(.*?)</script>', page, re.S).group(1)
    assert "<" not in inside and listed.read_texts(json.loads(inside))[1] == "<b>why</b>?"
    assert "innerHTML" not in page


@pytest.mark.parametrize(
    ("segment", "short"),
    [("turn 12", "T12"), ("turn 3.2", "T3.2"), ("sentences 3–4", "S3–4"), ("sentence A", "A"), ("response", "R")]
    + [("question", "Q"), ("option", "O"), ("[CLS] [SEP]", "[ ]")],
)
def test_short_names(segment: str, short: str):
    assert brief(segment) == short


def test_texts_are_called_as_their_reader_knows_them():
    assert text_names(["a", "turn.4", "passage"]) == {
        "a": {"short": "A", "long": "sentence A"},
        "turn.4": {"short": "T4", "long": "turn 4"},
        "passage": {"short": "P", "long": "passage"},
    }
