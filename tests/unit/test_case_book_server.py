"""The case book of a team, in PostgreSQL: a server is started for the test where its programs are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from triattn_core.case_book import Case, CaseBook
from triattn_core.errors import CaseError

pytest.importorskip("psycopg", reason="psycopg is not installed: pip install -r requirements-dev.txt")
FOLDERS = [*map(str, Path("/usr/lib/postgresql").glob("*/bin")), os.environ.get("PATH", "")]
PROGRAM = shutil.which("pg_ctl", path=os.pathsep.join(FOLDERS))
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="PostgreSQL is not installed")
ROW = {"text_a": "哪些浏览器可以看电影", "text_b": "50 % of a_b", "label": 0}


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("postgresql")
    as_user = {}
    if os.geteuid() == 0:  # the server refuses root
        as_user = {"user": "nobody"}
        shutil.chown(folder, "nobody")
        for parent in folder.parents:
            if parent == Path(tempfile.gettempdir()):
                break
            parent.chmod(0o711)
    bin_, data = Path(PROGRAM).parent, folder / "data"
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "cwd": folder} | as_user
    (folder / "password").write_text("open sesame")
    secret = ["--auth=scram-sha-256", "--username=triattn", f"--pwfile={folder / 'password'}"]
    subprocess.run([bin_ / "initdb", "-D", data, *secret], **quiet)
    options = f"-c listen_addresses='' -c unix_socket_directories={folder}"
    subprocess.run([bin_ / "pg_ctl", "-D", data, "-w", "-o", options, "-l", folder / "log", "start"], **quiet)
    yield f"postgresql+psycopg://triattn:open%20sesame@/postgres?host={folder}"
    subprocess.run([bin_ / "pg_ctl", "-D", data, "-m", "immediate", "stop"], **quiet)


def test_cases_are_kept_found_changed_and_dropped(url):
    book = CaseBook(url)
    kept = book.keep(Case("pairs", ROW, "Only Tri is right.", ("zh", "only Tri"), "cube", "a=1"))
    assert CaseBook(url).get(kept.id) == kept and book.of("pairs", ROW) == [kept]
    assert book.search("ONLY tri", ["zh"]) == [kept] and book.search("a_c") == [] and book.search("50 % of") == [kept]
    changed = book.change(replace(kept, note="Both are."))
    assert changed.version == 2 and book.tags() == ["only Tri", "zh"]
    with pytest.raises(CaseError, match="was changed meanwhile"):
        book.change(replace(kept, note="No."))
    book.drop(kept.id)
    assert book.search() == []


def test_of_edits_at_once_one_holds_and_the_others_are_told(url):
    book = CaseBook(url)
    kept = book.keep(Case("pairs", ROW, "0"))

    def edit(number: int) -> bool:
        try:
            CaseBook(url).change(replace(kept, note=str(number)))
        except CaseError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(edit, range(8))) == 1
    assert book.get(kept.id).version == 2


def test_the_password_is_not_in_what_is_said(url):
    with pytest.raises(CaseError) as error:
        CaseBook(url.replace("open%20sesame", "shut%20sesame"))
    assert "shut" not in str(error.value) and "***" in str(error.value) and "\n" not in str(error.value)
    assert "sesame" not in CaseBook(url).path
    with pytest.raises(CaseError, match="no database of this kind"):
        CaseBook("oracle9://x/y")
