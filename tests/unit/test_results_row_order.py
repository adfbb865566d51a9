"""Whether our order of a paper's rows agrees with its own: correlations by hand, and the noise of a test set."""

from __future__ import annotations

from itertools import combinations, permutations
from pathlib import Path

import pytest
from scipy import stats

from pages.results import results_ranking
from triattn_core.checkpoint.registry import Entry
from triattn_core.results import notes, paper_comparison, row_order, run_records
from triattn_core.results.paper_results import read_model
from triattn_core.results.paper_schema import Paper, Table, plain_name
from triattn_core.results.run_records import Record

FOLDER = run_records.SHIPPED / "papers" / "t-trilinear"
SIZES = {2: (11, 4), 3: (5, 4), 4: (3, 4)}  # rows and printed columns as the paper has them
NAMES = ("trilinear", "general3", "hadamard", "dot", "bilinear")  # of Table 2 in O_2: EM 65.1, 64.9, 64.7, 64.2, 58.2


@pytest.fixture(scope="module")
def tables() -> list[Table]:
    return [read_model(FOLDER / f"table-{number}.json", Table) for number in SIZES]


def record(similarity: str, em: float, n: int = 10_570, output: str = "O_2") -> Record:
    model = {"mechanism": "baseline", "similarity": similarity, "output": output, "vectors": "layer:4", "width": 64}
    config = {"kind": "reader", "task": "questions", "model": model, "data": {"train": ["a/b"], "test": "squad1.1/dev"}}
    metrics = {"test": {"set": "squad1.1/dev", "em": em, "f1": em + 10, "n": n}}
    return Record(Entry(similarity, Path(similarity), config, metrics, "aa", 1))


def rank_agreement(tables, values: dict[str, float], metric: str = "EM", **more) -> row_order.Agreement:
    all_ = [record(name, em, **more) for name, em in values.items()]
    return next(
        agreement
        for agreement in row_order.rank_agreements(tables[0], tables, all_)
        if (agreement.column.group, agreement.column.name) == (more.get("output", "O_2"), metric)
    )


@pytest.mark.parametrize("which", SIZES)
def test_tables_have_the_size_of_the_papers_and_say_the_same_twice(tables, which):
    table = tables[list(SIZES).index(which)]
    assert (len(table.rows), len(table.columns)) == SIZES[which] and table.number == which
    rows = {plain_name(row.name): row.values for row in tables[0].rows}
    if which == 3:
        assert all(rows[plain_name(row.name)] == row.values for row in table.rows[:-1])
        best = [max(float(row.values[i]) for row in table.rows) for i in range(4)]
        assert best == [float(value) for value in table.rows[-1].values]  # T-trilinear leads every column


def test_correlations_are_those_of_the_pairs(tables):
    agreement = rank_agreement(tables, dict(zip(NAMES, (50.0, 51.0, 49.0, 45.0, 40.0))))
    assert [row[0] for row in agreement.rows] == ["general-3", "trilinear", "Hadamard", "dot-product", "bilinear"]
    agree = [(a[1] - b[1]) * (a[2] - b[2]) > 0 for a, b in combinations(agreement.rows, 2)]
    assert agreement.tau[0] == pytest.approx((sum(agree) - agree.count(False)) / len(agree)) == pytest.approx(0.8)
    assert agreement.rho[0] == pytest.approx(1 - 6 * 2 / (5 * 24)) and (len(agreement.rows), agreement.of) == (5, 12)


def test_the_twelfth_row_stands_in_another_table(tables):
    agreement = rank_agreement(tables, {"t_trilinear": 52.0, "dot": 45.0, "cosine": 40.0})
    assert [row[:2] for row in agreement.rows] == [("T-trilinear", 65.3), ("dot-product", 64.2), ("cosine", 60.7)]
    assert agreement.rho[0] == pytest.approx(1)


def test_rows_that_were_trained_otherwise_have_no_place_in_the_order(tables):
    all_ = [record(name, em) for name, em in zip(NAMES, (50.0, 51.0, 49.0, 45.0, 40.0))]

    def num_rows(table: Table, others: list[Table]) -> int:
        agreements = row_order.rank_agreements(table, others, all_)
        return next(agreement.of for agreement in agreements if agreement.column.group == "O_2")

    alone = tables[1].model_copy(update={"ranked_alone": True})
    assert num_rows(tables[0], tables) == 12 and num_rows(tables[0], [tables[0], alone]) == 11
    assert num_rows(alone, [tables[0], alone]) == len(alone.rows)
    rows = tuple(row.model_copy(update={"ranked": row.name != "cosine"}) for row in tables[0].rows)
    assert num_rows(tables[0].model_copy(update={"rows": rows}), [tables[0].model_copy(update={"rows": rows})]) == 10


@pytest.mark.parametrize(
    "values", [(50.0, 45.0, 40.0), (45.0, 50.0, 40.0), (50.0, 45.0, 45.0, 41.0), (40.0, 50.0, 45.0, 50.0)]
)
def test_a_p_of_few_rows_is_that_of_all_their_orders(values):
    printed = (65.1, 64.2, 58.2, 64.2)[: len(values)]
    for name, (scipy_name, _) in row_order.TESTS.items():
        test = getattr(stats, scipy_name)
        known, p = row_order.correlation(name, printed, values)
        every = [abs(test(printed, order).statistic) for order in permutations(values)]
        assert known == pytest.approx(test(printed, values).statistic, rel=1e-12, abs=1e-15)
        assert p == pytest.approx(sum(one >= abs(known) - 1e-9 for one in every) / len(every))


def test_three_rows_that_agree_prove_nothing_and_many_rows_have_the_approximation(tables):
    agreement = rank_agreement(tables, {"t_trilinear": 52.0, "dot": 45.0, "cosine": 40.0})
    assert agreement.rho == pytest.approx((1, 1 / 3)) and agreement.tau == pytest.approx((1, 1 / 3))
    left, right = tuple(map(float, range(9))), (2.0, 1.0, 3.0, 5.0, 4.0, 6.0, 8.0, 9.0, 7.0)
    assert row_order.correlation("rho", left, right)[1] == pytest.approx(stats.spearmanr(left, right).pvalue)


def test_only_differences_beyond_the_noise_of_the_rows_count(tables):
    values = {"dot": 50.0, "trilinear": 49.0, "cosine": 40.0}
    agreement = rank_agreement(tables, values)
    assert set(agreement.apart) == {("dot-product", "cosine"), ("trilinear", "cosine")}
    assert agreement.turned == () and agreement.pairs == 3
    assert rank_agreement(tables, values, n=100).apart == ()
    turned = rank_agreement(tables, {"dot": 50.0, "trilinear": 40.0, "cosine": 30.0})
    assert turned.turned == (("dot-product", "trilinear"),)
    more = rank_agreement(tables, {name: 20.0 + 10 * place for place, name in enumerate(NAMES)})
    html = results_ranking.ranking_html([more], more.column.group)
    assert len(more.turned) == 10 and "The paper has 10 of these the other way round: bilinear behind dot-" in html
    assert "bilinear behind dot-product, Hadamard, general-3 and trilinear;" in html and "more" not in html
    assert rank_agreement(tables, values, metric="F1").apart is None


def test_too_few_rows_or_equal_ones_have_no_correlation(tables):
    few = rank_agreement(tables, {"dot": 50.0, "cosine": 40.0})
    assert few.rho is None and len(few.rows) == 2
    assert rank_agreement(tables, {"dot": 50.0, "cosine": 50.0, "trilinear": 50.0}).rho is None


def test_a_system_has_the_function_that_its_row_prints_and_no_other(tables):
    def list_groups(mechanism: str, similarity: str) -> dict[str, set[str]]:
        run_record = record(similarity, 50.0)
        run_record.entry.config["model"]["mechanism"] = mechanism
        cells = [cell for row in paper_comparison.fill_table(tables[2], [run_record]) for cell in row if cell.values]
        groups = {cell.column.group for cell in cells}
        return {group: {cell.column.name for cell in cells if cell.column.group == group} for group in groups}

    for mechanism, own in {"bidaf": "trilinear", "dcn": "dot", "qanet": "trilinear"}.items():
        assert f"(own: {own})" in next(row.name for row in tables[2].rows if row.ours == {"mechanism": mechanism})
        assert list_groups(mechanism, own) == {"Original function": {"EM", "F1"}}
        assert list_groups(mechanism, "t_trilinear") == {"T-trilinear": {"EM", "F1"}}
        assert list_groups(mechanism, {"trilinear": "dot", "dot": "trilinear"}[own]) == {}


def test_where_ours_differ_is_among_what_to_know(tables):
    note_texts = {one.head: one.text for one in (*read_model(FOLDER / "paper.json", Paper).setup, *tables[2].notes)}
    for head, words in {"Sizes": "2d", "Dropout": "none inside", "Averaged weights": "step", "DCN": "sentinel"}.items():
        assert words in note_texts[head] and "paper" in note_texts[head]
    for table in tables:
        assert "names no split" in next(note.text for note in table.notes if note.head == "Test set")


def test_sizes_and_vectors_stand_beside_the_numbers(tables):
    table = tables[0]
    note_list = notes.notes_on_cells(
        [row_order.make_cell(table, table.rows[4], table.columns[2], [record("dot", 50.0)])]
    )
    readers_note = next(note.text for note in note_list if note.head == "Readers")
    assert "layer 4" in readers_note and "projected to 64" in readers_note


def test_the_papers_first_has_a_place_among_ours(tables):
    values = {"dot": 50.0, "trilinear": 52.0, "t_trilinear": 51.5, "cosine": 40.0, "bilinear": 40.5}

    def describe_first(**more) -> str:
        return results_ranking.claim_sentence(rank_agreement(tables, values | more))

    lead = "The paper has T-trilinear first; here"
    assert describe_first() == f"{lead} it ranks 2 of 5, 0.50 behind trilinear, which does not exceed the noise."
    assert describe_first(trilinear=55.0) == f"{lead} it ranks 2 of 5, 3.50 behind trilinear, which exceeds the noise."
    assert (
        describe_first(t_trilinear=55.0) == f"{lead} it ranks 1 of 5, 3.00 ahead of trilinear, which exceeds the noise."
    )
    assert describe_first(t_trilinear=39.0).startswith(f"{lead} it ranks 5 of 5, 13.00 behind trilinear,")
    del values["t_trilinear"]
    assert describe_first() == f"{lead} it is not measured."
    agreement = rank_agreement(tables, values | {"t_trilinear": 51.5}, metric="F1")
    assert results_ranking.claim_sentence(agreement) == f"{lead} it ranks 2 of 5, 0.50 behind trilinear."


def test_pairs_beyond_the_noise_are_named_with_what_the_test_takes(tables):
    values = {"dot": 50.0, "trilinear": 52.5, "t_trilinear": 51.3, "cosine": 40.0, "bilinear": 40.5}
    agreement = rank_agreement(tables, values)
    low = ("bilinear", "cosine")
    assert agreement.by_worse_rows() == {("trilinear",): ("dot-product", *low), ("T-trilinear", "dot-product"): low}
    assert sum(len(a) * len(b) for a, b in agreement.by_worse_rows().items()) == len(agreement.apart) == 7
    html = results_ranking.ranking_html([agreement], agreement.column.group)
    assert "7 of 10 of our differences exceed the noise" in html
    few = "T-trilinear and dot-product over bilinear and cosine."
    assert f"trilinear over dot-product, bilinear and cosine; {few}" in html
    assert "independent samples" in html and "seed" in html
    less = rank_agreement(tables, values, n=20)
    assert less.by_worse_rows() == {}
    assert "0 of 10 of our differences exceed the noise" in results_ranking.ranking_html([less], less.column.group)
