"""Opened traces, stored on this machine by digest so that links can refer to them.

They are in the folder TRIATTN_TRACES, by default `traces`.  Each is deleted when it was not used for `MOST_DAYS`; the
least recently used go first when all together exceed `MOST_BYTES`.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axis_labels import axis_labels

VARIABLE, FOLDER = "TRIATTN_TRACES", "traces"
MOST_BYTES = 2 << 30  # of all stored traces
MOST_DAYS = 90  # since a trace was last used
WRITING = 3600  # seconds after which a half-written file is one that a process left behind
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
    for name, array in sorted((str(site), array) for site, array in trace.sites.items()):
        sha.update(repr((name, array.dims, array.shape, sorted(array.attrs.items()))).encode())
        sha.update(array.values.tobytes())
        for axis in array.dims:
            if f"{axis}_token" in array.coords:
                sha.update(repr(array[f"{axis}_token"].values.tolist()).encode())
    return sha.hexdigest()[:16]


def _drop_old(newest: Path) -> None:
    """Delete traces that were not used for long, then the least recently used until the others fit; and what a process
    that ended left half-written."""
    now, total = time.time(), 0
    used = {}
    for path in (*folder().glob("*.nc"), *folder().glob("*.part")):
        with suppress(FileNotFoundError):  # another process has deleted it
            used[path] = path.stat()
    for path in sorted(used, key=lambda path: used[path].st_mtime, reverse=True):
        is_part = path.suffix == ".part"
        total += 0 if is_part else used[path].st_size
        is_old = now - used[path].st_mtime > (WRITING if is_part else MOST_DAYS * 86400)
        if path != newest and (is_old or (total > MOST_BYTES and not is_part)):
            path.unlink(missing_ok=True)
