"""Several folders of checkpoints: a user's own beside the project's, found by name everywhere."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from tests.support.tiny import make_checkpoint, make_encoder
from triattn_core.__main__ import main
from triattn_core.checkpoint import registry
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import SHIPPED, UNLISTED, VARIABLE, is_unlisted
from triattn_core.errors import CheckpointError, choices
from triattn_core.inference.explain import explain
from triattn_core.results.run_records import SHIPPED as RECORDS
from triattn_core.tasks import pairs


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The project's checkpoints, and a user's with an encoder of its own and one name that both have."""
    for number, place in enumerate(("ours", "mine")):
        make_encoder(tmp_path / place / "checkpoints" / "encoders" / f"enc-{place}", seed=5 + number)
        make_checkpoint(tmp_path / place, "small-tri", "tri", number, encoder=f"enc-{place}")
    make_checkpoint(tmp_path / "mine", "small-bi", "bi", 3, encoder="enc-ours")
    ours, mine = tmp_path / "ours" / "checkpoints", tmp_path / "mine" / "checkpoints"
    monkeypatch.setenv(VARIABLE, str(ours))
    monkeypatch.setenv("TRIATTN_DEVICE", "cpu")
    return ours, mine


def names() -> list[str]:
    return [entry.name for entry in registry.list_checkpoints()]


def test_a_users_folder_stands_beside_ours(two):
    ours, mine = two
    assert names() == ["small-tri"]
    registry.add_roots([mine])
    assert names() == ["checkpoints/small-tri", "small-bi", "small-tri"]
    assert registry.roots() == (ours, mine.resolve()) and registry.root() == ours
    example = pairs.Example("the red car", "a blue car")
    digests = set()
    for name in names():
        bundle = load(name)
        assert bundle.name == name and explain(bundle, example)[1].meta["checkpoint"] == name
        digests.add(bundle.digest)
    assert len(digests) == 3
    registry.add_roots([mine])
    assert registry.roots() == (ours, mine.resolve())


def test_one_checkpoint_can_be_added_alone(two):
    registry.add_roots([two[1] / "small-bi"])
    assert names() == ["small-bi", "small-tri"] and load("small-bi").name == "small-bi"


def test_the_command_line_lists_both(two, capsys):
    assert main(["list", "--json", "--checkpoints", str(two[1])]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in entries] == ["checkpoints/small-tri", "small-bi", "small-tri"]


def test_a_folder_is_parsed_once_for_every_state_of_its_files(two, monkeypatch):
    parsed = []
    loads = json.loads
    monkeypatch.setattr(registry.json, "loads", lambda text: parsed.append(text) or loads(text))
    file = two[0] / "small-tri" / "metrics.json"
    registry.list_checkpoints()
    before = len(parsed)
    assert before  # the check can fail
    assert registry.list_checkpoints()[0].metrics.get("note") is None and len(parsed) == before
    file.write_text(json.dumps({"note": 1}))
    assert registry.list_checkpoints()[0].metrics == {"note": 1} and len(parsed) > before
    file.unlink()
    assert registry.list_checkpoints()[0].metrics == {}
    os.truncate(two[0] / "small-tri" / "model.safetensors", 0)
    assert "no such file" in registry.list_checkpoints()[0].problem


def test_third_copies_are_numbered(two, tmp_path):
    for place in "ab":
        shutil.copytree(two[1], tmp_path / place / "checkpoints")
    registry.add_roots([tmp_path / "a" / "checkpoints", tmp_path / "b" / "checkpoints"])
    assert names() == [
        "checkpoints/small-bi",
        "checkpoints/small-tri",
        "checkpoints/small-tri (2)",
        "small-bi",
        "small-tri",
    ]


def test_the_folder_of_a_data_set_changes_no_name(two):
    ours, mine = two
    registry.add_roots([mine])
    before, moved = names(), ours / "pairs" / "small-tri"
    moved.parent.mkdir()
    (ours / "small-tri").rename(moved)
    assert names() == before and load("small-tri").path == moved
    for name in (*UNLISTED, ".hidden"):
        shutil.copytree(moved, ours / name / f"in-{name}")
        assert is_unlisted(ours / name / f"in-{name}")
    assert names() == before and not is_unlisted(moved) and not is_unlisted(mine / "small-tri")
    shutil.copytree(moved, ours / "zebra" / "small-tri")  # one name in two data sets
    assert names() == ["checkpoints/small-tri", "checkpoints/small-tri (2)", "small-bi", "small-tri"]


def test_the_commands_in_metrics_and_records_name_files_that_are_there():
    files = [*SHIPPED.rglob("metrics.json"), *SHIPPED.rglob("README.md"), *RECORDS.rglob("*.json*")]
    paths = {path for file in files for path in re.findall(r"checkpoints/(\S+/\w+\.json)", file.read_text("utf-8"))}
    assert len(paths) > 90
    for path in paths - {"results/efficiency.json"}:
        assert (SHIPPED / path).is_file(), path


@pytest.mark.parametrize(("what", "words"), [("nowhere", "no such folder"), ("empty", "no checkpoint in it")])
def test_a_folder_without_checkpoints_is_refused_in_one_line(two, tmp_path, capsys, what, words):
    (tmp_path / "empty").mkdir()
    assert main(["list", "--checkpoints", str(tmp_path / what)]) == 1
    errors = capsys.readouterr().err
    assert words in errors and len(errors.strip().splitlines()) == 1
    with pytest.raises(CheckpointError):
        registry.add_roots([tmp_path / what])


def test_a_folder_that_has_gone_is_told(two, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, os.pathsep.join(map(str, [*two, tmp_path / "gone"])))
    (problem_entry,) = [entry for entry in registry.list_checkpoints() if entry.problem]
    assert problem_entry.problem.startswith(str(tmp_path / "gone")) and VARIABLE in problem_entry.problem


def test_the_first_missing_tensor_and_the_nearest_are_named(two):
    ours = two[0]
    file = ours / "small-tri" / "model.safetensors"
    tensors = load_file(file)
    first = next(name for name in load("small-tri").model.state_dict() if name in tensors)
    save_file({(f"{name}_renamed" if name == first else name): tensor for name, tensor in tensors.items()}, file)
    config = json.loads((file.parent / "config.json").read_text())
    del config["digest"]
    (file.parent / "config.json").write_text(json.dumps(config))
    with pytest.raises(CheckpointError) as caught:
        load("small-tri")
    message = str(caught.value)
    assert (
        f"no tensor {first!r}" in message
        and f"{first}_renamed" in message
        and "\n" not in message
        and len(message) < 300
    )


def test_an_error_names_the_nearest_of_many_and_else_some_of_them():
    names = [f"name-{i:02}" for i in range(30)]
    assert choices("name-7", names).startswith("did you mean 'name-")
    longer = ["quora-coin", "quora-tri-living", "quora-tri-published"]
    assert choices("quora-tri", longer) == "did you mean 'quora-tri-living' or 'quora-tri-published'?"
    assert choices("zzz", names) == f"known: {', '.join(names[:12])} and 18 more"
    assert choices("zzz", names[:24]) == f"known: {', '.join(names[:24])}" and choices("zzz", ()) == "known: none"
