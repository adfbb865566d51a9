"""One bad folder is listed as bad, with a reason, and everything else works as if it were not there."""

from __future__ import annotations

import json
import os
import shutil
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from streamlit.testing.v1 import AppTest

from tests.support.tiny import make_checkpoint, make_encoder
from triattn_core.__main__ import main
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.config import read_config
from triattn_core.checkpoint.provenance import model_card, pretraining_sources
from triattn_core.checkpoint.registry import WEIGHTS, list_checkpoints
from triattn_core.errors import CheckpointError, ConfigError

DEEP = "[" * 100_000
CONFIGS = {
    "deep": DEEP,
    "deep object": '{"a":' * 100_000,
    "no object": "[1, 2]",
    "layers true": {"model": {"layers": True}},
    "layers negative": {"model": {"layers": -1}},
    "layers a text": {"model": {"layers": "2"}},
    "model a list": {"model": [1]},
    "task a list": {"task": ["pairs"]},
    "kind an object": {"kind": {}},
    "data a number": {"data": 3},
    "language a list": {"language": []},
    "labels a number": {"labels": 3},
}


@pytest.fixture
def checkpoint_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sound checkpoint, and beside it a copy that a test breaks."""
    make_encoder(tmp_path / "checkpoints" / "encoders" / "tiny")
    make_checkpoint(tmp_path, "sound", "tri", 1)
    shutil.copytree(tmp_path / "checkpoints" / "sound", tmp_path / "checkpoints" / "broken")
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(tmp_path / "checkpoints"))
    monkeypatch.setenv("TRIATTN_DEVICE", "cpu")
    return tmp_path / "checkpoints"


@contextmanager
def seconds(limit: int):
    """Raises TimeoutError where the block hangs, as in opening a named pipe."""

    def stop(*_):
        raise TimeoutError(f"hangs for {limit} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(limit)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def break_config(folder: Path, what) -> None:
    if isinstance(what, dict):
        what = json.dumps(json.loads((folder / "config.json").read_text("utf-8")) | what)
    (folder / "config.json").write_text(what, "utf-8")


@pytest.mark.parametrize("what", CONFIGS)
def test_a_bad_config_is_one_bad_card(checkpoint_folder, what, capsys):
    break_config(checkpoint_folder / "broken", CONFIGS[what])
    broken, sound = list_checkpoints()
    assert sound.problem is None and "broken" in broken.problem and "\n" not in broken.problem
    assert main(["list"]) == 0 and "sound" in capsys.readouterr().out
    with pytest.raises(ConfigError, match=r"config\.json") as error:
        read_config(checkpoint_folder / "broken" / "config.json")
    assert "\n" not in str(error.value) and len(str(error.value)) < 500
    assert main(["verify", "broken"]) == 1 and "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["layers", "heads"])
def test_true_is_no_number_of_layers_for_those_who_list_and_those_who_load(checkpoint_folder, name, capsys):
    """Nothing else is wrong with the config."""
    model = json.loads((checkpoint_folder / "broken" / "config.json").read_text("utf-8"))["model"]
    break_config(checkpoint_folder / "broken", {"model": model | {name: True}})
    assert [entry.problem is None for entry in list_checkpoints()] == [False, True]
    row = checkpoint_folder.parent / "row.json"
    row.write_text('{"text_a": "a b", "text_b": "c"}', "utf-8")
    assert main(["explain", "broken", str(row)]) == 1
    assert f"model.{name}" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["deep", "layers true"])
def test_the_checkpoints_page_shows_the_others(checkpoint_folder, what):
    break_config(checkpoint_folder / "broken", CONFIGS[what])
    app = AppTest.from_file(str(Path(__file__).parents[2] / "app.py"), default_timeout=120).run()
    app.switch_page("pages/checkpoints/page.py").run()
    assert not app.exception and len(app.error) == 1 and "broken" in app.error[0].value
    assert str(checkpoint_folder) not in app.error[0].value.replace("\\", "") and str(
        checkpoint_folder.parent
    ) not in str(app.main)
    assert any("sound" in table.value.to_string() for table in app.dataframe)


@pytest.mark.parametrize("part", ["metrics.json", "config.json"])
def test_deep_metrics_are_told(checkpoint_folder, part):
    (checkpoint_folder / "broken" / part).write_text(DEEP, "utf-8")
    assert [entry.problem is None for entry in list_checkpoints()] == [False, True]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_no_numbers_are_refused(checkpoint_folder, value):
    file = checkpoint_folder / "broken" / WEIGHTS
    tensors = load_file(file)
    name = sorted(tensors)[0]
    tensors[name].view(-1)[0] = value
    save_file(tensors, file)
    config = json.loads((checkpoint_folder / "broken" / "config.json").read_text("utf-8"))
    del config["digest"]
    (checkpoint_folder / "broken" / "config.json").write_text(json.dumps(config), "utf-8")
    with pytest.raises(CheckpointError, match=f"{name}.*not a finite number"):
        load("broken")


def test_an_encoder_with_weights_that_are_no_numbers_is_refused(checkpoint_folder):
    file = checkpoint_folder / "encoders" / "tiny" / WEIGHTS
    tensors = {name: tensor.clone() for name, tensor in load_file(file).items()}
    tensors["embeddings.word_embeddings.weight"][3, 1] = torch.nan
    save_file(tensors, file)
    with pytest.raises(CheckpointError, match=r"word_embeddings\.weight.*not a finite number"):
        load("sound")


@pytest.mark.parametrize("part", [WEIGHTS, "metrics.json", "README.md", "config.json"])
def test_a_named_pipe_is_no_file_and_nobody_waits_for_it(checkpoint_folder, part):
    file = checkpoint_folder / "broken" / part
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    with seconds(20):
        for entry in list_checkpoints():
            model_card(entry), pretraining_sources(entry)
        if part == WEIGHTS:
            assert "a pipe or device, not a file" in list_checkpoints()[0].problem
        if part in (WEIGHTS, "config.json"):
            with pytest.raises(CheckpointError):
                load("broken")
        assert load("sound").name == "sound"


@pytest.mark.parametrize("part", [WEIGHTS, "tokenizer.json", "metrics.json", "config.json"])
def test_a_named_pipe_in_an_encoder_is_told(checkpoint_folder, part):
    file = checkpoint_folder / "encoders" / "tiny" / part
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    with seconds(20):
        for entry in list_checkpoints():
            pretraining_sources(entry)
        if part != "metrics.json":
            with pytest.raises(CheckpointError):
                load("sound")


@pytest.mark.parametrize("name", ["x" * 5000, "a/" * 3000, "\0", "sound\n"])
def test_a_name_that_no_file_can_have_is_an_unknown_name(checkpoint_folder, name, capsys):
    with pytest.raises(CheckpointError, match="no checkpoint") as error:
        load(name)
    assert len(str(error.value)) < 300
    assert main(["verify", name]) == 1 and len(capsys.readouterr().out) < 400
