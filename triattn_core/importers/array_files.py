"""Reads an array from a file: .npy, .npz, .nc, .safetensors, .pt.  Nothing is ever unpickled.

A .npy is mapped, not read; of the others at most 2 GiB are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from triattn_core.errors import DataError, cause, choices

MOST_BYTES = 2 << 30
PICKLE = b"\x80"  # how a pickle begins, from its second protocol on
LISTED = 8  # names of arrays in an error


class SeveralArraysError(DataError):
    """A file of several arrays, of which none is named.  shapes: of each that may be attention, by name."""

    def __init__(self, text: str, shapes: Mapping[str, tuple[int, ...]]):
        super().__init__(text)
        self.shapes = dict(shapes)


@dataclass(frozen=True)
class StoredArray:
    """One array of a file: its shape, and a function that reads it."""

    shape: tuple[int, ...]
    read: Callable[[], Any]

    @property
    def fits(self) -> bool:
        """Whether its number of axes fits attention."""
        return 2 <= len(self.shape) <= 6


def read_array(path: Path, name: str | None = None) -> Any:
    """The array of a file, or the one with this name: a NumPy array, torch tensor or xarray DataArray.

    Raises DataError, in one line: no such file, unknown extension, broken file, a pickle, too large;
    SeveralArraysError: several arrays and no name.
    """
    if path.is_dir():
        raise DataError(f"{path}: a folder, expected a file")
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    if path.suffix not in READERS:
        raise DataError(f"{path}: unknown ending {path.suffix!r}; known: {', '.join(READERS)}")
    try:
        entries = READERS[path.suffix](path)
        return _choose(path, entries, name).read()
    except DataError:
        raise
    except MemoryError:
        raise DataError(f"{path}: too large for this machine's memory") from None
    except Exception as error:  # each of half a dozen libraries has its own exceptions for broken files
        reason = f" ({cause(error)[:160]})" if cause(error) else ""
        raise DataError(f"{path}: not a {path.suffix} file that can be read{reason}") from None


def _choose(path: Path, entries: Mapping[str, StoredArray], name: str | None) -> StoredArray:
    if name is not None and name not in entries:
        raise DataError(f"{path}: no array {name!r}; {choices(name, entries)}")
    fitting = [key for key in entries if entries[key].fits]
    if name is None and len(fitting) != 1:
        listed = [f"{key} ({' × '.join(map(str, entries[key].shape))})" for key in (fitting or entries)]
        more_text = f" and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
        listing_text = f"there are {', '.join(listed[:LISTED]) or 'none'}{more_text}"
        if not fitting:
            raise DataError(f"{path}: no array of two to six axes; {listing_text}")
        shapes = {key: entries[key].shape for key in fitting}
        raise SeveralArraysError(f"{path}: several arrays: name one with --name; {listing_text}", shapes)
    return entries[fitting[0] if name is None else name]


def _limit(path: Path, size: int) -> None:
    """Raises DataError if `size` bytes are too many to read."""
    if size > MOST_BYTES:
        raise DataError(
            f"{path}: the array has {size / 2**30:.1f} GiB, at most {MOST_BYTES >> 30} are read: save a part"
        )


def _npy(path: Path) -> dict[str, StoredArray]:
    with path.open("rb") as file:
        start = file.read(6)
    if start.startswith(b"PK\x03\x04"):
        raise DataError(f"{path}: a zip, maybe a NumPy archive: if so, rename it to .npz")
    if start != b"\x93NUMPY" and not start.startswith(PICKLE):
        raise DataError(f"{path}: not a NumPy file: save it with numpy.save")
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise DataError(f"{path}: {_no_pickle(str(error))}") from None
    return {path.stem: StoredArray(array.shape, lambda: array)}


def _no_pickle(reason: str) -> str:
    pickled = "pickle" in reason.lower() or "object" in reason.lower()
    return (
        "holds Python objects or a pickle, which are not read: save numbers"
        if pickled
        else f"not a NumPy file ({reason})"
    )


def _npz(path: Path) -> dict[str, StoredArray]:
    try:
        with ZipFile(path) as archive:
            members = [member for member in archive.namelist() if member.endswith(".npy")]
            return {member.removesuffix(".npy"): _npz_entry(path, archive, member) for member in members}
    except BadZipFile:
        raise DataError(f"{path}: not a NumPy archive (no zip file)") from None


def _npz_entry(path: Path, archive: ZipFile, member: str) -> StoredArray:
    """The entry of an array, from its header alone, so that its size is known before it is read."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = header(file)

    def read() -> np.ndarray:
        if dtype.hasobject:
            raise DataError(f"{path}: {_no_pickle('object')}")
        _limit(path, int(np.prod(shape, dtype=object)) * dtype.itemsize)
        with np.load(path, allow_pickle=False) as arrays:
            return arrays[member.removesuffix(".npy")]

    return StoredArray(tuple(shape), read)


def _netcdf(path: Path) -> dict[str, StoredArray]:
    from triattn_core.trace.netcdf import open_groups

    with path.open("rb") as file:
        if file.read(3) == b"CDF":
            reason = 'NetCDF 3, which is not read: save it as NetCDF 4, as to_netcdf(file, engine="h5netcdf") does'
            raise DataError(f"{path}: {reason}")

    def reader(group: str, name: str) -> Callable[[], Any]:
        def read() -> Any:
            with open_groups(path) as groups:
                _limit(path, groups[group][name].nbytes)
                return groups[group][name].load()

        return read

    with open_groups(path) as groups:
        found = [
            (group, str(name), array.shape) for group, own in groups.items() for name, array in own.data_vars.items()
        ]
    return {
        f"{group}/{name}".strip("/"): StoredArray(tuple(shape), reader(group, name)) for group, name, shape in found
    }


def _safetensors(path: Path) -> dict[str, StoredArray]:
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        names = file.keys()
        shapes = {name: tuple(file.get_slice(name).get_shape()) for name in names}

    def reader(name: str) -> Callable[[], Any]:
        def read() -> Any:
            _limit(path, 4 * int(np.prod(shapes[name], dtype=object)))
            with safe_open(path, framework="pt") as file:
                return file.get_tensor(name)

        return read

    return {name: StoredArray(shape, reader(name)) for name, shape in shapes.items()}


def _torch(path: Path) -> dict[str, StoredArray]:
    import pickle
    import warnings

    import torch

    from triattn_core.importers.nested_tensors import named_tensors

    _limit(path, path.stat().st_size)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about broken files, meant for torch's developers
            content = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        reason = "not a file of tensors alone: pickled objects are not read; save with torch.save(tensor, file)"
        raise DataError(f"{path}: {reason}") from None

    def reader(tensor: Any) -> Callable[[], Any]:
        def read() -> Any:
            _limit(path, math.prod(tensor.shape) * tensor.dtype.itemsize)  # expanded or sparse: larger than its file
            return tensor

        return read

    tensors = named_tensors(content, path.stem)
    return {name: StoredArray(tuple(tensor.shape), reader(tensor)) for name, tensor in tensors.items()}


READERS: dict[str, Callable[[Path], dict[str, StoredArray]]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".nc": _netcdf,
    ".safetensors": _safetensors,
    ".pt": _torch,
    ".pth": _torch,
}
