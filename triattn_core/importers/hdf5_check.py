"""Whether the HDF5 library gets through a file, and the file holds all its numbers: tried in a process of its own,
which a damaged file may end or hang."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from triattn_core.errors import DataError
from triattn_core.importers import hdf5_walk

WAIT = 120  # seconds in all; see `hdf5_walk.SECONDS` for those of the processor
SIGNATURE = b"\x89HDF\r\n\x1a\n"
FIRST_BLOCK = 512  # bytes of the smallest block of a user before the signature; each next is twice as large


def require_readable(path: Path) -> None:
    """Raises DataError if reading what describes the arrays of a file hangs or ends the process, and if an array or a
    group of it is in another file: HDF5 would read any file that the reader may, and a file may come from anyone.

    What raises a Python exception passes: it does so again where the file is read.
    """
    if not _is_hdf5(path):
        return
    walk = Path(__file__).with_name("hdf5_walk.py")
    try:
        done = subprocess.run([sys.executable, str(walk), str(path.resolve())], capture_output=True, timeout=WAIT)
    except subprocess.TimeoutExpired:
        done = None
    if done is not None and done.returncode == hdf5_walk.OTHER_FILE:
        raise DataError(f"{path}: parts of it are in other files, which are not read: copy them into one file")
    if done is None or done.returncode:
        raise DataError(f"{path}: a damaged .nc file, which cannot be read")


def _is_hdf5(path: Path) -> bool:
    """Whether the signature is where HDF5 looks for it."""
    place, size = 0, path.stat().st_size
    with path.open("rb") as file:
        while place < size:
            file.seek(place)
            if file.read(len(SIGNATURE)) == SIGNATURE:
                return True
            place = 2 * place or FIRST_BLOCK
    return False
