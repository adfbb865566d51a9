"""What a file that cannot be opened or saved is told, on the command line."""

from __future__ import annotations

import numpy as np

from tests.unit.test_open_file import VALUES, refused, write
from triattn_core.__main__ import main
from triattn_core.errors import cause


def test_the_reason_is_one_that_helps(tmp_path, capsys):
    (tmp_path / "words.npy").write_text("the cat sat on the mat\n")
    (tmp_path / "words.pt").write_text("(101) the cat\n")
    np.savez(tmp_path / "archive.npz", a=VALUES)
    (tmp_path / "archive.npy").write_bytes((tmp_path / "archive.npz").read_bytes())
    (tmp_path / "folder.npy").mkdir()
    for name, reason in (
        ("words.npy", "not a NumPy file: save it with numpy.save"),
        ("words.pt", "not a"),
        ("archive.npy", "a NumPy archive: if so, rename it to .npz"),
        ("folder.npy", "a folder, expected a file"),
    ):
        line = refused(capsys, tmp_path / name)
        assert reason in line and "(101)" not in line and "attribute" not in line, line
    assert cause(KeyError("(101)")) == cause(ValueError("174812789")) == cause(AttributeError("x has no y")) == ""
    assert cause(ValueError("file is too short\nmore")) == "file is too short"


def test_a_trace_is_saved_under_a_name_of_its_kind(tmp_path, capsys):
    path = write(tmp_path / "a.npy", a=VALUES)
    assert "name a file that ends in .nc" in refused(capsys, path, "--out", tmp_path / "x.txt")
    assert not (tmp_path / "x.txt").exists()


def test_a_card_of_two_traces_names_the_one_that_is_missing(tmp_path, capsys):
    assert main(["card", "side_by_side", "a.nc", "b.nc", "--out", str(tmp_path / "card.zip")]) == 1
    line = capsys.readouterr().err
    assert "a.nc: no such file" in line and line.count("\n") == 1
