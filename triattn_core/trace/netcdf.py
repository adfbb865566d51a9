"""Reads the groups of a NetCDF-4 file; whatever is wrong with it is an exception, and nothing is printed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5netcdf
import xarray as xr

DEEPEST = 16  # groups within each other; in a damaged file a group may be within itself


class _File(h5netcdf.File):
    """A file that Python can also close where opening it failed half-way: h5netcdf's own prints an AttributeError."""

    _closed = True
    _writable = False


@contextmanager
def open_groups(path: Path) -> Iterator[dict[str, xr.Dataset]]:
    """Yield the datasets of a file by the path of their group, "" for the root; values are read when asked for, inside
    the block.

    Raises whatever h5py, h5netcdf and xarray raise of a broken file, in this call or where values are read: OSError,
    RuntimeError, KeyError, ValueError, TypeError, AttributeError and more.  Catch `Exception` around the block.
    """
    with warnings.catch_warnings(), _File(path, "r", decode_vlen_strings=True, phony_dims="access") as file:
        warnings.simplefilter("ignore")  # about broken files, meant for their authors
        yield {name: xr.open_dataset(xr.backends.H5NetCDFStore(group)) for name, group in _groups("", file)}


def _groups(name: str, group: h5netcdf.Group) -> Iterator[tuple[str, h5netcdf.Group]]:
    yield name, group
    for child in group.groups:
        path = f"{name}/{child}".strip("/")
        if path.count("/") >= DEEPEST:
            raise ValueError(f"more than {DEEPEST} groups within each other")
        yield from _groups(path, group.groups[child])
