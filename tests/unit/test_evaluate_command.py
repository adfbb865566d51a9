"""`triattn evaluate`: what it prints of one checkpoint and of several, and of rows that cannot be read."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest

from tests.support.evaluate_world import make_stranger, use_world
from triattn_core.__main__ import main
from triattn_core.analysis.significance import mcnemar
from triattn_core.checkpoint.bundle import load
from triattn_core.inference.evaluate import judge, verdicts
from triattn_core.tasks import pairs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with use_world(tmp_path_factory.mktemp("world")) as root:
        yield root


@pytest.fixture
def stranger(world) -> Path:
    return make_stranger(world)


def test_the_command_line_measures_without_overlap(world, capsys):
    """A pair turned round is left out; a file that is not there is named."""
    rows = [json.loads(line) for line in (world / "rows.jsonl").read_text("utf-8").splitlines()]
    turned = [{"text_a": row["text_b"].upper(), "text_b": row["text_a"]} for row in rows[:20]]
    (world / "turned.jsonl").write_text("\n".join(map(json.dumps, turned)), "utf-8")
    asked = ["evaluate", "bi", str(world / "rows.jsonl"), "--exclude-overlap"]
    assert main([*asked, str(world / "turned.jsonl"), "--json"]) == 0
    left = sum({row["text_a"], row["text_b"]} not in [{r["text_a"], r["text_b"]} for r in rows[:20]] for row in rows)
    assert json.loads(capsys.readouterr().out)["n"] == left < len(rows)
    assert main([*asked, "nowhere.jsonl"]) == 1
    assert capsys.readouterr().err == "triattn: nowhere.jsonl: no such file\n"


def test_the_command_line_says_that_the_texts_look_foreign(world, capsys):
    """And nothing of the kind where they do not."""
    rows = [{"text_a": "哪些浏览器可以看电影", "text_b": "什么浏览器可以下电影", "label": 0}]
    (world / "zh.jsonl").write_text("\n".join(json.dumps(row) for row in 3 * rows), "utf-8")
    (world / "zh.json").write_text(json.dumps(rows[0]), "utf-8")
    for command in (["evaluate", "bi", str(world / "zh.jsonl")], ["explain", "bi", str(world / "zh.json")]):
        assert main(command) == 0
        assert "triattn: the texts look Chinese: bi reads English" in capsys.readouterr().err
    assert main(["evaluate", "bi", str(world / "rows.jsonl")]) == 0
    assert "look" not in capsys.readouterr().err


def test_the_command_line_compares_several(world, capsys, read):
    data = str(world / "rows.jsonl")
    assert main(["evaluate", "bi", "tri", "cbi", data, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert sum(read) == 75
    assert [checkpoint["name"] for checkpoint in report["checkpoints"]] == ["bi", "tri", "cbi"]
    for checkpoint in report["checkpoints"]:
        assert main(["evaluate", checkpoint.pop("name"), data, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == checkpoint
    judged = verdicts([load(name) for name in ("bi", "tri", "cbi")], pairs.read(Path(data)))
    right = [[right for right, *_ in verdict] for verdict in judged]
    assert report["differences"] == [vars(test) for test in mcnemar(["bi", "tri", "cbi"], right)]
    assert any(test["only_a"] != test["only_b"] for test in report["differences"])


def test_the_command_line_in_words(world, capsys):
    data = str(world / "rows.jsonl")
    assert main(["evaluate", "bi", "tri", data]) == 0
    first, second, difference = capsys.readouterr().out.splitlines()
    assert first.startswith("bi  75 rows  accuracy ") and second.startswith("tri  75 rows  accuracy ")
    assert difference.startswith("tri less bi: ") and "McNemar p " in difference
    assert main(["evaluate", "tri", data]) == 0
    assert capsys.readouterr().out.startswith("75 rows  accuracy ")


def test_the_command_line_refuses_strangers_in_one_line(world, stranger, capsys):
    assert main(["evaluate", "bi", "stranger", str(world / "rows.jsonl"), "--json"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = (line for line in printed.err.splitlines() if line.startswith("triattn: "))
    assert "differ in their encoder" in line


@pytest.fixture
def broken(world, tmp_path) -> Path:
    """60 good rows, one without its second sentence, and the others."""
    lines = (world / "rows.jsonl").read_text("utf-8").splitlines(keepends=True)
    file = tmp_path / "broken.jsonl"
    file.write_text("".join([*lines[:60], '{"text_a": "who", "label": 1}\n', *lines[60:]]), "utf-8")
    (tmp_path / "before.jsonl").write_text("".join(lines[:60]), "utf-8")
    return file


def test_a_row_that_cannot_be_read_leaves_the_numbers_of_those_before(broken, capsys):
    assert main(["evaluate", "bi", "tri", str(broken), "--json"]) == 1
    printed = capsys.readouterr()
    assert f"{broken}:61: " in printed.err and "those of the 60 labelled rows before" in printed.err
    assert main(["evaluate", "bi", "tri", str(broken.with_name("before.jsonl")), "--json"]) == 0
    assert json.loads(printed.out) == json.loads(capsys.readouterr().out) | {"stopped": True}


def test_who_stops_it_has_the_numbers_so_far(world, capsys, monkeypatch):
    def stopped(bundles, rows, report, joined):
        yield from islice(judge(bundles, rows), 7)
        raise KeyboardInterrupt

    monkeypatch.setattr("triattn_core.inference.evaluate.judge", stopped)
    assert main(["evaluate", "bi", str(world / "rows.jsonl")]) == 130
    printed = capsys.readouterr()
    assert printed.out.startswith("7 rows  accuracy ") and "stopped after 7 rows" in printed.err
