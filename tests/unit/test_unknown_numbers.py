"""Rows that hold NaN in a file of one's own: said, left out of every measure, and the other rows shown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
import xarray as xr

from triattn_core.__main__ import main
from triattn_core.analysis.maps.head_measures import head_table
from triattn_core.importers.open_file import open_file
from triattn_core.trace import AttentionTrace
from triattn_core.trace.array_rows import NOT_NUMBERS
from triattn_core.trace.from_array import notes_of, trace_of


def weights(kind: type = np.float32) -> np.ndarray:
    """[head 3, query 4, key 4]: of the second head one row is unknown, of the third all."""
    scores = np.random.default_rng(3).normal(size=(3, 4, 4))
    values = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    values[1, 2, 3] = values[2, :, 0] = np.nan
    return values.astype(kind)


def write(values: np.ndarray, path) -> None:
    if path.suffix == ".npy":
        np.save(path, values)
    elif path.suffix == ".npz":
        np.savez(path, attention=values)
    elif path.suffix == ".nc":
        xr.DataArray(values, dims=("head", "query", "key"), name="attention").to_netcdf(path, engine="h5netcdf")
    else:
        torch.save(torch.from_numpy(values).to(torch.bfloat16), path)


@pytest.mark.parametrize("ending", [".npy", ".npz", ".nc", ".pt"])
def test_unknown_rows_of_a_file_are_said_and_left_out(ending, tmp_path, capsys):
    values = weights()
    write(values, path := tmp_path / f"mine{ending}")
    trace = open_file(path, axes=("head", "query", "key"))
    array = trace.site("attention/weight")
    assert array.attrs[NOT_NUMBERS] == 1 and not array.isnull().any()
    assert "5 of 12 rows hold what is not a number, the first at head 1, query 2" in "".join(notes_of(trace))
    if ending != ".pt":  # in bfloat16 rows are one to 0.002
        assert "All other rows sum to one" in "".join(notes_of(trace))
    np.testing.assert_allclose(array.values[0], values[0], atol=2e-3)
    measures = head_table(trace).set_index("head")
    assert measures.loc[[0, 1], "entropy"].notna().all() and measures.loc[2, ["entropy", "sink"]].isna().all()
    assert main(["open", str(path), "--axes", "head", "query", "key", "--out", str(tmp_path / "t.nc")]) == 0
    assert "5 of 12 rows hold what is not a number" in capsys.readouterr().out
    assert NOT_NUMBERS in open_file(tmp_path / "t.nc").site("attention/weight").attrs


def test_a_saved_trace_with_unknown_rows_is_said(tmp_path):
    """As one may write it with xarray."""
    whole = trace_of(np.full((2, 3, 3), 1 / 3, np.float32), axes=("head", "query", "key"), tokens=["a", "b", "c"])
    site, array = next(iter(whole.sites.items()))
    values = array.values.copy()
    values[1, 0, 0] = np.nan
    replace(whole, sites={site: array.copy(data=values)}).save(tmp_path / "t.nc")
    trace = open_file(tmp_path / "t.nc")
    assert isinstance(trace, AttentionTrace) and not trace.sites[site].isnull().any()
    assert any("1 of 6 rows hold what is not a number" in note for note in notes_of(trace))


@pytest.mark.parametrize("half", ["\ud83d", "a\udc80b", "\udfff"])
def test_half_a_character_among_tokens_has_a_visible_name(half, tmp_path):
    even = np.full((2, 2), 0.5)
    for trace in (trace_of(even, tokens=[half, "b"]), trace_of(even, tokens={"query": [half, "b"], "key": ["a", "b"]})):
        names = trace.site("attention/weight")["query_token"].values.tolist()
        assert names[1] == "b" and names[0].isascii() and "\\ud" in names[0]
        trace.save(tmp_path / "t.nc")
        assert open_file(tmp_path / "t.nc").site("attention/weight")["query_token"].values.tolist() == names
