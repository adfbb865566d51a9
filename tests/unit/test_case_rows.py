"""Questions to the rows of a case table, in files and in memory, against pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.bench import large_tables
from triattn_core.analysis.mining import agreement, case_columns, case_rows, case_table
from triattn_core.analysis.mining.case_rows import CaseRows, Filter
from triattn_core.errors import DataError

ROWS = 1013
BI, CBI, TRI = large_tables.NAMES


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    (part,) = large_tables.parts(ROWS)
    kinds = case_columns.column_types(list(large_tables.NAMES.items()))
    frame = part.to_pandas().astype({"label": "int16"})
    frame.loc[::17, "label"] = -1
    return case_columns.make_frame({name: frame[name].tolist() for name in kinds}, list(large_tables.NAMES.items()))


@pytest.fixture(params=("a file", "a folder", "memory"))
def cases(request, table, tmp_path, monkeypatch) -> case_table.Cases:
    monkeypatch.setattr(case_table, "GROUP", 101)
    monkeypatch.setattr(case_rows, "BATCH", 64)
    whole = case_table.CaseTable(table, large_tables.about(ROWS))
    if request.param == "memory":
        return whole
    if request.param == "a file":
        whole.save(tmp_path / "cases.parquet")
        return case_table.open_cases(tmp_path / "cases.parquet")
    for number, at in enumerate((slice(0, 400), slice(400, ROWS))):
        case_table.CaseTable(table[at], whole.about).save(tmp_path / f"part-{number}.parquet")
    return case_table.open_cases(tmp_path)


def test_the_first_rows_of_an_order(cases, table):
    order = f"{TRI} moved"
    expected = table.sort_values(order, ascending=False, kind="stable")
    for skip, most in ((0, 7), (30, 20), (1000, 100), (0, ROWS)):
        result_table, passing = cases.rows.first(Filter(), [order], most, skip)
        assert passing == ROWS == len(cases.rows)
        pd.testing.assert_frame_equal(
            result_table, expected[skip : skip + most].reset_index(drop=True), check_dtype=False
        )
    both = [f"{BI} confidence", f"{CBI} confidence"]
    least = table[both].min(axis=1).sort_values(ascending=False, kind="stable").index
    assert cases.rows.first(Filter(), both, 9)[0]["row"].tolist() == table.loc[least[:9], "row"].tolist()


FILTERS = {
    "equal": (Filter(equal={f"{TRI} right": [True], "label": [0, 1]}), lambda t: t[f"{TRI} right"] & (t["label"] >= 0)),
    "between": (Filter(between={"tokens": (20, 25)}), lambda t: (t["tokens"] >= 20) & (t["tokens"] < 25)),
    "differ": (Filter(differ=(f"{BI} answer", f"{CBI} answer")), lambda t: t[f"{BI} answer"] != t[f"{CBI} answer"]),
    "words": (Filter(words=("PAIR", "7f")), lambda t: t["id"].str.contains("7f")),
    "lines": (Filter(words=("nowhere",), lines=(3, 900)), lambda t: t["row"].isin([3, 900])),
    "none": (Filter(equal={"row": [ROWS + 1]}), lambda t: t["row"] > ROWS),
}


@pytest.mark.parametrize("name", FILTERS)
def test_filters_are_those_of_pandas(cases, table, name):
    passing, mask = FILTERS[name]
    expected = table[mask(table)]
    assert (len(expected) > 1) == (name != "none")
    result_table, count = cases.rows.first(passing, ["row"], ROWS)
    assert result_table["row"].tolist() == expected["row"].tolist()[::-1] and count == len(expected)
    assert cases.rows.count(passing) == len(expected)
    drawn = cases.rows.sample(passing, 5, seed=3)
    assert drawn[1] == len(expected) and set(drawn[0]["row"]) <= set(expected["row"])
    assert len(set(drawn[0]["row"])) == min(5, len(expected))
    assert drawn[0]["row"].tolist() == cases.rows.sample(passing, 5, seed=3)[0]["row"].tolist()


@pytest.mark.parametrize("space", (case_rows.SPACE, 1), ids=("counted", "grouped"))
def test_groups_are_counted_and_summed(cases, table, space, monkeypatch):
    monkeypatch.setattr(case_rows, "SPACE", space)
    by, sums = ["label", f"{TRI} right"], [f"{TRI} confidence"]
    groups = cases.rows.groups(by, sums)
    grouped = table.groupby(by)
    assert groups["n"].tolist() == grouped.size().tolist()
    np.testing.assert_allclose(groups[sums[0]], grouped[sums[0]].sum(), rtol=1e-5)


def test_agreement_is_the_same_from_files_and_memory(cases, table):
    memory = case_table.CaseTable(table, cases.about)
    for ask in (agreement.right_combinations, agreement.pairwise_agreement, agreement.score_table):
        pd.testing.assert_frame_equal(ask(cases), ask(memory), check_dtype=False)
    assert agreement.mcnemar_tests(cases) == agreement.mcnemar_tests(memory)
    combinations = agreement.right_combinations(cases)["rows"]
    for name, count in combinations.items():
        assert cases.rows.count(agreement.combination_filter(cases, name)) == count > 0
    assert combinations.sum() == cases.num_labelled == (table["label"] >= 0).sum()


def test_a_row_group_too_large_to_read_in_a_piece_is_refused(table, tmp_path, monkeypatch):
    case_table.CaseTable(table, large_tables.about(ROWS)).save(tmp_path / "cases.parquet")
    monkeypatch.setattr(case_table, "MOST", 1000)
    with pytest.raises(DataError, match="more than 1,000 rows"):
        case_table.open_cases(tmp_path / "cases.parquet")
    with pytest.raises(DataError, match="no Parquet file"):
        (tmp_path / "empty").mkdir()
        case_table.open_cases(tmp_path / "empty")


def test_nothing_has_no_first_row():
    kinds = case_columns.column_types(list(large_tables.NAMES.items()))
    rows = CaseRows.of_table(case_table.pa.schema(list(kinds.items())).empty_table())
    result_table, passing = rows.first(Filter(), ["row"], 10)
    assert passing == len(result_table) == 0 and list(result_table) == list(kinds)
