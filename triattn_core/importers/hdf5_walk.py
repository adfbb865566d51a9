"""Read what describes the arrays of an HDF5 file: groups, attributes, texts; not their numbers.

Run as a program, by `hdf5_check`: in a damaged file the HDF5 library may loop for ever or end the process.
"""

from __future__ import annotations

import sys
from contextlib import suppress

SECONDS = 5  # of the processor


def main(path: str) -> None:
    """Raises whatever h5py raises; ends by a signal after `SECONDS` of the processor."""
    import h5py

    with suppress(ImportError):  # not on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    with h5py.File(path, "r") as file:
        _read(file)
        file.visititems(lambda _, item: _read(item))


def _read(item) -> None:
    for name in item.attrs:
        with suppress(Exception):  # whoever reads the file next is told so too
            item.attrs[name]
    if getattr(item, "dtype", None) is not None and item.dtype.hasobject:
        with suppress(Exception):
            item[()]


if __name__ == "__main__":
    with suppress(Exception):
        main(sys.argv[1])
