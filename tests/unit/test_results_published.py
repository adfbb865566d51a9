"""The papers' tables as files: what stands in them agrees with itself and with what the paper says in words."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.errors import DataError
from triattn_core.results import paper_results, run_records
from triattn_core.results.paper_results import read_model
from triattn_core.results.paper_schema import Paper, Table, parse_printed, plain_name

FOLDER = run_records.SHIPPED / "papers" / "tri-attention"
SIZES = {5: (22, 3), 6: (22, 2), 7: (17, 1), 8: (8, 5), 9: (8, 5)}  # rows and printed columns as the paper has them


@pytest.fixture(scope="module")
def tables() -> dict[int, Table]:
    return {number: read_model(FOLDER / f"table-{number}.json", Table) for number in SIZES}


def number(table: Table, name: str, metric: str) -> float:
    """A printed number by its row's name without marks, and its column's metric."""
    row = next(row for row in table.rows if plain_name(row.name) == name)
    return table.printed(row, next(column for column in table.columns if column.metric == metric)).value


def texts(table: Table, mechanism: str, metrics: tuple[str, ...]) -> dict[str, list[str]]:
    """Printed texts of the rows of a mechanism, by similarity."""
    columns = [next(column for column in table.columns if column.metric == metric) for metric in metrics]
    return {
        row.ours["similarity"]: [table.printed(row, column).text for column in columns]
        for row in table.rows
        if row.ours and row.ours["mechanism"] == mechanism
    }


@pytest.mark.parametrize("which", SIZES)
def test_tables_have_the_size_of_the_papers(tables, which):
    table = tables[which]
    assert (len(table.rows), sum(column.printed for column in table.columns)) == SIZES[which]
    assert table.number == which and len({row.name for row in table.rows}) == len(table.rows)
    assert len([row for row in table.rows if row.ours and row.ranked]) in (4, 8)  # COIN is another paper's


def test_what_the_paper_prints_twice_is_the_same(tables):
    ranks, pairs = ("R10@1", "R10@2", "R10@5"), ("accuracy", "f1")
    assert texts(tables[5], "tri", ranks) == texts(tables[8], "tri", ranks) == texts(tables[9], "tri", ranks)
    assert texts(tables[6], "tri", pairs) == texts(tables[8], "tri", pairs) == texts(tables[9], "tri", pairs)
    assert len(texts(tables[8], "tri", ranks)) == 4


def test_what_the_paper_says_of_its_tables_in_words_holds(tables):
    """Section VI-F: gains in per cent of the lower figure on LCQMC, in points on Ubuntu; VI-D and VI-E: who leads."""
    eight, nine = tables[8], tables[9]

    def gain(table: Table, high: str, low: str, metric: str) -> float:
        return 100 * (number(table, high, metric) / number(table, low, metric) - 1)

    def points(table: Table, high: str, low: str) -> list[float]:
        return [round(number(table, high, f"R10@{k}") - number(table, low, f"R10@{k}"), 1) for k in (1, 2, 5)]

    assert round(gain(eight, "Tri-Attention Trili", "Bi-Attention Bili", "accuracy"), 2) == 1.03
    assert round(gain(eight, "Tri-Attention Trili", "Bi-Attention Bili", "f1"), 2) == 0.76
    assert round(gain(nine, "Tri-Attention TDP", "C-BiAttention DP", "accuracy"), 2) == 1.52
    assert round(gain(nine, "Tri-Attention TDP", "C-BiAttention DP", "f1"), 2) in (1.17, 1.18)
    assert points(eight, "Tri-Attention TSDP", "Bi-Attention SDP") == [0.8, 0.2, 0.1]
    assert points(nine, "Tri-Attention TAdd", "C-BiAttention Add")[:2] == [0.4, 0.1]
    others = [number(tables[6], plain_name(row.name), "accuracy") for row in tables[6].rows if not row.ours]
    assert all(number(tables[6], f"TAN {one}", "accuracy") > max(others) - 0.08 for one in ("TAdd", "TDP", "TSDP"))
    assert 0 < number(tables[7], "TAN TAdd", "accuracy") - number(tables[7], "BERT base+DCMN", "accuracy") < 1
    assert number(tables[7], "TAN TDP", "accuracy") < number(tables[7], "BERT base+DCMN", "accuracy")


def test_values_are_kept_as_they_are_printed():
    assert (parse_printed("87.30").number, parse_printed("87.30").value, parse_printed("87.30").spread) == (
        "87.30",
        87.3,
        None,
    )
    value = parse_printed("90.5 ± 0.06")
    assert (value.number, value.spread_text, value.value, value.spread) == ("90.5", "0.06", 90.5, 0.06)
    assert parse_printed("-") is None
    assert plain_name("TAN_{TAdd}") == "TAN TAdd" and plain_name("BERT_{base}+DCMN") == "BERT base+DCMN"


def test_a_column_of_ours_alone_has_no_printed_number_wherever_it_stands():
    columns = [{"name": name, "metric": name, "printed": name != "own"} for name in ("own", "a", "b")]
    table = Table.model_validate(
        {"kind": "table", "number": 1, "label": "", "short": "", "title": "", "columns": columns}
        | {"rows": [{"name": "x", "values": ["1.5", "-"]}]}
    )
    values = [table.printed(table.rows[0], column) for column in table.columns]
    assert [value and value.value for value in values] == [None, 1.5, None]


@pytest.fixture
def checkpoint_folder(tmp_path: Path, monkeypatch) -> Path:
    """Another folder of checkpoints with a paper of its own, a copy of the shipped one."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    shutil.copytree(FOLDER, tmp_path / "results" / "papers" / "another")
    return tmp_path / "results" / "papers" / "another"


def test_the_papers_of_the_package_stand_beside_those_of_another_folder(checkpoint_folder):
    about = json.loads((checkpoint_folder / "paper.json").read_text("utf-8"))
    (checkpoint_folder / "paper.json").write_text(json.dumps(about | {"name": "Another", "order": 0}), "utf-8")
    papers = paper_results.load_papers()
    assert [paper.paper.name for paper in papers][:2] == ["Another", "Tri-Attention"]
    assert [(len(paper.tables), len(paper.figures)) for paper in papers][:2] == [(6, 3), (6, 3)]
    assert [table.number for table in papers[0].tables] == [5, 6, 7, 8, 9, 20]
    assert not any(paper.problems for paper in papers)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"colour": "red"}, "colour"),
        ({"columns": []}, "columns"),
        ({"rows": [{"name": "one", "values": ["1", "2", "3"]}]}, "row 'one' has 3 values, the printed columns are 2"),
        ({"rows": [{"name": "one", "values": ["1,5", "2"]}]}, "'1,5' is no printed value"),
        ({"rows": [{"name": "one", "values": ["1", "2"], "within": {"x": {}}}]}, "no column has the group 'x'"),
        (None, "not a JSON file"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line_and_the_others_are_there(checkpoint_folder, change, says):
    path = checkpoint_folder / "table-6.json"
    text = "{" if change is None else json.dumps(json.loads(path.read_text("utf-8")) | change)
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match="table-6.json"):
        read_model(path, Table)
    another = next(paper for paper in paper_results.load_papers() if paper.problems)
    assert [table.number for table in another.tables] == [5, 7, 8, 9, 20]
    (problem,) = another.problems
    assert str(path) in problem and says in problem and "\n" not in problem


def test_a_paper_without_its_head_is_said_and_has_no_tables(checkpoint_folder):
    (checkpoint_folder / "paper.json").write_text("[]", "utf-8")
    last = paper_results.load_papers()[-1]
    assert (last.paper.name, last.tables) == ("another", ()) and "paper.json" in last.problems[0]
    with pytest.raises(DataError, match="order"):
        (checkpoint_folder / "paper.json").write_text('{"name": "x", "cite": "y"}', "utf-8")
        read_model(checkpoint_folder / "paper.json", Paper)


def test_the_printed_values_are_those_that_were_checked_against_the_paper():
    """Whoever mends one checks it in the paper, and writes the digest anew."""
    digest = hashlib.sha256()
    for path in sorted(FOLDER.glob("table-*.json")):
        rows = json.loads(path.read_text("utf-8"))["rows"]
        digest.update(json.dumps([[row["name"], row.get("values")] for row in rows]).encode())
    assert digest.hexdigest() == "ab3fa38d282cccb2156de24cf0b37b0de3a1acc4382ed8a13e9874899858673b"
