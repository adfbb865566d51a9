"""Opened traces, stored on this machine by digest so that links can refer to them.

They are in the folder TRIATTN_TRACES, by default `traces`; the least recently used are deleted first.
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path

from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axis_labels import axis_labels

VARIABLE, FOLDER = "TRIATTN_TRACES", "traces"
MOST_BYTES = 2 << 30  # of all stored traces
_NAME = re.compile(r"[0-9a-f]{16}")


def folder() -> Path:
    """The folder of stored traces."""
    return Path(os.environ.get(VARIABLE) or FOLDER)


def store(trace: AttentionTrace) -> str:
    """Store a trace; returns its name for `load`, which is the same for equal numbers, tokens and texts.

    Raises TraceError if it cannot be written.
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
    """A stored trace.  Raises TraceError if there is no such name, or it was deleted."""
    path = folder() / f"{name}.nc"
    if not _NAME.fullmatch(name) or not path.is_file():
        raise TraceError(f"no trace {name[:40]!r} is kept on this machine: open its file again")
    path.touch()
    return AttentionTrace.load(path)


def digest(trace: AttentionTrace) -> str:
    """Sixteen letters of the SHA-256 of sites, axes and their labels, numbers, tokens, texts and source."""
    sha = sha256(repr((sorted(trace.texts.items()), trace.meta.get("checkpoint", ""))).encode())
    labels = {axis: label for axis, label in axis_labels(trace).items() if label != axis}
    sha.update(repr(sorted(labels.items())).encode() if labels else b"")
    for name, array in sorted(trace.sites.items()):
        sha.update(repr((name, array.dims, array.shape, sorted(array.attrs.items()))).encode())
        sha.update(array.values.tobytes())
        for axis in array.dims:
            if f"{axis}_token" in array.coords:
                sha.update(repr(array[f"{axis}_token"].values.tolist()).encode())
    return sha.hexdigest()[:16]


def _drop_old(newest: Path) -> None:
    """Delete the least recently used traces until the others fit."""
    files = sorted(folder().glob("*.nc"), key=lambda path: path.stat().st_mtime, reverse=True)
    total = 0
    for path in files:
        total += path.stat().st_size
        if total > MOST_BYTES and path != newest:
            path.unlink(missing_ok=True)
