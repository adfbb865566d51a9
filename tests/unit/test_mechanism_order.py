"""Does an order hold: the tests from means and spreads, the words, and the table of the docs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from scipy.stats import ttest_ind

from triattn_core.__main__ import main
from triattn_core.analysis.significance import Sample, holm, rank_samples, welch_over_seeds, welch_tests
from triattn_core.checkpoint.registry import VARIABLE, Entry
from triattn_core.results import mechanism_order, paper_results, run_records
from triattn_core.results.run_records import Record

ROOT = Path(__file__).parents[2]
NAMES = ["Tri", "C-Bi", "Bi"]


def samples(*runs: list[float] | None) -> dict[str, Sample | None]:
    """Tri, C-Bi and Bi from their runs."""
    samples_by_name = {}
    for name, values in zip(NAMES, runs):
        if values is None:
            samples_by_name[name] = None
            continue
        mean = sum(values) / len(values)
        spread = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1)) if len(values) > 1 else None
        samples_by_name[name] = Sample(mean, spread, len(values))
    return samples_by_name


def around(middle: float, width: float = 0.1) -> list[float]:
    return [middle - width, middle, middle + width]


def test_means_and_spreads_say_what_the_runs_say():
    runs = {"a": [80.1, 80.7, 80.2, 81.0], "b": [81.5, 81.2, 82.4], "c": [80.0, 83.0]}
    a, b, c = runs.values()
    tests = welch_tests({name: samples(values)["Tri"] for name, values in runs.items()})
    plain = [ttest_ind(*two, equal_var=False).pvalue for two in ((a, b), (a, c), (b, c))]
    assert [test.p for test in tests] == pytest.approx(plain)
    assert [test.adjusted for test in tests] == pytest.approx(holm(plain))
    assert (
        [(test.a, test.b) for test in tests]
        == [("a", "b"), ("a", "c"), ("b", "c")]
        == [(comparison.a, comparison.b) for comparison in welch_over_seeds(runs)]
    )
    assert tests[0].gain == pytest.approx(81.7 - 80.5)
    assert welch_tests({"a": Sample(1.0, None, 5), "b": Sample(2.0, 0.1, 5)}) == []  # no spread is printed


@pytest.mark.parametrize(
    ("runs", "status", "says"),
    [
        ((around(85), around(84), around(83)), "holds", ["p < 0.05"]),
        ((around(84), around(85), around(83)), "against", ["C-Bi leads Tri by 1.00"]),
        ((around(83), around(84), around(85)), "against", ["C-Bi leads Tri", "Bi leads Tri by 2.00 (p < 0.001)."]),
        ((around(85), around(84), around(83.95, 0.3)), "holds", ["Tri > C-Bi > Bi; the lead of Tri is significant"]),
        ((around(85), around(84), around(84.1)), "holds", ["Tri > Bi > C-Bi"]),
        (
            (around(84.1, 0.3), around(84), around(83)),
            "open",
            ["Tri > C-Bi > Bi", "not significantly different: Tri and C-Bi (p"],
        ),
        ((around(84), around(84), around(84)), "open", ["Tri = C-Bi = Bi", "Tri and C-Bi", "Tri and Bi"]),
        ((around(84), [85.0], around(83)), "untested", ["C-Bi > Tri > Bi, one run of C-Bi."]),
        (([84.0], [85.0], [83.0]), "untested", ["C-Bi > Tri > Bi, one run of each."]),
        ((around(84), None, around(83)), "missing", ["No figure of C-Bi."]),
        ((None, None, None), "missing", []),
    ],
)
def test_an_order_in_words(runs, status, says):
    ranking = rank_samples(samples(*runs), NAMES)
    assert ranking.status == status
    assert all(one in ranking.words for one in says), ranking.words
    assert bool(ranking.words) == bool(says)


@pytest.mark.parametrize("middle", [83.83, 84.77])
def test_three_questions_are_asked_at_once(middle):
    """What is under the level alone, and not after Holm's correction, is no step, up or down."""
    runs = (around(84.3, 0.2), around(middle, 0.2), around(middle, 0.2))
    tests = welch_tests(samples(*runs))
    (test,) = [one for one in tests if {one.a, one.b} == {"Tri", "C-Bi"}]
    assert test.p < 0.05 <= test.adjusted and all(one.adjusted >= 0.05 for one in tests)
    ranking = rank_samples(samples(*runs), NAMES)
    assert (ranking.status, ranking.apart) == ("open", ())


def test_significant_pairs():
    ranking = rank_samples(samples(around(84), around(85), around(83)), NAMES)
    assert set(ranking.apart) == {("C-Bi", "Tri"), ("Tri", "Bi"), ("C-Bi", "Bi")}
    assert mechanism_order.significant_pairs(ranking) == "C-Bi > Tri, Tri > Bi, C-Bi > Bi"
    assert mechanism_order.significant_pairs(rank_samples(samples(around(84), around(84), around(84)), NAMES)) == "none"
    assert mechanism_order.significant_pairs(rank_samples(samples([84.0], [85.0], [83.0]), NAMES)) == "one seed"


def test_the_level_decides():
    runs = (around(84.3, 0.2), around(84.0, 0.2), around(83.0, 0.2))
    (p,) = [test.adjusted for test in welch_tests(samples(*runs)) if {test.a, test.b} == {"Tri", "C-Bi"}]
    assert 0.05 < p < 0.2
    assert rank_samples(samples(*runs), NAMES).status == "open"
    assert rank_samples(samples(*runs), NAMES, level=0.2).status == "holds"


# --- over the papers' tables ---


@pytest.fixture(scope="module")
def tables():
    return next(paper for paper in paper_results.load_papers() if paper.paper.name == "Tri-Attention").tables


def record(mechanism: str, data: str = "lcqmc", values: tuple[float, ...] = (80.0,)) -> Record:
    metric = {"ubuntu_irc": "R10@1"}.get(data, "accuracy")
    model = {"mechanism": mechanism, "similarity": "dot"}
    task = {"ubuntu_irc": "dialogue", "race": "reading"}.get(data, "pairs")
    each = [{"seed": seed, "test": {metric: value, "n": 9}} for seed, value in enumerate(values)]
    config = {"task": task, "model": model, "data": {"test": f"{data}/test"}}
    metrics = {"test": {metric: values[0]}, "each_seed": each}
    return Record(Entry(f"{data}-{mechanism}", Path("x"), config, metrics, "", 1))


def test_a_row_for_each_data_set_and_similarity_with_the_printed_figures(tables):
    rows = mechanism_order.rank_mechanisms(tables, [])
    assert len(rows) == 16 and [row.similarity for row in rows[:4]] == ["additive", "dot", "scaled_dot", "bilinear"]
    assert list(dict.fromkeys(row.column.group for row in rows)) == ["Ubuntu Corpus V1", "LCQMC", "RACE", "Quora"]
    rows_by_key = {(row.column.group, row.similarity): row for row in rows}
    dot = rows_by_key["LCQMC", "dot"]
    assert {name: cell.printed.text for name, cell in dot.cells.items()} == {
        "tri": "87.25 ± 0.11", "cbi": "85.94 ± 0.21", "bi": "86.52 ± 0.09"
    }  # fmt: skip
    assert dot.printed.status == "holds" and ("Bi", "C-Bi") in dot.printed.apart
    assert rows_by_key["LCQMC", "additive"].printed.status == "holds"
    assert rows_by_key["RACE", "dot"].printed.words == "No figure of C-Bi and Bi."
    assert {row.ours.status for row in rows} == {"missing"}


def test_ours_stand_beside_them_where_a_record_fits(tables):
    values_by_mechanism = {"tri": (84.1, 84.2, 84.3), "cbi": (84.9, 85.0, 85.1), "bi": (83.0, 83.1, 83.2)}
    all_ = [record(name, values=values) for name, values in values_by_mechanism.items()]
    all_ += [record("bi", "race"), record("tri", "quora")]
    rows_by_key = {(row.column.group, row.similarity): row for row in mechanism_order.rank_mechanisms(tables, all_)}
    dot = rows_by_key["LCQMC", "dot"]
    assert {name: cell.values for name, cell in dot.cells.items()} == values_by_mechanism
    assert dot.ours.status == "against" and "C-Bi leads Tri by 0.80" in dot.ours.words
    assert rows_by_key["RACE", "dot"].cells["bi"].ours == 80.0  # a system that the paper did not run there
    assert rows_by_key["Quora", "dot"].cells["tri"].ours == 80.0
    assert rows_by_key["LCQMC", "additive"].ours.status == "missing"


def test_the_table_for_the_readme(tables):
    records = [record("tri", values=(84.0, 84.5)), record("bi")]
    text = mechanism_order.markdown(mechanism_order.rank_mechanisms(tables, records))
    lines = text.splitlines()
    assert len({line.count("|") for line in lines}) == 1 and len(lines) == 18
    (line,) = [line for line in lines if line.startswith("| LCQMC Accuracy, dot")]
    assert [cell.strip() for cell in line.strip("|").split("|")] == [
        "LCQMC Accuracy, dot", "86.52 ± 0.09", "85.94 ± 0.21", "87.25 ± 0.11", "80.00", "", "84.25 ± 0.35 (2)",
        "Tri > C-Bi, Tri > Bi, Bi > C-Bi", "",
    ]  # fmt: skip


def cells_of(text: str) -> list[list[str]]:
    """The cells of the lines of a Markdown table."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def test_what_is_written_of_ours_is_in_the_records(tables):
    """A number that was measured anew, or never, must not stand there; `triattn results` prints the table."""
    documentation = (ROOT / "docs/results.md").read_text("utf-8")
    table_lines = cells_of(documentation.partition("# Results\n")[2].partition("\nOn natural text")[0])
    now = cells_of(mechanism_order.markdown(mechanism_order.rank_mechanisms(tables, run_records.all_records()[0])))
    rows = {line[0]: line for line in now}
    assert len(table_lines) >= 18 and table_lines[0] == now[0]
    for line in table_lines[2:]:
        for text, number in zip(line[1:], rows[line[0]][1:], strict=True):
            assert text in ("", number), (
                f"{line[0]}: {text} is recorded as {number}: paste what `triattn results` prints"
            )


def test_triattn_results_prints_the_summary_or_every_cell(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    (tmp_path / "results" / "papers" / "bad").mkdir(parents=True)
    (tmp_path / "results" / "papers" / "bad" / "paper.json").write_text("{")
    assert main(["results"]) == 0
    captured = capsys.readouterr()
    first, name, second = captured.out.partition("\nMTSA\n")
    assert first.startswith("Tri-Attention\n\n|  | paper: Bi |") and len(cells_of(first)) == 18 and name
    second, name, _ = second.partition("\nT-trilinear\n")
    assert name and len(cells_of(second)) == 6 * 2 + 16 + 5 + 5 + 9 + 10 + 2
    assert "paper.json" in captured.err and captured.err.count("\n") == 1
    assert main(["results", "--json"]) == 0
    records = [one for one in json.loads(capsys.readouterr().out) if one["paper"] == "Tri-Attention"]
    assert len(records) == 22 * 3 + 22 * 2 + 17 * 3 + 8 * 5 * 2 + 12 * 2
    assert {one["table"] for one in records} == {"Table V", "Table VI", "Table VII", "Table VIII", "Table IX", "Quora"}
    assert sum(bool(one["reason"]) for one in records) == 4 * 3 + 5 * 2 + 4 * 3 + 8 * 5 * 2 + 12 * 2
