"""Atomic writing of files: to a temporary file next to the target, then renamed over it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp

from triattn_core.errors import DataError

ROOM = 16 << 20  # bytes that must be free before work starts whose result is written


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file, which replaces `path` when the block ends, or is removed if it fails.

    A pipe or a device, such as /dev/stdout, is written directly.  Raises DataError, in one line, if nothing can be
    written: no room, no permission, no folder.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with one_line(path):
            yield path
        return
    with one_line(path):
        target = Path(os.path.realpath(path))  # the target of a link
        descriptor, name = mkstemp(".part", ".triattn-", target.parent)
        os.close(descriptor)
    part = Path(name)
    try:
        with one_line(path):
            yield part
            os.chmod(part, _mode(target))
            with open(part, "rb") as file:
                os.fsync(file.fileno())  # a full disk may fail only now
            os.replace(part, target)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def write_whole(path: Path, content: str | bytes | memoryview) -> None:
    """Write a file atomically, as `replacing`; text as UTF-8."""
    with replacing(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def require_trace_name(path: Path) -> None:
    """Raises DataError if the name of a trace to save does not end in .nc."""
    if path.suffix != ".nc":
        raise DataError(f"{path}: a trace is saved as NetCDF: name a file that ends in .nc")


def require_room(path: Path, purpose: str, disk_usage: Callable = shutil.disk_usage) -> None:
    """Raises DataError, before any work, if `path` cannot become a file: no such folder, a folder itself, not writable,
    no room on the disk.  purpose: such as "save the trace"."""
    if not os.path.isdir(path.parent):
        raise DataError(f"{_quote(path.parent)}: no such folder to {purpose} in")
    if os.path.isdir(path):
        raise DataError(f"{path}: a folder; name a file to {purpose} in")
    if os.path.exists(path) and not os.path.isfile(path):
        return
    if len(os.fsencode(path.name)) > 255:
        raise DataError(f"{_quote(path)}: too long a name for a file")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise DataError(f"{path.parent}: you may not write there; name another folder to {purpose} in")
    if (free := disk_usage(path.parent).free) < ROOM:
        raise DataError(
            f"{path.parent}: {free / 2**20:.1f} MiB are free; make room to {purpose}, or name another folder"
        )


def _quote(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 120 else f"{text[:90]}…{text[-29:]}"


def _mode(target: Path) -> int:
    """The permissions of the file to replace, or those of a new one."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def one_line(path: Path) -> Iterator[None]:
    """Raises DataError, in one line, for an OSError in the block, in which `path` is written."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise DataError(f"{_quote(path)}: cannot be written ({reason})") from None
