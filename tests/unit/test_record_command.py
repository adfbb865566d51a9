"""`triattn record`: a module of one's own, from a file; and the first screen of the README with it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from triattn_core.__main__ import main
from triattn_core.commands import app
from triattn_core.errors import ConfigError
from triattn_core.importers import trace_store
from triattn_core.recording.own_module import OwnModule
from triattn_core.trace import AttentionTrace

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
EXAMPLE = next(block for block in re.findall(r"```python\n(.*?)```", README, re.S) if "def build" in block)
PLAIN = """
import torch
def build():
    torch.manual_seed(0)
    return torch.nn.TransformerEncoderLayer(8, 2, batch_first=True)
"""
LINEAR = """
import torch
def build():
    return torch.nn.Linear(3, 3), lambda text: (torch.ones(2, 3), None)
"""


def test_the_example_of_the_readme(tmp_path, capsys):
    (tmp_path / "mine.py").write_text(EXAMPLE, "utf-8")
    out = tmp_path / "T.nc"
    assert main(["record", f"{tmp_path / 'mine.py'}:build", "the old cat sat", "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert printed.err == f"Running {tmp_path / 'mine.py'}:build\n"
    assert "attention/weight  head 1 x query 4 x key 4 x context 4, rows over key × context" in printed.out
    assert f"triattn app --open {out} shows it" in printed.out
    trace = AttentionTrace.load(out)
    cube = trace.site("attention/weight")
    assert cube["context_token"].values.tolist() == ["the", "old", "cat", "sat"] and trace.meta["rebuilt"] < 1e-5
    np.testing.assert_allclose(cube.sum(("key", "context")), 1, atol=1e-5)


@pytest.mark.parametrize("kind", ["npy", "npz", "safetensors"])
def test_inputs_from_a_file(kind, tmp_path, capsys):
    from safetensors.torch import save_file

    file, inputs = tmp_path / f"x.{kind}", torch.randn(1, 5, 8)
    (tmp_path / "mine.py").write_text(PLAIN, "utf-8")
    if kind == "npy":
        np.save(file, inputs)
    elif kind == "npz":
        np.savez(file, src=inputs)
    else:
        save_file({"src": inputs}, file)
    (tmp_path / "tokens.json").write_text('["a", "b", "c", "d", "e"]')
    command = ["record", f"{tmp_path / 'mine.py'}:build", str(file), "--tokens", str(tmp_path / "tokens.json")]
    assert main([*command, "--select", "self_attn:1", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["sites"][0]["axes"] == {"head": 1, "query": 5, "key": 5} and result["rebuilt"] < 1e-5
    assert any("only heads 1 (from 0) are kept" in note for note in result["notes"])


@pytest.mark.parametrize(
    ("code", "name", "text", "reason"),
    [
        ("", "build", "a", "no function build there"),
        ("def build(:", "build", "a", "line 1: SyntaxError"),
        ("def build():\n    return 1", "build", "a", "must return a torch module"),
        ("def build():\n    return 1 / 0", "build", "a", "line 2: ZeroDivisionError: division by zero"),
        ("import nowhere_to_be_found", "build", "a", "line 1: ModuleNotFoundError"),
        ("raise SystemExit(3)", "build", "a", "line 1: SystemExit: 3"),
        (PLAIN, "build", "a text", "is no file of arrays"),
        (PLAIN, "build", "none.npy", "none.npy: no such file"),
        (PLAIN.replace("first=True)", "first=True), lambda text: 1"), "build", "a", "inputs and a list of"),
        (PLAIN.replace("first=True)", "first=True), lambda t: (torch.ones(3), None)"), "build", "a", "Error"),
        (LINEAR, "build", "a", "it ran, but no softmax"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_one_line(code, name, text, reason, tmp_path, capsys):
    (tmp_path / "mine.py").write_text(code, "utf-8")
    assert main(["record", f"{tmp_path / 'mine.py'}:{name}", text]) == 1
    printed = capsys.readouterr().err.removeprefix(f"Running {tmp_path / 'mine.py'}:{name}\n")
    assert reason in printed and printed.count("\n") == 1 and printed.count("line 1") < 2


def test_the_name_of_a_file_and_its_function(tmp_path):
    for name in ("mine.py", "mine:build", f"{tmp_path}/none.py:build", "mine.py:1x"):
        with pytest.raises(ConfigError, match="expected a Python file|no such file"):
            OwnModule.of(name)


def test_the_app_keeps_a_file_that_it_is_to_open(tmp_path, monkeypatch):
    monkeypatch.setenv(trace_store.VARIABLE, str(tmp_path / "traces"))
    (tmp_path / "mine.py").write_text(EXAMPLE, "utf-8")
    out = tmp_path / "T.nc"
    assert main(["record", f"{tmp_path / 'mine.py'}:build", "the old cat sat", "--out", str(out)]) == 0
    kept = trace_store.load(app.store_trace(out, ROOT))
    np.testing.assert_array_equal(kept.site("attention/weight"), AttentionTrace.load(out).site("attention/weight"))
    assert main(["app", "--open", str(tmp_path / "none.nc")]) == 1  # before anything is started
