"""A file that is opened holds its own numbers: HDF5 would read any other file that it names."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from triattn_core.errors import DataError
from triattn_core.importers.open_file import open_file

WEIGHTS = np.full((3, 4), 0.25)


def raw_values(file: h5py.File, other: Path) -> None:
    other.write_bytes(WEIGHTS.tobytes())
    file.create_dataset("a", WEIGHTS.shape, "f8", external=[(str(other), 0, WEIGHTS.nbytes)])


def linked(file: h5py.File, other: Path) -> None:
    stored(other)
    file["a"] = h5py.ExternalLink(str(other), "a")


def linked_group(file: h5py.File, other: Path) -> None:
    stored(other)
    file["own"] = WEIGHTS
    file.create_group("deep")["group"] = h5py.ExternalLink(str(other), "/")


def virtual(file: h5py.File, other: Path) -> None:
    stored(other)
    layout = h5py.VirtualLayout(WEIGHTS.shape, "f8")
    layout[:] = h5py.VirtualSource(str(other), "a", WEIGHTS.shape)
    file.create_virtual_dataset("a", layout)


def stored(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["a"] = WEIGHTS


@pytest.mark.parametrize("block", [0, 512, 2048])  # bytes before the file proper, which a user may fill
@pytest.mark.parametrize("write", [raw_values, linked, linked_group, virtual])
def test_no_other_file_is_read(write, block, tmp_path):
    with h5py.File(tmp_path / "mine.nc", "w", userblock_size=block) as file:
        write(file, tmp_path / "other.h5")
    with pytest.raises(DataError, match=r"mine\.nc: parts of it are in other files, which are not read"):
        open_file(tmp_path / "mine.nc", quantity="relevance")


def test_what_is_in_the_file_itself_is_read(tmp_path):
    layout = h5py.VirtualLayout(WEIGHTS.shape, "f8")
    layout[:] = h5py.VirtualSource(".", "a", WEIGHTS.shape)
    with h5py.File(tmp_path / "mine.nc", "w", userblock_size=1024) as file:
        file["a"] = WEIGHTS
        file["soft"] = h5py.SoftLink("/a")
        file.create_virtual_dataset("joined", layout)
    assert open_file(tmp_path / "mine.nc", "joined").site("attention/weight").values.tolist() == WEIGHTS.tolist()
