"""Commands count what takes long, on stderr, and say nothing of what is quick."""

from __future__ import annotations

import re
import sys

import pytest

from triattn_core.commands import progress_line
from triattn_core.inference.pause import pause, progress


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
