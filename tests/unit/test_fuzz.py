"""The fuzz run finds what is planted, makes the same inputs of the same seed, and passes on its first readers."""

from __future__ import annotations

import random
import time

from tests.fuzz import __main__ as fuzz
from tests.fuzz import inputs


def test_a_seed_makes_the_same_inputs(tmp_path):
    for make in (inputs.link, lambda draw: inputs.command(draw, tmp_path), lambda draw: inputs.arrays(draw, ".npy")):
        one, other, third = (make(random.Random(seed)) for seed in ("1:7", "1:7", "2:7"))
        assert one == other
    assert one != third
    assert inputs.upload(random.Random("1:7")) == inputs.upload(random.Random("1:7"))


def test_a_planted_crash_is_reported_and_the_run_goes_on(tmp_path, monkeypatch):
    calls = []

    def crashes(draw, folder):
        calls.append(1)
        raise RecursionError("planted")

    monkeypatch.setattr(fuzz, "RUN", {**fuzz.RUN, "reader": crashes})
    monkeypatch.setattr(fuzz, "KINDS", {"reader": 1})
    report = fuzz.fuzz(range(3), 1, tmp_path)
    assert [failure["number"] for failure in report["failures"]] == [0, 1, 2] and "planted" in report["failures"][0][
        "wrong"
    ]


def test_what_waits_for_ever_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz, "RUN", {**fuzz.RUN, "reader": lambda draw, folder: time.sleep(60)})
    monkeypatch.setattr(fuzz, "KINDS", {"reader": 1})
    monkeypatch.setattr(fuzz, "STILL", 0.2)
    assert "in all" in fuzz.run_input(0, 1, tmp_path)[3]


def test_readers_take_what_comes(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz, "KINDS", {"reader": 1})
    report = fuzz.fuzz(range(60), 3, tmp_path)
    assert report["inputs"] == {"reader": 60} and not report["failures"], report["failures"][:2]


def test_recorders_meet_their_oracles(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz, "KINDS", {"recorded": 1})
    report = fuzz.fuzz(range(12), 3, tmp_path)
    assert report["inputs"] == {"recorded": 12} and not report["failures"], report["failures"][:2]
