"""Whether the HDF5 library gets through a file: tried in a process of its own, which a damaged file may end or hang."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from triattn_core.errors import DataError

WAIT = 120  # seconds in all; see `hdf5_walk.SECONDS` for those of the processor
SIGNATURE = b"\x89HDF\r\n\x1a\n"


def require_readable(path: Path) -> None:
    """Raises DataError if reading what describes the arrays of a file hangs or ends the process.

    What raises a Python exception passes: it does so again where the file is read.
    """
    with path.open("rb") as file:
        if file.read(len(SIGNATURE)) != SIGNATURE:
            return
    walk = Path(__file__).with_name("hdf5_walk.py")
    try:
        done = subprocess.run([sys.executable, str(walk), str(path.resolve())], capture_output=True, timeout=WAIT)
    except subprocess.TimeoutExpired:
        done = None
    if done is None or done.returncode:
        raise DataError(f"{path}: a damaged .nc file, which cannot be read")
