"""Ours beside the papers': which record fills which cell, and why a cell is empty; whatever is missing is said."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from triattn_core.checkpoint.registry import VARIABLE, Entry
from triattn_core.results import paper_comparison
from triattn_core.results.paper_comparison import Cell, best_cells, export_rows, fill_table, make_cell
from triattn_core.results.paper_results import PaperRecord
from triattn_core.results.paper_schema import Column, Paper, Printed, Row, Table
from triattn_core.results.run_records import Record, all_records, append_record, matching_records, read_records

CONFIG = {
    "task": "pairs",
    "encoder": "small",
    "model": {"mechanism": "tri", "similarity": "dot", "layers": 2},
    "data": {"train": ["lcqmc/train"], "every": 3, "dev": "lcqmc/dev", "test": "lcqmc/test"},
    "training": {"epochs": 1},
}
TEST = {"set": "lcqmc/test", "accuracy": 81.5, "f1": 79.25, "n": 400, "majority": 50.0}
COLUMN = Column(group="LCQMC", name="Accuracy", metric="accuracy", digits=2, ours={"data": "lcqmc"})
F1 = COLUMN.model_copy(update={"name": "F1-score", "metric": "f1"})
ROW = Row(name="TAN_{TDP}", values=("87.25 ± 0.11", "-"), ours={"mechanism": "tri", "similarity": "dot"})
TABLE = Table(
    kind="table", number=6, label="Table VI", short="", title="", columns=(COLUMN, F1),
    rows=(Row(name="COIN", values=("85.6", "86.5")), ROW),
)  # fmt: skip


def record(name: str = "one", config: dict | None = None, file: str = "", problem=None, **metrics) -> Record:
    all_metrics = {"test": TEST, **metrics}
    return Record(Entry(name, Path(name), CONFIG if config is None else config, all_metrics, "aa", 1, problem), file)


# --- which record ---


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ({"mechanism": "tri", "data": "lcqmc"}, True),
        ({"model.mechanism": "tri", "data.test": "lcqmc/test", "layers": 2}, True),
        ({"similarity": ["additive", "dot"]}, True),
        ({"similarity": ["additive"]}, False),
        ({"data": "quora"}, False),
        ({"nothing.of": "it"}, False),
    ],
)
def test_settings_say_which_record_is_meant(wanted, fits):
    assert bool(matching_records([record()], wanted)) == fits
    assert matching_records([record(config={})], wanted) == []


def test_unshipped_runs_fill_a_cell_and_sweeps_only_where_they_are_named():
    checkpoint_folder, trained, swept = record("a"), record("b", file="trained"), record("c", file="layers")
    assert matching_records([checkpoint_folder, trained, swept], {"mechanism": "tri"}) == [checkpoint_folder, trained]
    assert matching_records([checkpoint_folder, trained, swept], {"mechanism": "tri", "records": "layers"}) == [swept]


def test_of_several_the_listed_checkpoint_comes_first_then_seeds_then_dev():
    each = [{"seed": seed, "test": TEST} for seed in (1, 2)]
    unmeasured, trained = record("a", test={}, dev={"accuracy": 99.0}), record("b", file="trained", each_seed=each)
    low, high = (record(name, dev={"accuracy": value}) for name, value in (("low", 80.0), ("high", 82.0)))
    seeds = record("seeds", each_seed=each, dev={"accuracy": 79.0})
    for all_, chosen, others in (
        ([unmeasured, trained], trained, 0),
        ([trained, low], low, 0),
        ([low, high], high, 1),  # dev alone has chosen
        ([low, seeds, high], seeds, 0),
    ):
        cell = make_cell(TABLE, ROW, COLUMN, all_)
        assert cell.record is chosen and cell.others == others


# --- the numbers ---


def test_a_cell_has_the_mean_over_seeds_and_the_difference():
    each = [{"seed": n, "test": {**TEST, "accuracy": value}} for n, value in enumerate((81.5, 82.0, 82.9))]
    cell = make_cell(TABLE, ROW, COLUMN, [record(each_seed=each)])
    assert cell.values == (81.5, 82.0, 82.9)
    assert cell.ours == pytest.approx(82.1333, abs=1e-4)
    assert cell.spread == pytest.approx(math.sqrt((0.6333**2 + 0.1333**2 + 0.7667**2) / 2), abs=1e-3)
    assert cell.difference == pytest.approx(82.13333 - 87.25)
    assert make_cell(TABLE, ROW, F1, [record(each_seed=each)]).difference is None  # the paper prints no F1 here


def test_older_records_have_all_seeds_of_the_first_metric_alone():
    run_record = record(
        seeds=[{"seed": 1, "dev": 80.0, "test": 81.5}, {"seed": 2, "test": 82.5}, {"seed": 3, "dev": 1.0}]
    )
    assert run_record.values("test", "accuracy") == (81.5, 82.5)
    assert run_record.values("test", "f1") == (79.25,)
    assert run_record.values("dev", "accuracy") == (80.0, 1.0) and run_record.values("dev", "f1") == ()


@pytest.mark.parametrize(
    "metrics",
    [
        {"test": None}, {"test": []}, {"test": {"accuracy": "81"}}, {"test": {"accuracy": None, "n": 3}},
        {"each_seed": 3}, {"each_seed": [None, {"test": 4}], "seeds": "no", "test": {}},
    ],
)  # fmt: skip
def test_a_record_that_lacks_its_numbers_says_so(metrics):
    cell = make_cell(TABLE, ROW, COLUMN, [record("bare", **metrics)])
    if metrics == {"each_seed": 3}:
        assert cell.values == (81.5,) and cell.reason == ""
        return
    assert cell.values == () and cell.ours is None
    assert cell.reason in ("not measured on test: bare", "no accuracy among its numbers on test: bare")


def test_an_empty_cell_has_its_reason():
    nothing = make_cell(TABLE, ROW, COLUMN, [])
    assert nothing.reason == "not trained: no record of lcqmc, tri, dot"
    assert make_cell(TABLE, TABLE.rows[0], COLUMN, [record()]).reason == ""  # a system of others
    row = ROW.model_copy(update={"reason": "not available: its data"})
    assert make_cell(TABLE, row, COLUMN, [record()]).reason == "not available: its data"
    lacks = make_cell(TABLE, ROW, F1, [record(test={"accuracy": 80.0, "n": 4})])
    assert lacks.reason == "no f1 among its numbers on test: one"


def test_the_best_of_a_column_are_those_that_print_alike():
    def make_column(*values: float, better: str = "higher") -> list[Cell]:
        column = COLUMN.model_copy(update={"digits": 1, "better": better})
        return [Cell(column, Printed(str(value), value, None), (value,) if value > 70 else ()) for value in values]

    assert best_cells(make_column(84.121, 84.119, 84.08), ours=True) == {0, 1}  # ours has two digits at least
    assert best_cells(make_column(84.121, 84.119, 84.08), ours=False) == {0}
    assert best_cells(make_column(84.1, 73.0, 65.0, better="lower"), ours=True) == {1}
    assert best_cells(make_column(84.1, 73.0, 65.0, better="lower"), ours=False) == {2}
    assert best_cells(make_column(84.1, 65.0), ours=True) == set()  # of one there is no best


def test_the_page_opens_where_most_can_be_compared():
    empty = TABLE.model_copy(update={"rows": TABLE.rows[:1]})
    paper = Paper(order=1, name="x", cite="y")
    shelved = [PaperRecord(paper, tables, (), ()) for tables in ((), (empty, TABLE))]
    assert paper_comparison.default_table(shelved, [record()]) == (1, 1)
    longer = TABLE.model_copy(update={"rows": (*TABLE.rows, *TABLE.rows)})
    more = PaperRecord(paper, (longer,), (), ())
    assert paper_comparison.default_table([*shelved, more], [record()]) == (1, 1)  # the first paper is the first
    assert paper_comparison.default_table([], []) == (0, 0)


def test_a_table_as_rows_has_every_cell_with_its_reason():
    rows = export_rows("Paper", TABLE, fill_table(TABLE, [record()]))
    assert [(row["row"], row["metric"], row["published"], row["ours"]) for row in rows] == [
        ("COIN", "Accuracy", "85.6", None),
        ("COIN", "F1-score", "86.5", None),
        ("TAN TDP", "Accuracy", "87.25 ± 0.11", 81.5),
        ("TAN TDP", "F1-score", None, 79.25),
    ]
    assert rows[2]["ours_less_published"] == pytest.approx(-5.75)
    assert (rows[2]["record"], rows[2]["file"], rows[2]["rows_measured"]) == ("one", "checkpoints", 400)
    empty = export_rows("Paper", TABLE, fill_table(TABLE, []))
    assert empty[2]["reason"].startswith("not trained") and empty[2]["seeds"] == 0


# --- the files of runs that are not shipped ---


def line(digest: str, *seeds: int, accuracy: float = 80.0, **more) -> dict:
    each = [{"seed": seed, "dev": {"set": "lcqmc/dev", "accuracy": accuracy + seed, "n": 9}} for seed in seeds]
    return {"name": "x", "digest": digest, "config": CONFIG, "each_seed": each, **more}


def test_lines_of_one_digest_are_one_record_with_all_its_seeds(tmp_path):
    file = tmp_path / "deep" / "some.jsonl"
    for record_line in (line("a", 1, 2), line("b", 1, set={"model.layers": 4}), line("a", 2, 3, accuracy=70.0)):
        append_record(file, record_line)
    records, problems = read_records(file)
    assert problems == [] and [one.entry.digest for one in records] == ["a", "b"]
    assert records[0].values("dev", "accuracy") == (81.0, 72.0, 73.0)
    assert records[0].file == "some" and records[1].changed == {"model.layers": 4}
    assert records[0].rows("dev") == 9 and records[0].runs == 3


def test_a_torn_last_line_is_left_out_and_the_next_record_stands_on_its_own(tmp_path):
    file = tmp_path / "some.jsonl"
    append_record(file, line("a", 1))
    whole = file.read_bytes()
    for torn in (b'{"name": "x", "dig', json.dumps(line("b", 2)).encode()[:-1], b"\xff\xfe"):
        file.write_bytes(whole + torn)
        assert [one.entry.digest for one in read_records(file)[0]] == ["a"] and read_records(file)[1] == []
        append_record(file, line("c", 3))
        assert [one.entry.digest for one in read_records(file)[0]] == ["a", "c"] and read_records(file)[1] == []
    file.write_bytes(whole.rstrip(b"\n"))  # somebody's editor
    append_record(file, line("c", 3))
    assert [one.entry.digest for one in read_records(file)[0]] == ["a", "c"]
    file.write_bytes(b'{"na')
    append_record(file, line("c", 3))
    assert [one.entry.digest for one in read_records(file)[0]] == ["c"]


def test_a_broken_line_is_named_and_the_others_are_there(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    file = tmp_path / "results" / "some.jsonl"
    append_record(file, line("a", 1))
    with open(file, "a", encoding="utf-8") as out:
        out.write('{"name": \n\n{"config": {}}\n[]\n{"config": 3, "each_seed": []}\n')
    append_record(file, line("b", 1))
    append_record(tmp_path / "results" / "trained.jsonl", line("c", 1))
    records, problems = all_records()
    assert [one.entry.digest for one in records] == ["a", "b", "c"]
    assert [problem.rpartition("some.jsonl:")[2].partition(":")[0] for problem in problems] == ["2", "4", "5", "6"]


def test_a_checkpoint_without_weights_still_has_its_numbers_and_one_without_numbers_its_problem(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    for name, metrics in (("measured", {"test": TEST}), ("bare", None), ("broken", "{")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(CONFIG))
        if metrics is not None:
            (tmp_path / name / "metrics.json").write_text(metrics if metrics == "{" else json.dumps(metrics))
    records, problems = all_records()
    assert [one.entry.name for one in records] == ["measured"]
    assert len(problems) == 2 and "bare" in problems[0] and "broken" in problems[1]
