"""`triattn open`: every kind of file, and broken ones of each kind in one clear line."""

from __future__ import annotations

import json
import os
import pickle
import time
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
import torch
import xarray as xr
from safetensors.torch import save_file

from triattn_core.__main__ import main
from triattn_core.commands.open_trace import split_axes
from triattn_core.importers import trace_store
from triattn_core.importers.open_file import open_file
from triattn_core.trace import AttentionTrace
from triattn_core.trace.from_array import trace_of

HEADS, N, I, J = 2, 3, 5, 7
VALUES = np.random.default_rng(7).random((HEADS, N, I, J)).astype(np.float32)
VALUES /= VALUES.sum((-2, -1), keepdims=True)
TOP = np.isclose(VALUES, VALUES.max())
SIZES = {"head": HEADS, "query": N, "key": I, "context": J}
ENDINGS = (".npy", ".npz", ".nc", ".safetensors", ".pt")


def write(path: Path, **arrays: np.ndarray) -> Path:
    """A sound file by its ending, with one or more arrays."""
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    if path.suffix == ".npy":
        np.save(path, next(iter(arrays.values())))
    elif path.suffix == ".npz":
        np.savez(path, **arrays)
    elif path.suffix == ".nc":
        dims = ("head", "query", "key", "context")
        xr.Dataset({name: (dims, array) for name, array in arrays.items()}).to_netcdf(path, engine="h5netcdf")
    elif path.suffix == ".safetensors":
        save_file(tensors, path)
    else:
        torch.save(tensors if len(tensors) > 1 else next(iter(tensors.values())), path)
    return path


def refused(capsys, *arguments: object) -> str:
    """The one line that a command ends with."""
    assert main(["open", *map(str, arguments)]) == 1
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith("triattn: ") and printed.err.count("\n") == 1, printed
    assert len(printed.err) < 420 and "Traceback" not in printed.err
    return printed.err


@pytest.mark.parametrize("ending", ENDINGS)
def test_each_kind_is_opened(ending, tmp_path, capsys):
    path, out = write(tmp_path / f"a{ending}", a=VALUES), tmp_path / "trace.nc"
    assert main(["open", str(path), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "attention/weight  head 2 x query 3 x key 5 x context 7, rows over key × context" in printed
    assert "All rows sum to one over key × context" in printed
    trace = AttentionTrace.load(out)
    np.testing.assert_array_equal(trace.site("attention/weight").values, VALUES)
    assert trace.meta["checkpoint"] == path.name
    assert main(["open", str(out), "--json"]) == 0  # a trace is opened as it is
    assert json.loads(capsys.readouterr().out)["sites"][0]["axes"] == SIZES


@pytest.mark.parametrize("ending", [ending for ending in ENDINGS if ending != ".npy"])
def test_of_several_arrays_one_is_named(ending, tmp_path, capsys):
    path = write(tmp_path / f"a{ending}", first=VALUES, second=VALUES[:, ::-1].copy())
    assert "several arrays: name one with --name; there are first (2 × 3 × 5 × 7), second" in refused(capsys, path)
    assert "no array 'secont'; did you mean 'second'?" in refused(capsys, path, "--name", "secont")
    out = tmp_path / "trace.nc"
    assert main(["open", str(path), "--name", "second", "--out", str(out)]) == 0
    np.testing.assert_array_equal(AttentionTrace.load(out).site("attention/weight").values, VALUES[:, ::-1])


def broken(ending: str, folder: Path) -> dict[str, Path]:
    """Files that cannot be an attention: damaged, of another kind, or with numbers that do not fit."""
    sound = write(folder / f"sound{ending}", a=VALUES).read_bytes()
    damaged = {
        "empty": b"",
        "text": b"not an array",
        "half": sound[: len(sound) // 2],
        "head": sound[:20],
        "zeros": bytes(64),
        "noise": np.random.default_rng(1).bytes(300),
        "start": b"\0" * 16 + sound[16:],
        "pickle": pickle.dumps({"a": [1, 2]}),
        "zip": b"PK\x03\x04" + bytes(80),
        "html": b"<!doctype html><title>Sign in</title>",
        "json": b'{"a": [1, 2]}',
        "lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
    }
    paths = {}
    for name, content in damaged.items():
        paths[name] = folder / f"{name}{ending}"
        paths[name].write_bytes(content)
    arrays = {
        "nan": np.full_like(VALUES, np.nan),
        "infinite": np.where(TOP, np.float32(np.inf), VALUES),
        "negative": -VALUES,
        "half sums": VALUES / 2,
        "bool": VALUES > 0.1,
        "no cells": VALUES[:0],
    }
    return paths | {name: write(folder / f"{name}{ending}", a=array) for name, array in arrays.items()}


@pytest.mark.parametrize("ending", ENDINGS)
def test_broken_files_give_one_clear_line(ending, tmp_path, capsys):
    paths = broken(ending, tmp_path)
    paths |= {"missing": tmp_path / f"missing{ending}", "folder": tmp_path / f"folder{ending}"}
    paths["folder"].mkdir()
    assert len(paths) == 20
    for name, path in paths.items():
        line = refused(capsys, path)
        assert path.name in line, (name, line)


def test_nothing_is_unpickled(tmp_path, capsys):
    class Evil:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "ran",))

    torch.save({"a": Evil()}, tmp_path / "evil.pt")
    np.save(tmp_path / "evil.npy", np.array([Evil()], object), allow_pickle=True)
    np.savez(tmp_path / "evil.npz", a=np.array([[Evil()]], object))
    (tmp_path / "plain.pt").write_bytes(pickle.dumps(Evil()))
    for name in ("evil.pt", "evil.npy", "evil.npz", "plain.pt"):
        assert "pickle" in refused(capsys, tmp_path / name)
    assert not (tmp_path / "ran").exists()


def test_the_header_alone_says_that_it_is_too_large(tmp_path, capsys):
    header = np.lib.format.magic(1, 0)
    fields = b"{'descr': '<f4', 'fortran_order': False, 'shape': (90000, 90000, 90000)}"
    fields += b" " * (-(len(header) + 2 + len(fields) + 1) % 64) + b"\n"
    with ZipFile(tmp_path / "bomb.npz", "w") as archive:
        archive.writestr("a.npy", header + len(fields).to_bytes(2, "little") + fields)
    assert "GiB, at most 2 are read" in refused(capsys, tmp_path / "bomb.npz")
    torch.save(torch.zeros(1).expand(60000, 60000), tmp_path / "bomb.pt")
    assert "GiB, at most 2 are read" in refused(capsys, tmp_path / "bomb.pt")


def test_a_list_of_layers_is_stacked(tmp_path, capsys):
    """As `outputs.attentions` of Hugging Face."""
    layers = [torch.from_numpy(VALUES.sum(-1)[None]) for _ in range(4)]
    torch.save(tuple(layers), tmp_path / "a.pt")
    assert "name the axes, such as layer batch head query key" in refused(capsys, tmp_path / "a.pt")
    assert main(["open", str(tmp_path / "a.pt"), "--axes", *"layer batch head query key".split()]) == 0
    assert "layer.3/attention/weight  head 2 x query 3 x key 5" in capsys.readouterr().out


BAD_TOKENS = (
    ('["a"]', "1 tokens fit no axis"),
    ('["a", "b", "c", "d"]', "4 tokens fit no axis"),
    ('{"query": ["a"]}', "tokens of query: 1 for 3 positions"),
    ('{"key": ["a", "b", "c"]}', "tokens of key: 3 for 5 positions"),
    ('{"query": []}', "tokens of query: 0 for 3 positions"),
    ('{"querry": []}', "'querry' is no axis with tokens"),
    ('{"head": ["a", "b"]}', "'head' is no axis with tokens"),
    ('{"query": "abc"}', "query: expected a list of strings"),
    ('{"query": ["a", "b", 3]}', "query: expected a list of strings"),
    ('{"query": ["a", "b", null]}', "query: expected a list of strings"),
    ('{"query": null}', "query: expected a list of strings"),
    ('{"query": {"a": 1}}', "query: expected a list of strings"),
    ("[1, 2, 3]", "tokens: expected a list of strings"),
    ('[["a", "b", "c"]]', "tokens: expected a list of strings"),
    ("{", "expected JSON"),
    ('{"query": ["a", "b", "c"]', "expected JSON"),
    ("", "expected JSON"),
    ('"abc"', "expected a list of tokens"),
    ("null", "expected a list of tokens"),
    ("[" * 100_000, "expected JSON"),
)


def test_tokens_from_files(tmp_path, capsys):
    path, out = write(tmp_path / "a.npy", a=VALUES), tmp_path / "t.nc"
    (tmp_path / "t.json").write_text(json.dumps({"query": ["a", "b", "c"], "key": list("vwxyz")}))
    assert main(["open", str(path), "--tokens", str(tmp_path / "t.json"), "--out", str(out)]) == 0
    site = AttentionTrace.load(out).site("attention/weight")
    assert "".join(site["key_token"].values) == "vwxyz" and site["context_token"].values[0] == "1"
    (tmp_path / "t.txt").write_text("浏览器\n\ncat\n")  # a token a line, the second empty
    assert main(["open", str(path), "--tokens", str(tmp_path / "t.txt"), "--out", str(out)]) == 0
    assert AttentionTrace.load(out).site("attention/weight")["query_token"].values.tolist() == ["浏览器", "", "cat"]
    capsys.readouterr()
    for content, reason in BAD_TOKENS:
        (tmp_path / "bad.json").write_text(content)
        assert reason in refused(capsys, path, "--tokens", tmp_path / "bad.json"), content[:40]
    assert len(BAD_TOKENS) == 20
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\xff")
    assert "not UTF-8" in refused(capsys, path, "--tokens", tmp_path / "bad.txt")


def test_options_that_do_not_fit(tmp_path, capsys):
    path = write(tmp_path / "a.npy", a=VALUES)
    for more, reason in (
        (["--quantity", "wait"], "unknown quantity 'wait'"),
        (["--axes", "head", "query", "key"], "a name for each axis"),
        (["--crop", "query=2"], "expected an axis and its positions"),
        (["--crop", "query=2:99"], "crop: query 2:99 is not within 0:3"),
        (["--sums-over", "word"], "no axis 'word'"),
        (["--out", tmp_path / "none" / "t.nc"], "no such folder"),
        (["--tokens", tmp_path / "none.json"], "no such file"),
    ):
        assert reason in refused(capsys, path, *more)
    (tmp_path / "a.csv").write_text("1,2")
    assert "unknown ending '.csv'; known: .npy, .npz" in refused(capsys, tmp_path / "a.csv")
    assert main(["open", str(path), "--axes", "head", "query=residue i", "key", "context", "--out", f"{path}.nc"]) == 0
    assert AttentionTrace.load(Path(f"{path}.nc")).meta["query_name"] == "residue i"


def test_names_of_axes_may_be_of_several_words():
    parts = split_axes("head query=residue i key=residue j context")
    assert parts == ["head", "query=residue i", "key=residue j", "context"]
    assert split_axes(" query  key ") == ["query", "key"] and split_axes("qery key") == ["qery", "key"]


def test_a_kept_trace_with_other_names_of_axes_is_another(tmp_path, monkeypatch):
    monkeypatch.setenv(trace_store.VARIABLE, str(tmp_path))
    values = np.full((3, 3), 1 / 3, np.float32)
    plain, named = trace_of(values), trace_of(values, names={"query": "residue i"})
    names = [trace_store.store(trace) for trace in (plain, named)]
    assert names[0] != names[1] and trace_store.load(names[1]).meta["query_name"] == "residue i"


def test_kept_traces_are_deleted_when_they_are_old_or_too_many(tmp_path, monkeypatch):
    monkeypatch.setenv(trace_store.VARIABLE, str(tmp_path))
    day = 86400
    ages = {"a" * 16 + ".nc": 91 * day, "b" * 16 + ".nc": 89 * day, "x.1.part": 2 * 3600, "y.2.part": 60}
    for name, age in ages.items():
        (tmp_path / name).write_bytes(b"0" * 1000)
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    newest = trace_store.store(trace_of(np.full((3, 4), 0.25)))
    assert {path.name for path in tmp_path.iterdir()} == {f"{newest}.nc", "b" * 16 + ".nc", "y.2.part"}
    monkeypatch.setattr(trace_store, "MOST_BYTES", 500)
    again = trace_store.store(trace_of(np.full((3, 4), 0.25), source="other"))
    assert {path.name for path in tmp_path.glob("*.nc")} == {f"{again}.nc"}


TENSORS = {
    "sparse": lambda given: given.to_sparse(),
    "sparse rows": lambda given: given[0].to_sparse_csr(),
    "negative bit": lambda given: torch.complex(torch.zeros_like(given), -given).conj().imag,
    "expanded": lambda given: given[:1].expand(3, -1, -1),
}


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("kind", TENSORS)
def test_a_tensor_is_read_however_it_is_stored(tmp_path, kind):
    given = torch.softmax(torch.randn(2, 5, 6), -1)
    stored = TENSORS[kind](given)
    torch.save(stored, tmp_path / "a.pt")
    axes = ("head", "query", "key")[3 - stored.ndim :]
    shown = open_file(tmp_path / "a.pt", axes=axes).site("attention/weight").values
    expected = {"sparse rows": given[0], "expanded": given[:1].expand(3, -1, -1)}.get(kind, given)
    np.testing.assert_allclose(shown, expected, atol=1e-7)


@pytest.mark.parametrize(("form", "size"), [("bfloat16", "2 bytes"), ("float8_e4m3fn", "1 byte")])
def test_numbers_that_numpy_saved_without_their_type_are_said(form, size, tmp_path, capsys):
    """As `np.save` writes an array of JAX: its type is lost in the file."""
    stored = torch.from_numpy(VALUES).to(getattr(torch, form)).view(torch.uint8).numpy()
    np.save(path := tmp_path / "a.npy", stored.view(f"V{size[0]}").reshape(VALUES.shape))
    assert f"numbers of {size} without a type, as NumPy saves bfloat16 or float8: save float32" in refused(capsys, path)


@pytest.mark.filterwarnings("ignore:torch.quantize_per")
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("kind", [torch.quint8, torch.qint8])
def test_quantised_tensors_are_read_as_the_numbers_that_they_stand_for(kind, axis, tmp_path):
    """Steps of 1/127, or another size for each index of an axis: the numbers are whole steps away from zero."""
    values, ends = torch.from_numpy(VALUES), torch.iinfo(torch.uint8 if kind is torch.quint8 else torch.int8)
    count = 1 if axis is None else values.shape[axis]
    steps = torch.linspace(1, 2, count, dtype=torch.float64) / 127
    shape = [1] * 4 if axis is None else [count if i == axis else 1 for i in range(4)]
    if axis is None:
        tensor = torch.quantize_per_tensor(values, float(steps[0]), 0, kind)
    else:
        tensor = torch.quantize_per_channel(values, steps, torch.zeros(count, dtype=torch.long), axis, kind)
    torch.save(tensor, path := tmp_path / "q.pt")
    by_step = steps.view(shape)
    expected = (values.double() / by_step).round().clamp(ends.min, ends.max) * by_step
    trace = open_file(path, axes=("head", "query", "key", "context"), quantity="weight")
    np.testing.assert_allclose(trace.site("attention/weight").values, expected.numpy(), atol=1e-6)
