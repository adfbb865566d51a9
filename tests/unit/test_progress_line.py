"""Commands count what takes long, on stderr, and say nothing of what is quick."""

from __future__ import annotations

import pytest

from triattn_core.commands import progress_line
from triattn_core.inference.pause import pause, progress


def test_each_long_computation_is_counted_in_turn(capsys, monkeypatch):
    monkeypatch.setattr(progress_line, "AFTER", 0)
    with progress_line.counted("attribute"):
        for total in (2, 3, 3):
            for done in range(1, total + 1):
                progress(done, total)
                pause()
    progress(1, 5)
    said = capsys.readouterr()
    assert (
        said.out == "" and "attribute" in said.err and "0/2" in said.err and "0/3" in said.err and "/5" not in said.err
    )


def test_the_line_ends_with_the_computation(capsys):
    with pytest.raises(KeyError), progress_line.counted("attribute"):
        progress(1, 2)
        raise KeyError
    progress(2, 2)
    assert capsys.readouterr().err == ""
