"""Commands over rows on a cluster of two nodes: what one process gives, and the same rows set aside."""

from __future__ import annotations

import json
import subprocess
import sys

import pandas as pd
import pytest

from tests.support.evaluate_world import use_world
from triattn_core.__main__ import main
from triattn_core.analysis.mining import sources
from triattn_core.checkpoint.registry import list_checkpoints

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install '.[scale]'")
NAMES = ["quora-bi-living", "quora-cbi-living"]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with use_world(tmp_path_factory.mktemp("world")) as root:
        yield root


@pytest.fixture
def on_ray(address, tmp_path):
    """The options: one worker, for each takes seconds to start and the rows are few."""
    return ["--engine", "ray", "--address", address, "--workers", "1", "--work", str(tmp_path / "work")]


def test_evaluate_gives_what_one_process_gives_and_names_the_same_bad_rows(world, on_ray, tmp_path, capsys):
    rows = (world / "rows.jsonl").read_text("utf-8").splitlines()
    unreadable = json.dumps({"text_a": "\u200b", "text_b": "who", "label": 1})
    bad = ["not json", unreadable, '{"text_a": "who", "label": 1}', '{"text_a": "who", "text_b": "what"}']
    (tmp_path / "rows.jsonl").write_text("\n".join([*rows[:40], *bad, *rows[40:]]), "utf-8")
    begin = ["evaluate", "bi", "tri", "cbi", str(tmp_path / "rows.jsonl"), "--vote", "--json"]
    printed = []
    for engine in ([], on_ray):
        assert main([*begin, *engine]) == 0
        printed.append(capsys.readouterr())
    here, there = (json.loads(one.out) for one in printed)
    assert here == there and here["aside"] == 3 and [one["n"] for one in here["checkpoints"]] == [75] * 4
    aside = [[line for line in one.err.splitlines() if "aside" in line or "label" in line] for one in printed]
    assert aside[0] == aside[1] and len(aside[0]) == 5 and "line 42: " in aside[0][1]
    assert not (tmp_path / "work").exists()


def test_a_file_without_a_row_is_one_line_on_ray_too(world, on_ray, tmp_path, capsys):
    (tmp_path / "bad.jsonl").write_text("not json\n" * 3)
    for engine in ([], on_ray):
        assert main(["evaluate", "bi", str(tmp_path / "bad.jsonl"), *engine]) == 1
        printed = capsys.readouterr()
        assert printed.out == "" and printed.err.splitlines()[-1].startswith("triattn: ")
        assert "bad.jsonl:1: not JSON" in printed.err.splitlines()[-1]


ALONE = """
import sys
import ray
from triattn_core.__main__ import main
if main(sys.argv[1:]) == 0:
    print(len(ray.nodes()))
"""


def test_without_an_address_a_cluster_is_started_although_another_runs(world, address, tmp_path):
    arguments = ["evaluate", "bi", str(world / "rows.jsonl"), "--engine", "ray", "--workers", "1", "--json"]
    alone = subprocess.run([sys.executable, "-c", ALONE, *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert alone.stdout.split()[-1:] == ["1"], alone.stderr  # `address` has two
    assert '"n": 75' in alone.stdout


@pytest.mark.skipif(not {*NAMES} <= {entry.name for entry in list_checkpoints()}, reason="not trained")
def test_the_command_gives_the_table_of_one_process(on_ray, address, tmp_path, monkeypatch):
    from triattn_core.analysis.mining.case_table import load

    monkeypatch.delenv("TRIATTN_CHECKPOINTS", raising=False)
    (tmp_path / "rows.jsonl").write_bytes(sources.example_source("pairs", "en").place.read_bytes()
                                          + b'not json\n{"text_a": 3}\n')  # fmt: skip
    begin = ["cases", *NAMES, str(tmp_path / "rows.jsonl"), "--out"]
    assert main([*begin, str(tmp_path / "here.parquet")]) == 0
    assert main([*begin, str(tmp_path / "ray"), *on_ray]) == 0
    ours, theirs = load(tmp_path / "here.parquet"), load(tmp_path / "ray" / "part-00000.parquet")
    assert json.loads((tmp_path / "ray" / "_manifest.json").read_text())["rows"] == len(theirs.table)
    pd.testing.assert_frame_equal(ours.table, theirs.table, atol=2e-4)
    same = {"seconds", "date", "command"}
    assert ours.about.model_dump(exclude=same) == theirs.about.model_dump(exclude=same)
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("command", ["context", "faithful"])
@pytest.mark.skipif("quora-tri-living" not in {entry.name for entry in list_checkpoints()}, reason="not trained")
def test_the_other_commands_give_the_table_of_one_process(command, on_ray, tmp_path, monkeypatch):
    monkeypatch.delenv("TRIATTN_CHECKPOINTS", raising=False)
    lines = sources.example_source("pairs", "en").place.read_bytes().splitlines()[:4]
    (tmp_path / "rows.jsonl").write_bytes(b"\n".join([*lines, b"not json"]))
    begin = [command, "quora-tri-living", str(tmp_path / "rows.jsonl"), "--out"]
    assert main([*begin, str(tmp_path / "here.parquet")]) == 0
    assert main([*begin, str(tmp_path / "ray.parquet"), *on_ray]) == 0
    ours, theirs = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("here", "ray"))
    pd.testing.assert_frame_equal(ours, theirs, atol=1e-3, check_dtype=False)


def test_heads_gives_the_table_and_weighs_words_as_one_process_does(world, on_ray, tmp_path, capsys):
    row = json.loads((world / "rows.jsonl").read_text("utf-8").splitlines()[0])
    begin = ["heads", "tri", str(world / "rows.jsonl"), "--rows", "12", "--words", row["text_a"].split()[0], "--json"]
    summaries = []
    for name, engine in {"here": [], "there": on_ray}.items():
        assert main([*begin, "--out", str(tmp_path / f"{name}.parquet"), *engine]) == 0
        summaries.append(json.loads(capsys.readouterr().out))
    here, there = (pd.DataFrame(summary["words"]) for summary in summaries)
    assert len(here) and here["rows"].max() > 1
    pd.testing.assert_frame_equal(here, there, atol=1e-4)
    here, there = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("here", "there"))
    pd.testing.assert_frame_equal(here, there, atol=1e-3, check_dtype=False)
