"""A table's rows in two groups of columns: the differences, their test and their sign."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from scipy.stats import norm, ttest_ind

from pages.results import group_differences
from tests.unit.test_results import CONFIG, record
from triattn_core.analysis.significance import share_test
from triattn_core.results import paper_comparison, paper_results, run_records
from triattn_core.results.group_comparison import GroupDifference, compare_groups
from triattn_core.results.paper_schema import Column, Row, Table

COLUMNS = tuple(
    Column(group=group, name="EM", metric="em", ours={"data": "lcqmc", "similarity": similarity})
    for group, similarity in (("Own", "dot"), ("T", "t_trilinear"))
)
ROWS = tuple(
    Row(name=name, values=values, ours={"mechanism": name})
    for name, values in (("bidaf", ("67.7", "68.5")), ("dcn", ("65.4", "65.7")), ("qanet", ("73.6", "74.9")))
)
TABLE = Table(kind="table", number=4, label="Table 4", short="", title="", columns=COLUMNS, rows=ROWS)
COMPARED = TABLE.model_copy(update={"compared": ("Own", "T")})


def measured(mechanism: str, similarity: str, em: float, n: int = 1000):
    config = {**CONFIG, "model": {"mechanism": mechanism, "similarity": similarity}}
    return record(config=config, test={"set": "lcqmc/test", "em": em, "n": n})


def test_each_row_has_its_difference_its_p_over_the_rows_and_its_sign():
    records = [
        measured("bidaf", "dot", 58.6), measured("bidaf", "t_trilinear", 55.8), measured("dcn", "dot", 57.5),
        measured("dcn", "t_trilinear", 41.3), measured("qanet", "dot", 22.6),
    ]  # fmt: skip
    rows = compare_groups(COMPARED, paper_comparison.fill_table(COMPARED, records))
    assert [row.ours and round(row.ours, 1) for row in rows] == [-2.8, -16.2, None]
    assert [round(row.printed, 1) for row in rows] == [0.8, 0.3, 1.3]
    assert [row.same_sign for row in rows] == [False, False, None]
    z = 2.8 / (58.6 * 41.4 / 1000 + 55.8 * 44.2 / 1000) ** 0.5
    assert rows[0].p == pytest.approx(2 * norm.sf(z)) == pytest.approx(share_test(58.6, 1000, 55.8, 1000))
    assert rows[1].p == pytest.approx(2 * share_test(57.5, 1000, 41.3, 1000)) and rows[2].p is None  # Holm, of two
    sentence = group_differences.describe(rows)
    assert sentence.startswith(
        "0 of 2 differences of ours have the sign of the paper's. Beyond the noise of the rows: dcn"
    )
    assert sentence.endswith("All single runs of one seed: variance between seeds is not included.")


def test_several_seeds_are_tested_too():
    def cell(values, column):
        return paper_comparison.Cell(column, None, values)

    several = GroupDifference(ROWS[0], cell((58.6, 55.6, 59.1), COLUMNS[0]), cell((55.8, 53.7, 55.6), COLUMNS[1]))
    one = GroupDifference(ROWS[1], cell((57.5,), COLUMNS[0]), cell((41.3, 42.0), COLUMNS[1]))
    expected = ttest_ind((58.6, 55.6, 59.1), (55.8, 53.7, 55.6), equal_var=False).pvalue
    assert several.p_over_seeds == pytest.approx(expected) and one.p_over_seeds is None
    end = f"bidaf p {expected:.2g} (3 and 3 seeds). A row not named here has runs of one seed."
    assert group_differences.describe([several, one]).endswith(f"Over seeds (Welch's t-test): {end}")


def test_only_a_table_that_names_two_groups_is_compared():
    assert compare_groups(TABLE, paper_comparison.fill_table(TABLE, [])) == []
    assert group_differences.differences_html([]) == ""
    with pytest.raises(ValidationError, match="no column has the group 'None'"):
        Table.model_validate({**TABLE.model_dump(), "compared": ("Own", "None")})


def test_the_systems_with_t_trilinear_against_their_own_function():
    (paper,) = (paper for paper in paper_results.load_papers() if paper.paper.name == "T-trilinear")
    table = next(table for table in paper.tables if table.label == "Table 4")
    rows = compare_groups(table, paper_comparison.fill_table(table, run_records.all_records()[0]))
    assert [row.same_sign for row in rows] == [False, False, True]
    assert all(row.p is not None and row.p < 0.001 for row in rows)
    assert [round(row.ours, 1) for row in rows] == [-2.8, -16.2, 3.0]
