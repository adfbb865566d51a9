"""Read what describes the arrays of an HDF5 file: groups, attributes, texts; not their numbers.

Run as a program, by `hdf5_check`: in a damaged file the HDF5 library may loop for ever or end the process.
"""

from __future__ import annotations

import sys
from contextlib import suppress

SECONDS = 5  # of the processor
OTHER_FILE, DAMAGED = 3, 1  # exit statuses


def main(path: str) -> None:
    """Ends by a signal after `SECONDS` of the processor; with `OTHER_FILE` where a link, the raw values of an array or
    the parts of a virtual one are in another file; with `DAMAGED` where that cannot be told.

    Raises what h5py raises of a file that it cannot open.
    """
    import h5py

    with suppress(ImportError):  # not on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    with h5py.File(path, "r") as file:
        try:
            found = file.visititems_links(lambda _, link: isinstance(link, h5py.ExternalLink) or None)
            _read(file)
            found = found or file.visititems(lambda _, item: _read(item) or None)
        except Exception:
            sys.exit(DAMAGED)
    if found:
        sys.exit(OTHER_FILE)


def _read(item) -> bool:
    """Reads an item; whether its values are in another file, where nothing of them is read."""
    if hasattr(item, "virtual_sources"):  # a data set
        parts = item.virtual_sources() if item.is_virtual else ()
        if item.external or any(part.file_name != "." for part in parts):
            return True
    for name in item.attrs:
        with suppress(Exception):  # whoever reads the file next is told so too
            item.attrs[name]
    if getattr(item, "dtype", None) is not None and item.dtype.hasobject:
        with suppress(Exception):
            item[()]
    return False


if __name__ == "__main__":
    with suppress(Exception):
        main(sys.argv[1])
