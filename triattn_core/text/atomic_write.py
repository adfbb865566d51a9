"""Files written whole or not at all: beside their target, then renamed over it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp

from triattn_core.errors import DataError

ROOM = 16 << 20  # bytes that must be free before work begins whose result is written


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """The path of an empty file beside `path`: it takes its place when the block ends, and is removed where it fails.

    A pipe or a device, such as /dev/stdout, is written itself.  Raises DataError in one line where nothing can be
    written: no room, no permission, no folder.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with _one_line(path):
            yield path
        return
    with _one_line(path):
        target = Path(os.path.realpath(path))  # of a link the file that it names
        handle, name = mkstemp(".part", ".triattn-", target.parent)
        os.close(handle)
    part = Path(name)
    try:
        with _one_line(path):
            yield part
            os.chmod(part, _mode(target))
            with open(part, "rb") as file:
                os.fsync(file.fileno())  # a full disk may say so only now
            os.replace(part, target)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def write_whole(path: Path, content: str | bytes | memoryview) -> None:
    """Writes a file as `replacing` does; text as UTF-8."""
    with replacing(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def require_room(path: Path, what: str, usage: Callable = shutil.disk_usage) -> None:
    """Raises DataError, before any work, where `path` cannot become a file: no folder, a folder itself, not to be
    written, no room on the disk.  what: what is to be done with it, such as "save the trace"."""
    if not os.path.isdir(path.parent):
        raise DataError(f"{_quoted(path.parent)}: no such folder to {what} in")
    if os.path.isdir(path):
        raise DataError(f"{path}: a folder; name a file to {what} in")
    if os.path.exists(path) and not os.path.isfile(path):
        return
    if len(os.fsencode(path.name)) > 255:
        raise DataError(f"{_quoted(path)}: too long a name for a file")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise DataError(f"{path.parent}: you may not write there; name another folder to {what} in")
    if (free := usage(path.parent).free) < ROOM:
        raise DataError(f"{path.parent}: {free / 2**20:.1f} MiB are free; make room to {what}, or name another folder")


def _quoted(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 120 else f"{text[:90]}…{text[-29:]}"


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or of a new one."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def _one_line(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise DataError(f"{_quoted(path)}: cannot be written ({reason})") from None
