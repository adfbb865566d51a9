"""What goes in as a chat or as a passage, and its options: the payload against the example."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from triattn_core.views import answers
from triattn_core.views.lib.strongest import brief
from triattn_core.views.lib.tokens import text_names

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
    assert [(row["at"], row["mark"], row["rank"]) for row in payload["rows"]] == [(2, "3", 1), (1, "2", 2), (0, "1", 3)]
    assert payload["rows"][0]["shares"] == [0.3, 0.6] and [row["right"] for row in payload["rows"]] == [
        True,
        False,
        False,
    ]
    assert payload["models"] == [{"title": "Bi", "mechanism": "bi"}, {"title": "Tri", "mechanism": "tri"}]
    assert payload["chosen"] == 1 and payload["chat"]


def test_options_of_a_question_keep_their_order():
    payload = answers.figure(TEXT, {"": [0.1, 0.9]}, 0).payload
    assert [(row["mark"], row["at"], row["rank"]) for row in payload["rows"]] == [("A", 0, 1), ("B", 1, 2)]
    assert not payload["chat"] and [text["short"] for text in payload["texts"]] == ["P", "Q"]


def test_turns_have_their_speaker_their_share_and_what_is_read():
    payload = answers.figure(TALK, {"": SAID["Tri"]}, 1, mass=SHARES).payload
    first, last = payload["texts"]
    assert (first["short"], first["long"], first["who"], first["read"]) == ("T1", "turn 1", "A", 0)
    assert last["who"] == "B" and last["read"] == 11
    assert [run["share"] for text in payload["texts"] for run in text["runs"]] == [0.4, 0.15]
    assert payload["rest"] == "The candidate itself holds 20 %, [CLS] and [SEP] 25 %."
    assert payload["words"]["shares"] == "share of the attention, per turn"


def test_turns_have_their_share_over_an_even_one():
    tokens = SHARES.assign_coords(context_tokens=("context", [3, 8, 2, 7]))  # 20 in all
    rest = answers.figure(TALK, SAID, 1, mass=tokens).payload["rest"]
    assert rest.endswith(" Share over an even share by tokens: T1 ×1, T2 ×1.5.")
    apart = tokens.isel(context=[1, 2])  # neither special tokens nor the candidate are context
    assert answers.figure(TALK, SAID, 1, mass=apart / 0.55).payload["rest"] == (
        "Share over an even share by tokens: T1 ×0.91, T2 ×1.4."
    )
    assert "even" not in answers.figure(replace(TALK, chat=False), SAID, 1, mass=tokens).payload["rest"]


def test_nothing_is_said_of_shares_where_no_model_looks_at_the_context():
    payload = answers.figure(TALK, SAID, 1).payload
    assert payload["rest"] == payload["words"]["shares"] == ""
    assert answers.figure(TALK, SAID, 1, mass=SHARES).payload["words"]["shares"].startswith("Tri: ")


def test_sentences_of_a_passage_are_shaded_against_the_largest():
    shares = mass([("sentence 1", "passage", 0, 10, 0.3), ("sentence 2", "passage", 11, 21, 0.124)])
    payload = answers.figure(TEXT, {"": [0.1, 0.9]}, 0, mass=shares).payload
    assert "at most 30 %" in payload["words"]["shares"] and len(payload["texts"][0]["runs"]) == 2


def test_a_single_candidate_that_nobody_judged():
    payload = answers.figure(replace(TALK, options=("no",), gold=None), {"": [0.4]}, 0).payload
    assert [row["right"] for row in payload["rows"]] == [False]


def test_the_offline_page_reads_no_text_as_html():
    page = answers.figure(TALK, SAID, 0, mass=SHARES).html()
    inside = re.search(r'<script id="payload" type="application/json">(.*?)</script>', page, re.S).group(1)
    assert "<" not in inside and json.loads(inside)["texts"][1]["text"] == "<b>why</b>?"
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
