"""The view of who is right: all numbers are there, on scales that are said, and p-values as they are written."""

from __future__ import annotations

import json

import pandas as pd
import pytest

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


def test_each_combination_is_a_row_with_its_counts():
    figure_payload = payload(table((900, 800), (70, 60), (11, 7)), labels=("no", "yes"), unit="pairs", selected="none")
    assert [row["name"] for row in figure_payload["rows"]] == NAMES
    assert [row["on"] for row in figure_payload["rows"]] == [[bool(one) for one in on] for on in ON]
    assert [row["parts"] for row in figure_payload["rows"]][:3] == [[900, 800], [70, 60], [11, 7]]
    assert (figure_payload["chosen"], figure_payload["unit"], figure_payload["labels"]) == (
        "none",
        "pairs",
        ["no", "yes"],
    )
    assert "only Tri right 18" in figure_payload["alt"] and figure_payload["alt"].startswith("Of 1,848 pairs")


def test_long_bars_have_a_scale_of_their_own_that_is_a_whole_number_of_times_the_other():
    figure_payload = payload(table((900, 800), (70, 60), (30, 7)), labels=("no", "yes"))
    assert figure_payload["apart"] == 30
    assert [row["scale"] for row in figure_payload["rows"]] == [900, 900, *[30] * 6]
    figure_payload = payload(table((120, 110), (70, 60), (30, 7)), labels=("no", "yes"))
    assert figure_payload["apart"] == 0 and {row["scale"] for row in figure_payload["rows"]} == {120}
    assert payload(table())["apart"] == 0


def test_of_four_checkpoints_empty_combinations_of_several_are_left_out():
    names = ["all four", "none", *(f"only {i}" for i in range(4)), *(f"two, {i}" for i in range(10))]
    counts = [9, 1, 0, 2, 0, 0, 0, 3, *[0] * 8]
    rows = [dict.fromkeys("ABCD", False) | {"rows": count} for count in counts]
    figure = agreement.figure(pd.DataFrame(rows, index=names), dict.fromkeys("ABCD", "bi"), selected="two, 4")
    assert [row["name"] for row in figure.payload["rows"]] == [*names[:6], "two, 1", "two, 4"]
    assert figure.payload["alt"].endswith("only 1 right 2; two, 1 right 3; any other combination 0.")


def test_without_labels_a_row_has_one_bar():
    figure_payload = payload(table((900, 800)))
    assert figure_payload["rows"][0]["parts"] == [1700] and figure_payload["labels"] == []


def test_published_counts_stand_at_their_row_alone():
    figure_payload = payload(table((9, 8)), labels=("no", "yes"), paper={"only Tri": (102, 49)})
    assert [row["paper"] for row in figure_payload["rows"]] == [[], [], [102, 49], [], [], [], [], []]


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
    (comparison,) = figure_payload["tests"]
    assert comparison == {"a": "Bi", "b": "Tri", "only_a": 3, "only_b": 9, "p": 0.01, "said": "p = 0.01", "power": ""}
    assert figure_payload["accuracy"] == ["Bi 83.1"]


def test_the_page_of_it_needs_no_network():
    html = agreement.figure(table((9, 8)), MECHANISMS).html()
    assert "http:" not in html.replace("http://www.w3.org/2000/svg", "") and "https:" not in html
