"""Commands count what takes long, on stderr, and say nothing of what is quick."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import pytest

from triattn_core.analysis.mining import sources
from triattn_core.commands import engine, progress_line
from triattn_core.inference.pause import pause, progress
from triattn_core.tasks import pairs


def compute() -> None:
    with progress_line.count_progress("attribute"):
        for total in (2, 3, 3):
            for done in range(1, total + 1):
                progress(done, total)
                pause()
    progress(1, 5)


def test_each_long_computation_is_counted_in_turn_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(progress_line, "AFTER", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    compute()
    out, err = capsys.readouterr()
    assert out == "" and "attribute" in err and "0/2" in err and "0/3" in err and "/5" not in err


def test_a_log_has_a_line_each_time_and_the_last_count(capsys, monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(progress_line, "monotonic", lambda: next(clock))
    compute()
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == "" and "\r" not in err and all(line.startswith("attribute: ") for line in lines)
    assert any("2 of 2 parts" in line for line in lines) and "of 5" not in err
    with progress_line.bar("tri", 40) as bar:
        for _ in range(40):
            bar.update()
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"tri: 2 of 40 rows, \d+ s, [\d.]+ rows a second, about \d+ s left", lines[0])
    assert lines[-1].startswith("tri: 40 of 40 rows, ") and "left" not in lines[-1] and 4 < len(lines) < 12


@pytest.mark.parametrize("terminal", [False, True])
def test_the_rate_after_a_resume_is_that_of_this_run(capsys, monkeypatch, terminal):
    clock, bars, begin = [0.0], [], progress_line.bar
    monkeypatch.setattr(progress_line, "monotonic", lambda: clock[0])
    monkeypatch.setattr(progress_line, "bar", lambda title: bars.append(begin(title)) or bars[-1])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)

    def compute(report):
        report(9_000, 10_000, 2)
        clock[0] = 10.0
        report(9_100, 10_000, 2)
        if terminal:
            assert bars[0].format_dict["initial"] == 9_000 and bars[0].n == 9_100
            assert bars[0].format_meter(**bars[0].format_dict | {"elapsed": 10.0, "rate": None}).count("10.00row/s")

    run_on_ray(monkeypatch, compute)
    if not terminal:
        line = capsys.readouterr().err.splitlines()[0]
        assert line.startswith("2 workers: 9,100 of 10,000 rows, 10 s, 10 rows a second, about 90 s left")


def run_on_ray(monkeypatch, compute) -> None:
    """`engine.run` of a job that is `compute`."""
    job = SimpleNamespace(run=compute, restarts=0, earlier="")
    monkeypatch.setattr("triattn_core.scale.job.RayJob", lambda *given: job)
    bundle = SimpleNamespace(path=Path("b"), digest="d", task=pairs, config=SimpleNamespace(language="en"))
    options = Namespace(device="cpu", address=None, workers=2, work=None)
    engine.run(options, lambda bundles: lambda rows: iter(()), [bundle], sources.uploaded_source("rows.jsonl", b""))


def test_an_unknown_total_is_not_named_and_facts_stand_after_it(capsys, monkeypatch):
    monkeypatch.setattr(progress_line, "AFTER", 0)
    with progress_line.bar("tri") as bar:
        bar.set_postfix(aside=3, refresh=False)
        bar.update(7)
    err = capsys.readouterr().err
    assert err.startswith("tri: 7 rows, ") and " of " not in err and err.endswith(", aside 3\n")


def test_the_line_ends_with_the_computation(capsys):
    with pytest.raises(KeyError), progress_line.count_progress("attribute"):
        progress(1, 2)
        raise KeyError
    progress(2, 2)
    assert capsys.readouterr().err == ""
