"""Tables of the docs that are made from records: each row stands there as it is made."""

from __future__ import annotations

from pathlib import Path

import pytest

import triattn_core
from docs.tables import family, laboratory, operands, public_types, third_order
from triattn_core.results.laboratory import laboratory_records
from triattn_core.results.where_it_pays import IN_PLACE
from triattn_core.studies import false_friends
from triattn_core.studies.which_two_numbers import BY_QUESTION, LEADS
from triattn_core.tasks.laboratory.statements import PAIRWISE

RESULTS = Path(laboratory.__file__).parents[1] / "results.md"


@pytest.mark.parametrize("table", [laboratory.accuracy_table, laboratory.steps_table], ids=lambda table: table.__name__)
def test_rows_are_those_of_the_records(table):
    lines = list(table())
    assert len(lines) > 10 and [line for line in lines if line not in written()] == []


@pytest.mark.parametrize("told", ("pair", "arithmetic"))
def test_rows_of_the_pairs_of_numbers_are_those_of_the_records(told):
    lines = list(operands.table(told))
    assert len(lines) == 2 or "\n".join(lines) in "\n".join(written())
    assert told != "pair" or len(lines) > 5


@pytest.mark.parametrize(
    "table",
    (
        operands.by_operation,
        operands.by_question,
        operands.answers,
        operands.curves,
        operands.rates,
        third_order.stories_table,
        third_order.commands,
    ),
    ids=lambda table: table.__name__,
)
def test_further_tables_are_those_of_the_records(table):
    lines = list(table())
    assert len(lines) > 5 and "\n".join(lines) in "\n".join(written())


def test_the_leads_that_the_study_says_are_measured():
    found = [(total, product) for _, total, _, product in operands.question_leads()]
    for name, leads in zip(("sum", "product"), zip(*found)):
        assert (round(min(leads)), round(max(leads))) == LEADS[name]
    assert all(f"{value} " in BY_QUESTION for leads in LEADS.values() for value in leads)


def test_where_a_relation_of_three_pays_is_told_as_the_records_do():
    lines = list(third_order.table())
    assert len(lines) > 8 and "\n".join(lines) in "\n".join(written())
    assert any("no lead" in line for line in lines)


def test_a_lead_is_that_of_every_seed():
    scores = {"Tri": [80.0, 84.0], "pairwise scores": [60.0, 70.0], "best two-way attention": [61.0]}
    assert third_order.verdict("", scores) == "Tri ahead by 17.0"
    assert third_order.verdict(f"CLUTRR, {IN_PLACE}", scores) == "triangle attention ahead by 17.0"
    assert third_order.verdict("", scores | {"best two-way attention": [50.0, 80.0]}) == "no lead"


@pytest.mark.parametrize("task, rows", laboratory.RATES)
def test_rates_are_those_of_the_records(task, rows):
    table = list(laboratory.rates_table(task, rows))
    assert len(table) > 3 and "\n".join(table) in "\n".join(written())


def written() -> list[str]:
    return RESULTS.read_text("utf-8").splitlines()


def test_what_pairwise_scores_reach_is_that_of_the_records():
    ranges = {}
    for record in laboratory_records():
        if record.changed == laboratory.STRASSEN:
            scores = [seed["test"]["accuracy"] for seed in record.entry.metrics["each_seed"]]
            ranges[record.entry.config["task"]] = f"{min(scores):.0f} to {max(scores):.0f} %"
    sentence = f"pairwise scores, none of which reads three tokens, gets {ranges['false-friends']}"
    assert sentence in false_friends.STUDY.limits
    names = {"false-friends": "false friends", "planted-sum": "the planted sum", "planted-xor": "the planted XOR"}
    for task, text in names.items():
        assert f"{ranges[task]} of {text}" in PAIRWISE


@pytest.mark.parametrize("table", [family.accuracy, family.weights, family.theory], ids=lambda table: table.__name__)
def test_the_family_is_told_as_the_records_do(table):
    lines = list(table())
    assert len(lines) > 8 and "\n".join(lines) in "\n".join(written())


def test_what_an_editor_completes_is_what_the_views_have():
    stub = Path(triattn_core.__file__).with_suffix(".pyi").read_text("utf-8")
    assert "\n".join(public_types.lines()) + "\n" == stub
    assert {f"import {name} as {name}" in stub or f"def {name}(" in stub for name in triattn_core.__all__} == {True}
