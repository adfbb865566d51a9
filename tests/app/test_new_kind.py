"""A kind is added as docs/extending.md says: four files and two lines; it is then trained, measured and shown."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.project_copy import ROOT, copy_project

LIBRARY = Path("triattn_core")
FILES = {"word_classes": "tasks", "word_tagger": "models", "labeller_training": "training", "labeller": "kinds"}
STEPS = 10
MODEL = {"mechanism": "mtsa", "width": 12, "out": 12, "heads": 2, "masks": ["forward", "backward"]}
CONFIG = {
    "format": 1,
    "kind": "labeller",
    "task": "word-classes",
    "language": "en",
    "encoder": "tiny",
    "max_tokens": 16,
    "model": MODEL,
    "data": {"train": ["small/train"], "dev": "small/dev", "test": "small/test"},
    "training": {"epochs": STEPS // 5, "rate": 0.05, "batch": 8},
}
WORDS = "play film red 3 12 the car is watch films ? .".split()
PAGES = ("mtsa", "heads", "checkpoints", "studies")
RUNS = """
import json, sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from triattn_core.__main__ import main
from tests.support.pages import app_test, at_page
from tests.support.tiny import make_encoder
encoder, words, commands, name, pages = json.loads(sys.argv[1])
make_encoder(Path(encoder), words=words)
printed, shows = [], {}
for command in commands:
    with redirect_stdout(StringIO()) as out:
        assert main(command) == 0, command
    printed.append(out.getvalue())
for page in pages:
    app = at_page(app_test(), page)
    app.query_params["checkpoint"] = name
    app.run()
    html = " ".join(element.proto.body for element in app.get("html"))
    shows[page] = [one.value for one in (*app.exception, *app.error)], html
print("SHOWS " + json.dumps([printed, shows]))
"""


def project_with_a_kind_more(folder: Path) -> Path:
    """The project in a folder of its own, with the files of a kind and its lines in the tables."""
    folder.mkdir()
    copy_project(folder, *(LIBRARY / package for package in FILES.values()))
    for name, package in FILES.items():
        shutil.copy(ROOT / "tests" / "support" / "new_kind" / f"{name}.py", folder / LIBRARY / package / f"{name}.py")
    tasks, kinds = (folder / LIBRARY / package / "__init__.py" for package in ("tasks", "kinds"))
    add(tasks, "_MODULES = (\n", "    word_classes,\n")
    add(tasks, "import dialogue, ", "word_classes, ")
    add(kinds, "KINDS: dict[str, str] = {\n", '    "labeller": "triattn_core.kinds.labeller",\n')
    return folder


def add(file: Path, before: str, text: str) -> None:
    """Writes a text behind another one, which is in the file once."""
    content = file.read_text("utf-8")
    assert content.count(before) == 1
    file.write_text(content.replace(before, before + text), "utf-8")


def write_rows(file: Path, count: int, seed: int) -> None:
    tags = {"play": "word", "film": "word", "red": "word", "3": "number", "12": "number", "?": "sign", ".": "sign"}
    words = list(tags)
    rows = [[words[(i * seed + k * k) % len(words)] for k in range(2 + i % 5)] for i in range(count)]
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"text": " ".join(row), "tags": [tags[word] for word in row]}) for row in rows]
    file.write_text("\n".join(lines) + "\n", "utf-8")


def run_all(project: Path, world: Path, commands: list[list[str]]) -> tuple[list[str], dict[str, tuple[list, str]]]:
    """What commands print, and what pages then show, in one interpreter: the libraries take longest to import."""
    environment = {**os.environ, "PYTHONPATH": str(project), "TRIATTN_DEVICE": "cpu"}
    environment["TRIATTN_CHECKPOINTS"] = str(world / "checkpoints")
    encoder = str(world / "checkpoints" / "encoders" / "tiny")
    asked = json.dumps([encoder, WORDS, commands, "my-tagger", PAGES])
    done = subprocess.run(
        [sys.executable, "-c", RUNS, asked], cwd=project, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.split("SHOWS ")[1])


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_four_files_and_two_lines_make_a_kind(tmp_path: Path) -> None:
    project, world = project_with_a_kind_more(tmp_path / "project"), tmp_path / "world"
    for split, count, seed in (("train", 40, 3), ("dev", 9, 5), ("test", 11, 2)):
        write_rows(world / "data" / "small" / f"{split}.jsonl", count, seed)
    folder = world / "checkpoints" / "small" / "my-tagger"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG), "utf-8")
    (world / "row.json").write_text(json.dumps({"text": "play 3 films ?"}), "utf-8")

    commands = [
        ["train", str(folder / "config.json"), "--data", str(world / "data"), "--runs", str(world / "runs")],
        ["evaluate", "my-tagger", str(world / "data" / "small" / "test.jsonl"), "--json"],
        ["verify", "my-tagger"],
        ["explain", "my-tagger", str(world / "row.json"), "--json"],
    ]
    (_, evaluated, verified, explained), shows = run_all(project, world, commands)

    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    assert metrics["best_step"] == STEPS and {"accuracy", "sentences", "majority", "n"} <= set(metrics["test"])
    assert metrics["test"]["n"] == 11 and metrics["test"]["accuracy"] > metrics["test"]["majority"]
    assert (folder / "README.md").read_text("utf-8").startswith("# my-tagger\n\nA tagger of ")
    assert json.loads(evaluated)["metrics"] == {name: metrics["test"][name] for name in ("accuracy", "sentences")}
    assert "FAILED" not in verified
    said = json.loads(explained)
    assert [tag[:2] for tag in said["tags"]] == [[0, 4], [5, 6], [7, 12], [13, 14]]
    assert re.fullmatch(r"play/\w+ 3/\w+ films/\w+ \?/\w+", said["labels"][0])
    assert "layer.0/token2token/weight" in said["sites"]
    assert {page: complaints for page, (complaints, _) in shows.items()} == {page: [] for page in PAGES}
    assert said["labels"][0].split()[0] in shows["mtsa"][1]
    assert "my-tagger" in shows["checkpoints"][1]
