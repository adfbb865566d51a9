"""`triattn cases` and `triattn book`: what they print, store and refuse, and that Ctrl-C keeps what there is."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from tests.support.tiny import make_checkpoint, make_encoder, make_rows
from triattn_core.__main__ import main
from triattn_core.analysis.mining import agreement, case_table
from triattn_core.analysis.mining.case_table import load
from triattn_core.analysis.mining.runs import Run
from triattn_core.case_book import CaseBook
from triattn_core.commands import engine

NAMES = ["small-bi", "small-cbi", "small-tri"]


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("world")
    make_encoder(root / "checkpoints" / "encoders" / "tiny")
    make_rows(root / "rows.jsonl", 30, 4)
    with open(root / "rows.jsonl", "a", encoding="utf-8") as file:
        file.write('{"text_a": "who"}\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        for seed, mechanism in enumerate(("bi", "cbi", "tri")):
            make_checkpoint(root, f"small-{mechanism}", mechanism, seed)
        yield root


def cases(world: Path, out: Path, *more: str) -> int:
    return main(["cases", *NAMES, str(world / "rows.jsonl"), "--out", str(out), *more])


def test_the_table_is_stored_and_told(world, tmp_path, capsys):
    assert cases(world, tmp_path / "cases.parquet") == 0
    stored_cases, output = load(tmp_path / "cases.parquet"), capsys.readouterr().out
    assert len(stored_cases.table) == 30 and stored_cases.about.whole and stored_cases.about.aside == 1
    assert stored_cases.about.command.startswith("triattn cases small-bi") and stored_cases.about.data.endswith(
        "/rows.jsonl"
    )
    for name, row in agreement.right_combinations(stored_cases).iterrows():
        (line,) = [line for line in output.splitlines() if line.startswith(f"{name} ")]
        assert line.split()[-3:] == [str(row["rows"]), str(row["label 0"]), str(row["label 1"])]
    assert output.count("McNemar p") == 3 and "rows.jsonl:31: field 'text_b'" in output
    for text in ("movie", "browser"):  # words of the rows
        assert text.encode() not in (tmp_path / "cases.parquet").read_bytes()


def test_for_machines(world, tmp_path, capsys):
    assert cases(world, tmp_path / "cases.parquet", "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["rows"] == 30 and len(summary["agreement"]) == 8 and len(summary["differences"]) == 3
    assert (
        sum(record["rows"] for record in summary["agreement"]) == 30 and summary["checkpoints"][2]["mechanism"] == "tri"
    )


@pytest.mark.parametrize("form", [["--json"], []], ids=("json", "text"))
def test_a_table_too_large_to_load_is_summarised_from_its_file(world, tmp_path, capsys, monkeypatch, form):
    assert cases(world, tmp_path / "cases.parquet", *form) == 0
    expected, stored = capsys.readouterr().out, load(tmp_path / "cases.parquet")
    job = SimpleNamespace(
        tables=lambda: (pq.read_table(tmp_path / "cases.parquet").slice(at, 10) for at in (0, 10, 20)),
        errors=lambda: list(stored.about.complaints),
        last_line=stored.about.lines,
        seconds=stored.about.seconds,
        truncated="",
        clear=lambda: None,
        rows=31,
        work=SimpleNamespace(device="cuda"),
    )
    monkeypatch.setattr(engine, "run", lambda *arguments: job)
    monkeypatch.setattr(case_table, "LARGEST", 9)
    assert cases(world, tmp_path / "large.parquet", "--engine", "ray", *form) == 0
    output = capsys.readouterr().out
    assert case_table.read_info(tmp_path / "large.parquet").device == "cuda"  # that of the workers
    if not form:
        assert output == expected
        return
    large, small = json.loads(output), json.loads(expected)
    differing = {"date", "command", "out", "device"}
    assert {key for key in small if small[key] != large[key]} <= differing and large.keys() == small.keys()
    assert small["accuracy"] and len(small["agreement"]) == 8 and len(small["differences"]) == 3


def test_a_damaged_file_gives_a_table_that_says_so(world, tmp_path, capsys):
    packed = gzip.compress((world / "rows.jsonl").read_bytes())
    (tmp_path / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    assert main(["cases", *NAMES, str(tmp_path / "cut.jsonl.gz"), "--out", str(tmp_path / "cases.parquet")]) == 0
    assert "not read to its end: " in capsys.readouterr().out
    about = load(tmp_path / "cases.parquet").about
    assert not about.whole and "damaged, or not a gzip file" in about.truncated


def test_ctrl_c_keeps_what_there_is(world, tmp_path, capsys, monkeypatch):
    step, steps = Run.step, iter(range(9))

    def stopped(run):
        if next(steps) == 2:
            raise KeyboardInterrupt
        return step(run)

    monkeypatch.setattr(Run, "step", stopped)
    assert cases(world, tmp_path / "cases.parquet") == 130
    stored_cases = load(tmp_path / "cases.parquet")
    assert 0 < len(stored_cases.table) < 30 and not stored_cases.about.whole
    assert f"holds the {len(stored_cases.table)} rows" in capsys.readouterr().err


def test_what_cannot_be_mined_is_one_line(world, tmp_path, capsys):
    data, out = str(world / "rows.jsonl"), str(tmp_path / "cases.parquet")
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "other.jsonl").write_text('{"passage": "x"}\n' * 3)
    for asked, message in (
        ([*NAMES, data, "--out", str(tmp_path / "none" / "x.parquet")], "no such folder"),
        ([*NAMES, str(tmp_path / "none.jsonl"), "--out", out], "no such file"),
        ([*NAMES, data, "--out", data], "--out would overwrite the input"),
        (["small-bi", "small-bi", data, "--out", out], "named twice"),
        (["small-bi", data, "--out", out], "2 to 4 checkpoints"),
        ([*NAMES, str(tmp_path / "empty.jsonl"), "--out", out], "empty.jsonl: no row in it"),
        ([*NAMES, str(tmp_path / "other.jsonl"), "--out", out], "other.jsonl:1: field 'text_a'"),
    ):
        assert main(["cases", *asked]) == 1, message
        errors = capsys.readouterr().err.splitlines()
        assert message in errors[-1] and errors[-1].startswith("triattn: ")
    assert not Path(out).exists() and len(Path(data).read_text("utf-8").splitlines()) == 31


@pytest.fixture
def book(tmp_path, monkeypatch, capsys):
    """Runs `triattn book`: (exit code, what it printed, parsed where JSON was asked for)."""
    monkeypatch.setenv("TRIATTN_CASES", str(tmp_path / "cases.sqlite"))
    (tmp_path / "row.json").write_text('{"text_a": "哪些浏览器", "text_b": "什么浏览器", "label": 0}', "utf-8")

    def run(*arguments: str):
        code = main(["book", *arguments])
        captured = capsys.readouterr()
        return code, json.loads(captured.out) if "--json" in arguments and not code else captured.out + captured.err

    return run


def test_a_case_is_kept_found_changed_and_taken_out(book, tmp_path):
    assert "no case in" in book("list")[1]
    _, case = book("keep", str(tmp_path / "row.json"), "--note", "看", "--tags", "verb, zh", "--page", "cube", "--json")
    assert (case["note"], case["tags"], case["page"], case["version"]) == ("看", ["verb", "zh"], "cube", 1)
    assert CaseBook(tmp_path / "cases.sqlite").get(case["id"]).row["text_b"] == "什么浏览器"
    assert case["id"] in book("list")[1] and "什么浏览器" in book("show", case["id"])[1]
    assert "did you mean 'reading'?" in book("search", "--task", "readin")[1]
    for asked, count in ((("浏览器",), 1), (("none",), 0), (("--tag", "zh"), 1), (("--task", "reading"), 0)):
        assert len(book("search", *asked, "--json")[1]) == count, asked
    _, changed = book("change", case["id"], "--note", "other", "--version", "1", "--json")
    assert (changed["note"], changed["tags"], changed["version"]) == ("other", ["verb", "zh"], 2)
    code, output = book("change", case["id"], "--tags", "", "--version", "1")
    assert code == 1 and "changed meanwhile" in output
    assert book("drop", case["id"])[0] == 0 and book("drop", case["id"])[0] == 1


def test_a_book_goes_through_a_file(book, tmp_path):
    book("keep", str(tmp_path / "row.json"))
    assert book("export", str(tmp_path / "book.jsonl"))[1].startswith("1 cases in")
    assert book("import", str(tmp_path / "book.jsonl"), "--json")[1] == {"new": 0, "same": 1}
    other = ("--book", str(tmp_path / "other.sqlite"), "--json")
    assert book("import", str(tmp_path / "book.jsonl"), *other)[1] == {"new": 1, "same": 0}
    (tmp_path / "bad.jsonl").write_text((tmp_path / "book.jsonl").read_text("utf-8") + "{}\n", "utf-8")
    third = ("--book", str(tmp_path / "third.sqlite"))
    code, output = book("import", str(tmp_path / "bad.jsonl"), *third)
    assert code == 1 and "bad.jsonl:2: not a case" in output
    assert book("list", *third, "--json")[1] == []


def test_what_cannot_be_kept_is_one_line(book, tmp_path):
    (tmp_path / "bad.json").write_text('{"text_a": " ", "text_b": "x"}')
    for asked, message in (
        (("keep", str(tmp_path / "bad.json")), "Sentence A is empty"),
        (("keep", str(tmp_path / "row.json"), "--task", "pair"), "did you mean 'pairs'"),
        (("keep", str(tmp_path / "none.json")), "none.json"),
        (("show", "abc"), "no case 'abc'"),
        (("export", str(tmp_path / "none" / "x.jsonl")), "cannot be written"),
    ):
        code, output = book(*asked)
        assert code == 1 and message in output and output.count("\n") == 1
