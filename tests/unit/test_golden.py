"""The recorder of what links show sees what changed, and only that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import golden, golden_commands


def test_numbers_are_those_a_reader_sees() -> None:
    html = "<style>p {margin: 4px}</style><p class='t-3'>p = 0.873 of 1,024 in 35 ms</p>"
    assert golden.numbers(html) == "0.873 1,024"
    assert golden.numbers("0.873") != golden.numbers("0.874")


@pytest.mark.parametrize(("other", "same"), [("12 ms on CPU", True), ("0.43 s on CPU", True), ("12 rows", False)])
def test_a_payload_is_the_same_whatever_the_model_took(other: str, same: bool) -> None:
    payloads = [json.dumps({"payload": {"caption": text, "cells": [1, 2]}}) for text in ("7 ms on CPU", other)]
    assert (golden.payload(payloads[0]) == golden.payload(payloads[1])) is same
    assert golden.payload(payloads[0]) != golden.payload(payloads[0].replace("[1, 2]", "[1, 3]"))


def test_a_link_that_shows_something_else_is_named() -> None:
    before = {"cube": {"tables": "1", "numbers": "2"}, "mtsa": {"tables": "3", "numbers": "4"}}
    after = {"cube": {"tables": "1", "numbers": "9"}, "mtsa": {"tables": "3", "numbers": "4"}}
    assert golden.differences(before, after) == ["cube: numbers"]
    assert golden.differences(before, before) == []


def test_what_a_command_computed_is_compared_and_not_when_it_ran() -> None:
    before, later = ({"seconds": 3.1, "rows": [0.1234561, 2]}, {"seconds": 9.9, "rows": [0.1234562, 2]})
    assert golden_commands.rounded(before) == golden_commands.rounded(later)
    assert golden_commands.rounded(before) != golden_commands.rounded(before | {"rows": [0.12346, 3]})


def test_rows_of_a_command_are_files(tmp_path) -> None:
    words = golden_commands.arguments("explain lcqmc-coin ROW/pairs.zh --cell a 1.2", tmp_path)
    assert [words[0], words[1], *words[3:]] == ["explain", "lcqmc-coin", "--cell", "a", "1.2"]
    assert set(json.loads(Path(words[2]).read_text("utf-8"))) >= {"text_a", "text_b"}
