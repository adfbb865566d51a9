"""A view of a trace is added as docs/extending.md says, and the cube then offers it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.pages import app_test, at_page
from tests.support.project_copy import ROOT, copy_project
from tests.support.tiny import make_checkpoint, make_encoder
from triattn_core.checkpoint.registry import VARIABLE

NAMES = ("masses", "head", "numbers")
VIEWS_FOLDER = Path("triattn_core/views")
FIGURE = '''"""What each key holds of the mass."""

from __future__ import annotations

import altair as alt
import pandas as pd

from triattn_core.trace.distribution import Distribution
from triattn_core.views.lib.strongest import shown_array

TITLE = "Mass of each key, <name>"
NEEDS = ("query", "key")


def figure(shown: Distribution, *, hide_special: bool = False, theme: str = "light") -> alt.Chart:
    """A bar for each key."""
    mass = shown_array(shown, NEEDS).sum("query").values
    return alt.Chart(pd.DataFrame({"key": range(len(mass)), "mass": mass})).mark_bar().encode(x="key:O", y="mass")


def describe(shown: Distribution, *, hide_special: bool = False) -> str:
    """How much they hold together."""
    return f"All keys hold in <name> {float(shown_array(shown, NEEDS).sum()):.3g}."
'''
OPENS = """
import json, sys
from pathlib import Path
from tests.support.pages import app_test, at_page
from tests.support.tiny import make_checkpoint, make_encoder
world = Path(sys.argv[1])
make_encoder(world / "checkpoints" / "encoders" / "tiny")
make_checkpoint(world, "pairs-tri", "tri", 1)
shows = {}
for name in sys.argv[2:]:
    app = at_page(app_test(), "cube")
    app.query_params[f"view-{name}"] = "true"
    app.run()
    html = " ".join(element.proto.body for element in app.get("html"))
    complaints = [one.value for one in (*app.exception, *app.error)]
    shows[name] = complaints, html, [one.label for one in app.expander], len(app.get("vega_lite_chart"))
print("SHOWS " + json.dumps(shows))
"""


def with_views_more(folder: Path) -> None:
    """The project in a folder of its own, with a view of each name: what the row of docs/extending.md asks for."""
    docs = (ROOT / "docs" / "extending.md").read_text("utf-8")
    row = next(line for line in docs.splitlines() if "a view of a trace" in line)
    file, table = re.search(
        r"`(triattn_core/\S+<name>/figure\.py)`.*`TRACE_VIEWS` of `(views/__init__\.py)`", row
    ).groups()
    copy_project(folder, VIEWS_FOLDER)
    text = (folder / "triattn_core" / table).read_text("utf-8")
    import_line = "from triattn_core.views.points import figure as points\n"
    assert text.count('{"points": points') == text.count(import_line) == 1
    for name in NAMES:
        module = f"mass_{name}"
        new = folder / file.replace("<name>", module)
        new.parent.mkdir()
        new.write_text(FIGURE.replace("<name>", name), "utf-8")
        (new.parent / "__init__.py").write_text("", "utf-8")
        text = text.replace('"points": points', f'"{name}": {module}, "points": points')
        text = text.replace(import_line, f"from triattn_core.views.{module} import figure as {module}\n" + import_line)
    (folder / "triattn_core" / table).write_text(text, "utf-8")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_file_and_an_entry_make_a_view_that_the_cube_offers(tmp_path: Path) -> None:
    """Under any name, that of a picker of the page or of its table of numbers too."""
    project, world = tmp_path / "project", tmp_path / "world"
    project.mkdir()
    with_views_more(project)
    environment = {**os.environ, "PYTHONPATH": str(project), "TRIATTN_DEVICE": "cpu"}
    environment["TRIATTN_CHECKPOINTS"] = str(world / "checkpoints")
    command = [sys.executable, "-c", OPENS, str(world), *NAMES]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    shows = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("SHOWS "))[6:])
    for name in NAMES:
        complaints, html, folds, charts = shows[name]
        assert complaints == [] and {f"Mass of each key, {one}" for one in NAMES} <= set(folds)
        assert f"All keys hold in {name}" in html and charts == 1


def test_a_link_opens_the_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_encoder(tmp_path / "checkpoints" / "encoders" / "tiny")
    make_checkpoint(tmp_path, "pairs-tri", "tri", 1)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "checkpoints"))
    app = at_page(app_test(), "cube")
    app.query_params["view-points"] = "true"
    app.run()
    assert not app.exception and not app.error
    assert "The first is" in " ".join(element.proto.body for element in app.get("html"))
