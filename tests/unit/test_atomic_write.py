"""A full disk, a stop or a lack of permission leaves the old file or none: never a torn or an empty one."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections import namedtuple
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.analysis_checkpoints import use_checkpoints
from tests.support.tiny import make_rows
from triattn_core.case_book import Case, CaseBook
from triattn_core.errors import CaseError, DataError
from triattn_core.text import atomic_write

pytestmark = pytest.mark.slow

ROW = {"text_a": "who play the red car ?", "text_b": "what movie is not big", "label": 0}
TOLD = "cannot be written (File too large)"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with use_checkpoints(tmp_path_factory.mktemp("world")) as root:
        (root / "row.json").write_text(json.dumps(ROW), "utf-8")
        make_rows(root / "rows.jsonl", 3, 4)
        yield root


@contextmanager
def files_of_at_most(size: int):
    """As a disk that is full after so many bytes of a file: writing more raises OSError."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_that_does_not_fit_leaves_the_old_one(tmp_path):
    out = tmp_path / "x"
    atomic_write.write_whole(out, "old")
    with files_of_at_most(1000), pytest.raises(DataError, match="cannot be written"):
        atomic_write.write_whole(out, "new" * 1000)
    assert out.read_text() == "old" and os.listdir(tmp_path) == ["x"]
    atomic_write.write_whole(out, "new" * 1000)
    assert out.read_text() == "new" * 1000 and os.listdir(tmp_path) == ["x"]


def test_a_stop_leaves_nothing_behind(tmp_path):
    with pytest.raises(KeyboardInterrupt), atomic_write.replacing(tmp_path / "x") as part:
        part.write_text("half")
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == []


def test_permissions_links_and_pipes_stay_what_they_are(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    atomic_write.write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640
    atomic_write.write_whole(Path("/dev/null"), b"new")
    assert not Path("/dev/null").is_file()
    with pytest.raises(DataError, match="No space left"):
        atomic_write.write_whole(Path("/dev/full"), b"new")


Usage = namedtuple("Usage", "free")


@pytest.mark.parametrize(
    ("name", "free", "words"),
    [("no/x", 1 << 40, "no such folder to store it in"), ("", 1 << 40, "a folder"), ("x", 1000, "0.0 MiB are free"),
     ("x" * 300, 1 << 40, "too long"), ("x" * 300 + "/x", 1 << 40, "no such folder")],
)  # fmt: skip
def test_what_cannot_be_written_is_told_before_the_work(tmp_path, name, free, words):
    with pytest.raises(DataError, match=words) as error:
        atomic_write.require_room(tmp_path / name, "store it", lambda path: Usage(free))
    assert len(str(error.value)) < 400
    atomic_write.require_room(tmp_path / "x", "store it")


COMMANDS = {
    "explain": ["pairs-tri", "row.json"],
    "context": ["pairs-tri", "rows.jsonl"],
    "faithful": ["pairs-tri", "rows.jsonl", "--draws", "1", "--steps", "2"],
    "cases": ["pairs-bi", "pairs-tri", "rows.jsonl"],
}
KEEP = ("explain", "cases")  # for these the file is there before
# A process on whose disk no file longer than 512 bytes fits: each command, its exit code and errors as a line of JSON.
FULL = """
import contextlib, io, json, resource, sys
from triattn_core.__main__ import main
resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
for command in map(json.loads, sys.argv[1:]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
        code = main(command)
    print(json.dumps([code, errors.getvalue()]), flush=True)
"""


@pytest.fixture(scope="module")
def cut_short(world, tmp_path_factory) -> dict[str, tuple[Path, int, str]]:
    """Of each command the folder of its file, its exit code and its errors."""
    folders = {name: tmp_path_factory.mktemp(name) for name in COMMANDS}
    for name in KEEP:
        (folders[name] / "out").write_text("old")
    commands = [[name, *more, "--out", str(folders[name] / "out")] for name, more in COMMANDS.items()]
    done = subprocess.run(
        [sys.executable, "-B", "-c", FULL, *map(json.dumps, commands)],  # -B: a compiled file would be cut as well
        cwd=world, capture_output=True, text=True, timeout=200, env={**os.environ, "PYTHONPATH": os.getcwd()},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    lines = map(json.loads, done.stdout.splitlines())
    return {name: (folders[name], *line) for name, line in zip(COMMANDS, lines, strict=True)}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_whose_file_does_not_fit_says_so_in_a_line(cut_short, name):
    folder, code, errors = cut_short[name]
    assert code == 1 and TOLD in errors and "Traceback" not in errors, errors[-2000:]
    kept = name in KEEP
    assert [path.name for path in folder.iterdir()] == ["out"] * kept
    assert not kept or (folder / "out").read_text() == "old"


def test_a_case_book_that_cannot_be_exported_leaves_nothing(tmp_path):
    book = CaseBook(tmp_path / "book.sqlite")
    book.keep(Case(task="pairs", row=ROW, note="x" * 2000))
    with files_of_at_most(1000), pytest.raises(CaseError, match="cannot be written"):
        book.export(tmp_path / "out")
    assert not (tmp_path / "out").exists()
