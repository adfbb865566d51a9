"""A task of a known form is one file and one line: it then appears on every page that is about its form."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.project_copy import ROOT, copy_project

TASKS = Path("triattn_core/tasks")
PAGES = ("cube", "side_by_side", "context", "intervene", "attribute", "cases", "compare", "studies")
LINKS = ("intervene?how=swap",)  # what a page shows under a link
MODULE = "newspapers"  # the file's name, which is not the task's
OPENS = """
import json, sys
from pathlib import Path
from tests.support.pages import app_test, at_page
from tests.support.tiny import make_checkpoint, make_encoder
world = Path(sys.argv[1])
make_encoder(world / "checkpoints" / "encoders" / "tiny")
for seed, mechanism in enumerate(("bi", "cbi", "tri")):
    make_checkpoint(world, f"headlines-{mechanism}", mechanism, seed, task="headlines")
shows = {}
for link in sys.argv[2:]:
    page, _, settings = link.partition("?")
    app = at_page(app_test(), page)
    for name, value in (setting.split("=") for setting in settings.split("&") if setting):
        app.query_params[name] = value
    app.run()
    html = " ".join(element.proto.body for element in app.get("html"))
    tables = " ".join(table.value.to_csv() for table in app.dataframe)
    shows[link] = [one.value for one in (*app.exception, *app.error)], html + tables
print("SHOWS " + json.dumps(shows))
"""


def with_a_task_more(folder: Path, table: str) -> None:
    """The project in a folder of its own, with a file more in `tasks/` and that line of its table."""
    copy_project(folder, TASKS)
    shutil.copy(ROOT / "tests" / "support" / "headlines.py", folder / TASKS / f"{MODULE}.py")
    (folder / TASKS / "__init__.py").write_text(table, "utf-8")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_file_and_a_line_make_a_task_that_every_page_shows(tmp_path: Path) -> None:
    table = (ROOT / TASKS / "__init__.py").read_text("utf-8")
    assert table.count("_MODULES = (\n    pairs,\n") == table.count("from triattn_core.tasks import ") == 1
    table = table.replace("_MODULES = (\n    pairs,\n", f"_MODULES = (\n    pairs,\n    {MODULE},\n")
    table = table.replace("from triattn_core.tasks import ", f"from triattn_core.tasks import {MODULE}, ")
    (tmp_path / "project").mkdir()
    with_a_task_more(tmp_path / "project", table)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "project"), "TRIATTN_DEVICE": "cpu"}
    environment["TRIATTN_CHECKPOINTS"] = str(tmp_path / "world" / "checkpoints")
    command = [sys.executable, "-c", OPENS, str(tmp_path / "world"), *PAGES, *LINKS]
    done = subprocess.run(command, cwd=tmp_path / "project", env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    results = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("SHOWS "))[6:])
    assert {page: complaints for page, (complaints, _) in results.items()} == {page: [] for page in (*PAGES, *LINKS)}
    for page, (_, text) in results.items():
        word = "headlines" if page in ("studies", "compare") else "the same story"
        assert word in text.lower(), page
