"""Stored files that were whole and are damaged: some bits of another value, or an end that is missing."""

from __future__ import annotations

import io
import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

KINDS = ("trace.nc", "array.nc", "cases.parquet", "a.npz", "a.safetensors")


def damaged(draw: random.Random, kind: str) -> bytes:
    """The bytes of one of KINDS with one to five bits flipped, or cut; now and then both."""
    data = bytearray(whole(kind))
    how = draw.choice(["bits", "bits", "bits", "cut", "both"])
    if how != "bits":
        del data[draw.randrange(len(data)) :]
    if how != "cut" and data:
        for _ in range(draw.choice([1, 2, 5])):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(data)


@cache
def whole(kind: str) -> bytes:
    """The bytes of a file that can be read; its arrays are small, so that most bits are of what describes them."""
    values = np.random.default_rng(1).random((2, 5, 4, 3))
    values /= values.sum((-2, -1), keepdims=True)
    file = io.BytesIO()
    if kind == "a.npz":
        np.savez_compressed(file, a=values, b=values[0, 0, 0])
    elif kind == "a.safetensors":
        from safetensors.numpy import save

        file.write(save({"a": values, "b": values[0, 0, 0]}))
    elif kind == "cases.parquet":
        from tests.unit.test_mining_table import make_table

        make_table().write(file)
    else:
        with TemporaryDirectory() as folder:
            _write_netcdf(Path(folder) / kind, values)
            return (Path(folder) / kind).read_bytes()
    return file.getvalue()


def _write_netcdf(path: Path, values: np.ndarray) -> None:
    import xarray as xr

    from triattn_core.trace.from_array import trace_of

    if path.name == "array.nc":
        dims = ("head", "query", "key", "context")
        xr.Dataset({"a": (dims, values)}).to_netcdf(path, engine="h5netcdf")
        return
    words = {
        axis: "one two three four five".split()[:size] for axis, size in zip(("query", "key", "context"), (5, 4, 3))
    }
    options = {"quantity": "relevance", "axes": ("head", *words), "names": {"query": "row"}, "tokens": words}
    trace_of(np.log(values), **options).save(path)
