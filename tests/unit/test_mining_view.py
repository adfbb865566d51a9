"""The view of who is right: all numbers are there, on scales that are said, and p-values as they are written."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from jsonschema import Draft202012Validator

from tests.support.listed import column
from tests.unit.test_views_answers import SCHEMA
from triattn_core.views import agreement

MECHANISMS = {"Bi": "bi", "C-Bi": "cbi", "Tri": "tri"}
NAMES = ["all three", "none", "only Tri", "only C-Bi", "only Bi", "C-Bi and Tri", "Bi and Tri", "Bi and C-Bi"]
ON = [(1, 1, 1), (0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]


def table(*counts: tuple[int, int]) -> pd.DataFrame:
    """A row for each combination with its counts by label, the last ones 0."""
    counts = [*counts, *[(0, 0)] * (8 - len(counts))]
    rows = [
        dict(zip(MECHANISMS, map(bool, on))) | {"rows": a + b, "label 0": a, "label 1": b}
        for on, (a, b) in zip(ON, counts)
    ]
    return pd.DataFrame(rows, index=NAMES)


def payload(counts: pd.DataFrame, **more) -> dict:
    return json.loads(json.dumps(dict(agreement.figure(counts, MECHANISMS, **more).payload)))


def rows_of(figure_payload: dict) -> dict:
    return figure_payload["sections"][0]["parts"][0]


def bars(figure_payload: dict) -> dict:
    return column(rows_of(figure_payload), "halves")


def names_of(figure_payload: dict) -> list[str]:
    return column(rows_of(figure_payload), "words", "name")["values"]


def test_each_combination_is_a_row_with_its_counts():
    figure_payload = payload(table((900, 800), (70, 60), (11, 7)), labels=("no", "yes"), unit="pairs", selected="none")
    rows = rows_of(figure_payload)
    assert names_of(figure_payload) == NAMES and rows["values"] == [{"name": name} for name in NAMES]
    assert column(rows, "dots")["values"] == [[bool(one) for one in on] for on in ON]
    assert bars(figure_payload)["values"][:3] == [[900, 800], [70, 60], [11, 7]]
    count = column(rows, "words", "number")
    assert (count["values"][:3], count["title"]) == (["1,700", "130", "18"], "pairs")
    assert (NAMES[rows["chosen"]], rows["sends"], rows["cleared"]) == ("none", "agreement", {"name": ""})
    assert bars(figure_payload)["titles"] == ["no", "yes"]
    assert "only Tri right 18" in figure_payload["alt"] and figure_payload["alt"].startswith("Of 1,848 pairs")


def test_long_bars_have_a_scale_of_their_own_that_is_a_whole_number_of_times_the_other():
    apart = bars(payload(table((900, 800), (70, 60), (30, 7)), labels=("no", "yes")))
    assert apart["notes"][1] == "bars ÷ 30" and apart["broken"] == [True, True, *[False] * 6]
    assert apart["full"] == [900, 900, *[30] * 6]
    same = bars(payload(table((120, 110), (70, 60), (30, 7)), labels=("no", "yes")))
    assert not any(same["notes"]) and not any(same["broken"]) and set(same["full"]) == {120}
    assert not any(bars(payload(table()))["broken"])


def test_of_four_checkpoints_empty_combinations_of_several_are_left_out():
    names = ["all four", "none", *(f"only {i}" for i in range(4)), *(f"two, {i}" for i in range(10))]
    counts = [9, 1, 0, 2, 0, 0, 0, 3, *[0] * 8]
    rows = [dict.fromkeys("ABCD", False) | {"rows": count} for count in counts]
    figure = agreement.figure(pd.DataFrame(rows, index=names), dict.fromkeys("ABCD", "bi"), selected="two, 4")
    assert names_of(dict(figure.payload)) == [*names[:6], "two, 1", "two, 4"]
    assert figure.payload["alt"].endswith("only 1 right 2; two, 1 right 3; any other combination 0.")


def test_without_labels_a_row_has_one_bar():
    one = bars(payload(table((900, 800))))
    assert one["values"][0] == [1700] and "titles" not in one


def test_published_counts_stand_at_their_row_alone():
    published = bars(payload(table((9, 8)), labels=("no", "yes"), paper={"only Tri": (102, 49)}))
    assert published["ticks"] == [[], [], [102, 49], [], [], [], [], []] and published["notes"][2] == "paper 102 + 49"


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1.0, ("p = 1", "")),
        (1.2, ("p = 1", "")),
        (0.375, ("p = 0.38", "")),
        (0.0012, ("p = 0.0012", "")),
        (7.8e-5, ("p = 7.8 × 10", "−5")),
        (9.99e-6, ("p = 1.0 × 10", "−5")),
        (1.6e-14, ("p = 1.6 × 10", "−14")),
        (2e-30, ("p = 2.0 × 10", "−30")),
        (9e-31, ("p < 10", "−30")),
        (0.0, ("p < 10", "−30")),
    ],
)
def test_p_values(p, text):
    assert agreement.probability(p) == text


def test_tests_and_accuracy_are_handed_on():
    test = agreement.Test("Bi", "Tri", 3, 9, 0.01)
    figure_payload = payload(table((9, 8)), tests=[test], accuracy={"Bi": 83.14159})
    Draft202012Validator(SCHEMA).validate(figure_payload)
    chance = figure_payload["sections"][1]
    (split,) = chance["parts"][0]["columns"]
    sides = {"values": [[9, 3]], "names": [["Tri", "Bi"]], "inks": [["tri", "bi"]], "said": [["p = 0.01", ""]]}
    assert split == {"mark": "splits", **sides}, "the one with more rows on the left"
    assert chance["foot"] == "accuracy, %  Bi 83.1"
    assert len(payload(table((9, 8)))["sections"]) == 1


def test_the_page_of_it_needs_no_network():
    html = agreement.figure(table((9, 8)), MECHANISMS).html()
    assert "http:" not in html.replace("http://www.w3.org/2000/svg", "") and "https:" not in html
