"""Each number of ours has its command: which rows a command made, and that none of the records lacks one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_results_curves import FIGURE, run
from triattn_core.checkpoint.registry import Entry
from triattn_core.commands.train import repeated_by
from triattn_core.results import commands, curves, paper_comparison, paper_results
from triattn_core.results.paper_comparison import Cell
from triattn_core.results.paper_schema import Column, Row, Table
from triattn_core.results.run_records import Record, all_records, append_record, read_records

COLUMNS = (Column(name="Acc", metric="accuracy", printed=False), Column(name="F1", metric="f1", printed=False))
ROWS = (Row(name="TAN_{TAdd}", ours={}), Row(name="two", ours={}), Row(name="three", ours={}), Row(name="of others"))
TABLE = Table(kind="table", number=1, label="Table 1", short="", title="", columns=COLUMNS, rows=ROWS)


def made_by(command: str | None) -> Record:
    return Record(Entry("x", Path("x"), {}, {"command": command} if command else {}, "", 1))


def line(*made: str | None) -> list[Cell]:
    return [
        Cell(column, None, (80.0,), made_by(command)) if command != "-" else Cell(column, None, reason="not trained")
        for column, command in zip(COLUMNS, made)
    ]


def test_rows_of_one_sweep_share_its_command_and_a_row_of_two_commands_names_its_columns():
    cells = [line("sweep a", "sweep a"), line("sweep a", "train b"), line("-", None), line("-", "-")]
    made = commands.table_commands(TABLE, cells)
    assert made == {
        "sweep a": ["TAN TAdd", "two, Acc"], "train b": ["two, F1"], commands.NOT_RECORDED: ["three"]
    }  # fmt: skip
    assert commands.shell_text(made).startswith("# TAN TAdd; two, Acc\nsweep a\n# two, F1\ntrain b\n")


def test_seeds_of_several_commands_have_them_all(tmp_path):
    file = tmp_path / "some.jsonl"
    for command, seeds in (("first", (1, 2)), ("second", (2, 3))):
        each = [{"seed": seed, "dev": {"accuracy": 80.0}} for seed in seeds]
        append_record(file, {"digest": "a", "config": {}, "command": command, "each_seed": each})
    (record,) = read_records(file)[0]
    assert commands.record_commands(record) == ["first", "second"]


def test_the_points_of_a_curve_have_theirs():
    drawn = [run(1, 80.0), run(2, 81.0), run(3, 82.0)]
    for record, command in zip(drawn, ("sweep 1,2", "sweep 1,2", "sweep 3")):
        record.entry.metrics["command"] = command
    made = commands.curve_commands(curves.measured_curves(FIGURE, drawn))
    assert made == {"sweep 1,2": ["TAdd at 1, 2"], "sweep 3": ["TAdd at 3"]}


@pytest.mark.parametrize("paper", paper_results.load_papers(), ids=lambda paper: paper.paper.name)
def test_no_number_on_the_page_lacks_its_command(paper):
    records = all_records()[0]
    for table in paper.tables:
        cells = paper_comparison.fill_table(table, records)
        made = commands.table_commands(table, cells)
        assert commands.NOT_RECORDED not in made and bool(made) == any(cell.values for row in cells for cell in row)
    for figure in paper.figures:
        assert commands.NOT_RECORDED not in commands.curve_commands(curves.measured_curves(figure, records))


def test_the_command_of_a_record_trains_from_the_start_wherever_states_are_kept():
    given = "triattn train a/config.json --runs 'my runs' --data DATA --resume"
    assert repeated_by(given) == "triattn train a/config.json --data DATA"
    assert repeated_by("triattn sweep a --set x=1 --runs=/r") == "triattn sweep a --set x=1"
