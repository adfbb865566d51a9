"""A checkpoint of one's own: the guide's commands as they stand, the split, and bad rows."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.support.tiny import make_encoder, make_rows
from tests.unit.test_tree_attention import PAIRED
from triattn_core.__main__ import main
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.training.command import data_folder
from triattn_core.training.new_checkpoint import FEWEST, cut

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A folder with rows.jsonl, whose `checkpoints` has one small encoder under the name that is the default."""
    make_encoder(tmp_path / "checkpoints" / "encoders" / "minilm-en")
    make_rows(tmp_path / "rows.jsonl", 60, seed=4)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "checkpoints"))
    monkeypatch.setenv("TRIATTN_DEVICE", "cpu")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_the_commands_of_the_guide_lead_to_a_measured_model(here, capsys):
    text = GUIDE.read_text("utf-8").partition("## A model of your own")[2]
    commands = re.search(r"```\n(.*?)```", text, re.DOTALL)[1].splitlines()
    assert commands[-1] == "triattn app --checkpoints ."
    for command in commands[:-1]:
        assert main(shlex.split(command)[1:]) == 0, command
    assert "query information" in capsys.readouterr().out.lower()
    metrics = json.loads((here / "my-model" / "metrics.json").read_text("utf-8"))
    assert metrics["test"]["n"] == 6 and metrics["attention"]["query_information"]["mean"] >= 0
    assert main(["list", "--checkpoints", "."]) == 0 and "my-model" in capsys.readouterr().out


def test_a_folder_elsewhere_is_trained_as_the_readme_says(here, tmp_path_factory, monkeypatch):
    readme = (GUIDE.parents[1] / "README.md").read_text("utf-8")
    commands = [line.partition(" #")[0] for line in readme.splitlines() if "FOLDER" in line and "triattn" in line]
    assert len(commands) == 2
    folder = tmp_path_factory.mktemp("elsewhere") / "own"
    for command in commands:
        words = command.replace("FOLDER", str(folder)).replace("ROWS.jsonl", "rows.jsonl")
        assert main(shlex.split(words)[1:]) == 0, command
    assert json.loads((folder / "metrics.json").read_text("utf-8"))["test"]["n"] == 6
    monkeypatch.setattr("sys.argv", ["triattn"])
    settings = ["--set", "training.rate=1e-3", "--name", "rates", "--runs", str(here / "runs")]
    assert main(["sweep", str(folder / "config.json"), *settings]) == 0


def test_the_data_folder_is_the_usual_one_unless_its_rows_are_not_there(here):
    config = [here / "models" / "own" / "config.json"]
    assert main(["new", str(config[0].parent), "--data", "rows.jsonl"]) == 0
    assert data_folder(config) == here / "models"
    (here / "own").mkdir()
    for name in ("train", "dev", "test"):
        assert data_folder(config) == here / "models"
        (here / "own" / f"{name}.jsonl").write_text("", "utf-8")
    assert data_folder(config) == Path()
    (here / "data").mkdir()
    assert data_folder(config) == here / "models"
    (config[0].parent / "dev.jsonl").unlink()
    assert data_folder(config) == Path("data")  # whose error names it


def test_the_split_holds_every_row_once_whatever_their_order(here):
    given = lines(here / "rows.jsonl")
    mixed = here / "mixed.jsonl"
    mixed.write_text("".join(f"{json.dumps(row)}\n" for row in [*given[::-1], *given[:7]]), "utf-8")
    (sets, split), (again, other) = (cut(path, "pairs") for path in (here / "rows.jsonl", mixed))
    assert sets == again and split["counts"] == other["counts"] == {"train": 48, "dev": 6, "test": 6}
    assert (split["equal"], other["equal"]) == (0, 7)
    every = sorted(json.loads(line)["id"] for part in sets.values() for line in part)
    assert every == sorted(row["id"] for row in given)


@pytest.mark.parametrize("mechanism", ["bi", "bi_joint", "cbi", "tri"])
def test_every_mechanism_has_a_config_that_is_read(here, mechanism):
    assert main(["new", "own", "--data", "rows.jsonl", "--mechanism", mechanism, "--similarity", "additive"]) == 0
    model = json.loads((here / "own" / "config.json").read_text("utf-8"))["model"]
    assert model["mechanism"] == mechanism and model["states"] == [2, 2] and not model["pooled"]


def test_a_tree_is_started_with_a_value_that_needs_no_cube(here):
    assert main(["new", "own", "--data", "rows.jsonl", "--mechanism", "tri", "--similarity", "tree"]) == 0
    assert json.loads((here / "own" / "config.json").read_text("utf-8"))["model"]["value"] in PAIRED


def test_bad_input_is_one_line_and_leaves_nothing(here, capsys):
    (here / "bad.jsonl").write_text('{"text_a": "a", "text_b": "b", "label": 2}\n', "utf-8")
    (here / "few.jsonl").write_text('{"text_a": "a", "text_b": "b", "label": 1}\n' * 40, "utf-8")
    (here / "open.jsonl").write_text('{"text_a": "a", "text_b": "b"}\n', "utf-8")
    (here / "there").mkdir()
    for command, message in (
        (["new", "own", "--data", "none.jsonl"], "none.jsonl: no such file"),
        (["new", "own", "--data", "bad.jsonl"], "bad.jsonl:1: field 'label' must be 0 or 1"),
        (["new", "own", "--data", "few.jsonl"], f"1 different rows; {FEWEST} at least"),
        (["new", "own", "--data", "open.jsonl"], "needs a label"),
        (["new", "there", "--data", "rows.jsonl"], "already exists"),
        (["new", "own", "--data", "rows.jsonl", "--encoder", "nobody"], "nobody"),
        (["new", "own", "--data", "rows.jsonl", "--similarity", "dott"], "did you mean 'dot'"),
    ):
        assert main(command) == 1
        errors = capsys.readouterr().err
        assert message in errors and errors.count("\n") == 1, errors
        assert not (here / "own").exists()
