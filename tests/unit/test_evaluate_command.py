"""`triattn evaluate`: what it prints of one checkpoint and of several, and of rows that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.evaluate_world import make_stranger, use_world
from triattn_core.__main__ import main
from triattn_core.analysis.significance import mcnemar
from triattn_core.checkpoint.bundle import load
from triattn_core.inference import evaluate
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
    judged = evaluate.verdicts([load(name) for name in ("bi", "tri", "cbi")], pairs.read(Path(data)))
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
    """Rows one of which lacks its second sentence, one of which no checkpoint can read, and one that is no JSON."""
    lines = (world / "rows.jsonl").read_text("utf-8").splitlines(keepends=True)
    unreadable = json.dumps({"text_a": "\u200b", "text_b": "who", "label": 1}) + "\n"
    file = tmp_path / "broken.jsonl"
    bad = ['{"text_a": "who", "label": 1}\n', unreadable]
    file.write_text("".join([*lines[:60], *bad, *lines[60:], "not json\n"]), "utf-8")
    return file


def test_a_bad_row_is_set_aside_with_its_line_and_the_reason(world, broken, capsys):
    assert main(["evaluate", "bi", "tri", str(broken), "--json"]) == 0
    printed = capsys.readouterr()
    aside = [line.removeprefix("triattn: set aside: ") for line in printed.err.splitlines() if "set aside: " in line]
    assert [line.partition(": ")[0] for line in aside] == [
        f"{broken.parent.name}/broken.jsonl:61",
        "line 62",
        f"{broken.parent.name}/broken.jsonl:78",
    ]
    assert "triattn: 3 rows set aside" in printed.err and "no label" not in printed.err
    assert main(["evaluate", "bi", "tri", str(world / "rows.jsonl"), "--json"]) == 0
    assert json.loads(printed.out) == json.loads(capsys.readouterr().out) | {"aside": 3}


def test_a_row_that_breaks_the_model_is_set_aside(world, capsys, monkeypatch):
    whole = evaluate.predict

    def broken(bundles, examples, size):
        if any(example.text_a == "boom" for example in examples):
            raise RuntimeError("it\nbroke")
        return whole(bundles, examples, size)

    monkeypatch.setattr(evaluate, "predict", broken)
    rows = (world / "rows.jsonl").read_text("utf-8").splitlines()
    (world / "boom.jsonl").write_text(
        "\n".join([*rows[:9], '{"text_a": "boom", "text_b": "b", "label": 0}', *rows[9:]])
    )
    assert main(["evaluate", "bi", str(world / "boom.jsonl")]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("75 rows  accuracy ")
    assert "set aside: line 10: RuntimeError: it broke\n" in printed.err


def test_the_measures_of_the_attention_leave_out_what_is_set_aside(broken, capsys):
    assert main(["evaluate", "tri", str(broken), "--attention", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["attention"]["n"] == report["n"] == 75


def test_a_file_without_a_row_that_can_be_judged_is_one_line(tmp_path, capsys):
    for name, content, message in (
        ("bad", "not json\n" * 3, "bad.jsonl:1: not JSON"),
        ("empty", "", "no row has a label"),
        ("unlabelled", '{"text_a": "who", "text_b": "what"}\n', "no row has a label"),
    ):
        (tmp_path / f"{name}.jsonl").write_text(content)
        assert main(["evaluate", "bi", str(tmp_path / f"{name}.jsonl")]) == 1
        printed = capsys.readouterr()
        assert printed.out == "" and message in printed.err and printed.err.count("\n") == 1


def test_who_stops_it_has_the_numbers_so_far(world, capsys, monkeypatch):
    whole, calls = evaluate.judge, []

    def stopped(*given, **more):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return whole(*given, **more)

    monkeypatch.setattr(evaluate, "judge", stopped)
    monkeypatch.setattr(evaluate, "WINDOW", 7)
    assert main(["evaluate", "bi", str(world / "rows.jsonl")]) == 130
    printed = capsys.readouterr()
    assert printed.out.startswith("7 rows  accuracy ") and "stopped after 7 rows" in printed.err
