"""Opened traces kept on this machine by their digest, so that a link can name one.

They lie in the folder of TRIATTN_TRACES, by default `traces`; the least recently used go first.
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path

from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace

VARIABLE, FOLDER = "TRIATTN_TRACES", "traces"
MOST_BYTES = 2 << 30  # of all that are kept
_NAME = re.compile(r"[0-9a-f]{16}")


def folder() -> Path:
    """Where traces are kept."""
    return Path(os.environ.get(VARIABLE) or FOLDER)


def keep(trace: AttentionTrace) -> str:
    """Keeps a trace and returns the name that `load` takes: the same for the same numbers, tokens and texts.

    Raises TraceError where it cannot be written.
    """
    name = digest(trace)
    path = folder() / f"{name}.nc"
    try:
        folder().mkdir(parents=True, exist_ok=True)
        if not path.is_file():
            part = path.with_suffix(f".{os.getpid()}.part")
            trace.save(part)
            part.replace(path)
        path.touch()
        _drop_old(path)
    except OSError as error:
        raise TraceError(f"{path}: cannot be kept ({error.strerror or error})") from None
    return name


def load(name: str) -> AttentionTrace:
    """A kept trace.  Raises TraceError: no such name, or no longer kept."""
    path = folder() / f"{name}.nc"
    if not _NAME.fullmatch(name) or not path.is_file():
        raise TraceError(f"no trace {name[:40]!r} is kept on this machine: open its file again")
    path.touch()
    return AttentionTrace.load(path)


def digest(trace: AttentionTrace) -> str:
    """Sixteen letters of the SHA-256 of sites, axes, numbers, tokens, texts and source."""
    found = sha256(repr((sorted(trace.texts.items()), trace.meta.get("checkpoint", ""))).encode())
    for name, array in sorted(trace.sites.items()):
        found.update(repr((name, array.dims, array.shape, sorted(array.attrs.items()))).encode())
        found.update(array.values.tobytes())
        for axis in array.dims:
            if f"{axis}_token" in array.coords:
                found.update(repr(array[f"{axis}_token"].values.tolist()).encode())
    return found.hexdigest()[:16]


def _drop_old(newest: Path) -> None:
    """Removes the least recently used until what is kept fits."""
    files = sorted(folder().glob("*.nc"), key=lambda path: path.stat().st_mtime, reverse=True)
    total = 0
    for path in files:
        total += path.stat().st_size
        if total > MOST_BYTES and path != newest:
            path.unlink(missing_ok=True)
