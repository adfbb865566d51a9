"""The pair that pages open on is the one that the committed scores choose, and something happens in it."""

from __future__ import annotations

import json

import pytest

from triattn_core.analysis.default_example import CHECKPOINTS, EFFECT, RECORDS, SURE, choose, is_fit, score
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.tasks import pairs


@pytest.mark.parametrize("language", CHECKPOINTS)
def test_the_first_pair_is_the_chosen_one(language):
    record = json.loads((RECORDS / f"default_example.{language}.json").read_text("utf-8"))
    best, first = choose(record["rows"]), pairs.examples(language)[0]
    assert best is not None and best["id"] == first.id and first.id in record["why"]
    assert {row["id"] for row in record["rows"]} == {example.id for example in pairs.examples(language)}


@pytest.mark.parametrize("language", CHECKPOINTS)
def test_its_numbers_are_those_of_the_shipped_checkpoints(language):
    entries = {entry.name: entry for entry in list_checkpoints()}
    if not set(CHECKPOINTS[language]) <= set(entries):
        pytest.skip("not trained")
    record = json.loads((RECORDS / f"default_example.{language}.json").read_text("utf-8"))
    first = pairs.examples(language)[0]
    stored = next(row for row in record["rows"] if row["id"] == first.id)
    again = score([load(entries[name].path, "cpu") for name in CHECKPOINTS[language]], first)
    assert again["right"] == stored["right"]
    assert again["change"] == pytest.approx(stored["change"], abs=0.02)


ROW = {"id": "x", "right": {"tri": True, "bi": False}, "log_odds": SURE, "change": -EFFECT}


@pytest.mark.parametrize(
    "worse",
    [{"right": {"tri": False, "bi": True}}, {"right": {"tri": True, "bi": True}}, {"log_odds": 0.4}, {"change": 0.1}],
)
def test_a_pair_in_which_nothing_happens_is_not_fit(worse):
    assert is_fit(ROW) and not is_fit(ROW | worse)
    assert choose([ROW | worse]) is None
