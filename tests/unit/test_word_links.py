"""Links of words that a map's weights give, and their error against known alignments."""

from __future__ import annotations

import random

import numpy as np
import pytest
import xarray as xr

from tests.oracles import translation as oracle
from triattn_core.analysis.maps.alignment_error import alignment_error_rate, less_than
from triattn_core.analysis.maps.word_links import (
    WordLink,
    diagonal_links,
    is_word,
    strongest_links,
    traced_links,
    word_parts,
)
from triattn_core.trace import AttentionTrace


def test_the_alignment_error_rate_is_that_of_its_paper():
    draw = random.Random(2)
    rows = []
    for _ in range(40):
        links, sure, possible = ({(draw.randrange(4), draw.randrange(5)) for _ in range(5)} for _ in range(3))
        rows.append((links, sure, possible))
    assert alignment_error_rate(rows) == pytest.approx(oracle.alignment_error(rows))
    assert alignment_error_rate([(sure, sure, set()) for _, sure, _ in rows]) == 0.0


def test_a_difference_of_error_has_the_interval_of_its_sentences():
    """Links that are right in one and wrong in the other on the same sentences, and noise that is in neither."""
    sure = {(0, 0), (1, 1)}
    right, wrong = (sure, sure, set()), ({(0, 1), (1, 0)}, sure, set())
    gain, low, high = less_than([right] * 30 + [wrong] * 10, [wrong] * 40)
    assert gain == -75.0 and -90 < low < -75 < high < -58  # 75 % ± 2 * 6.8
    gain, low, high = less_than([right, wrong] * 20, [wrong, right] * 20)
    assert gain == 0.0 and low < -20 and high > 20
    assert less_than([right, wrong] * 20, [right, wrong] * 20) == [0.0, 0.0, 0.0]


def test_links_join_sub_words():
    weights = np.array([[0.3, 0.3, 0.4], [0.2, 0.1, 0.7], [0.5, 0.1, 0.4]])
    assert strongest_links(weights, [0, 0, 1], [0, 1, 1]) == {(0, 0), (1, 1)}
    assert strongest_links(weights, [0, 1, 2], [0, 1, 2]) == {(2, 0), (2, 1), (0, 2)}
    assert diagonal_links(2, 4) == {(0, 0), (0, 1), (1, 2), (1, 3)}


def test_words_stand_without_the_punctuation_around_them():
    text = "Er hat es „bekommen.“ Don't (mother-in-law) – हिन्दी।"
    parts = word_parts(text)
    assert all(text[start : start + len(part)] == part for start, part in parts)
    words = ["Er", "hat", "es", "bekommen", "Don't", "mother-in-law", "हिन्दी"]
    assert [part for _, part in parts if is_word(part)] == words
    assert [part for _, part in parts if not is_word(part)] == ["„", ".“", "(", ")", "–", "।"]
    assert word_parts("") == []


def test_punctuation_is_a_source_by_itself_and_no_target():
    """Target pieces “ja”, “.”, the end mark; source pieces “yes”, “!”."""
    weights = np.array([[[0.3, 0.7], [0.2, 0.8], [0.5, 0.5]]])
    ends = {"query": ("ja.", [0, 2, 3], [2, 3, 3], [0, 0, 1]), "key": ("yes!", [0, 3], [3, 4], [0, 0])}
    coords = {}
    for axis, (_, starts, _, special) in ends.items():
        coords |= {f"{axis}_start": (axis, starts), f"{axis}_special": (axis, special)}
    array = xr.DataArray(weights, coords, ("head", "query", "key"), attrs={"quantity": "weight"})
    trace = AttentionTrace({"cross/layer.0/weight": array}, {"source": "yes!", "target": "ja."})
    assert traced_links(trace, 0, 0) == ([WordLink("ja", (("!", 0.7),))], ["yes"])
    weights[0, 0] = [0.4, 0.6]
    assert traced_links(trace, 0, None)[0] == [WordLink("ja", (("!", 0.6), ("yes", 0.4)))]
