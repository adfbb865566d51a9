"""A table as a folder: Parquet parts with one schema, and a manifest that says where they come from."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa

from triattn_core.analysis.mining.folder_path import FolderPath
from triattn_core.errors import DataError
from triattn_core.text.atomic_write import one_line, require_room

MANIFEST = "_manifest.json"  # pandas, pyarrow, Spark and DuckDB skip names with an underscore where they read a folder
PART = 250_000  # rows of a part
LISTED = 20  # errors in the manifest
OURS = re.compile(rf"part-\d+\.parquet|{re.escape(MANIFEST)}")


def is_folder(out: Path) -> bool:
    """Whether a table is stored there as a folder: one that exists, or a new name that was written with a slash in the
    end or without the suffix .parquet."""
    return isinstance(out, FolderPath) or out.is_dir() or (out.suffix != ".parquet" and not os.path.lexists(out))


def require_place(out: Path) -> None:
    """Raises DataError, before any work, if a table cannot be stored at `out`, a file or a folder."""
    if not is_folder(out):
        require_room(out, "store the table")
        return
    if os.path.lexists(out) and not out.is_dir():
        raise DataError(f"{out}: a file; name a new folder, or the file without the slash")
    if out.is_dir() and not all(OURS.fullmatch(entry.name) for entry in out.iterdir()):
        raise DataError(f"{out}: holds other files; name a new folder, or a file that ends in .parquet")
    require_room(out.resolve().with_name(f"{out.resolve().name}.new"), "store the table")


def write_folder(
    out: Path,
    tables: Iterable[pa.Table],
    write: Callable[[Path, list[pa.Table]], object],
    manifest: Mapping[str, Any],
) -> None:
    """Write the parts with `write` and then the manifest; the folder appears when both are whole and replaces an
    earlier one.

    Raises DataError if that fails.
    """
    with _replacing(out) as folder:
        parts: list[dict[str, Any]] = []
        for number, part in enumerate(_parts(tables)):
            name = f"part-{number:05}.parquet"
            write(folder / name, part)
            parts.append({"name": name, "rows": sum(map(len, part)), "bytes": (folder / name).stat().st_size})
        rows = sum(entry["rows"] for entry in parts)
        text = json.dumps({"format": 1, "rows": rows, **manifest, "parts": parts}, indent=1, ensure_ascii=False)
        (folder / MANIFEST).write_text(text + "\n", "utf-8")


def make_manifest(rows: int | None, errors: Sequence[str], provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest without its parts: `rows` measured, None where that is the number of rows of the parts, and rows
    set `aside` with the first reasons.

    provenance: `command`, `data`, `sha256`, `whole`, `checkpoints` with their digests, `versions`.
    """
    measured = {} if rows is None else {"rows": rows}
    return measured | {"aside": len(errors), "complaints": list(errors[:LISTED]), **provenance}


def require_all_parts(folder: Path) -> None:
    """Raises ValueError if the manifest of a folder, where it has one, names a part that is not there or of another
    size, as in a copy that was broken off."""
    if not (folder / MANIFEST).is_file():
        return
    try:
        parts = json.loads((folder / MANIFEST).read_text("utf-8"))["parts"]
        sizes = {str(part["name"]): part["bytes"] for part in parts}
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{MANIFEST} cannot be read") from None
    for name, size in sizes.items():
        if not (folder / name).is_file() or (folder / name).stat().st_size != size:
            raise ValueError(f"{name} is missing or not whole: copy the folder again")


def _parts(tables: Iterable[pa.Table]) -> Iterator[list[pa.Table]]:
    """The tables, cut and joined to PART rows each; one empty part of a table without rows."""
    part: list[pa.Table] = []
    room, is_first = PART, True
    for table in tables:
        start = 0
        while start < len(table) or (is_first and not len(table)):
            piece, is_first = table.slice(start, room), False
            part.append(piece)
            start, room = start + len(piece), room - len(piece)
            if not room:
                yield part
                part, room = [], PART
    if part:
        yield part


@contextmanager
def _replacing(out: Path) -> Iterator[Path]:
    target = out.resolve()
    with one_line(out):
        folder = Path(mkdtemp(".part", ".triattn-", target.parent))
    old = folder.with_suffix(".old")
    try:
        with one_line(out):
            yield folder
            folder.chmod(0o777 & ~_umask())
            _swap(folder, target, old)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _swap(folder: Path, target: Path, old: Path) -> None:
    """Rename `folder` to `target`; what is there is moved to `old` and deleted afterwards, or put back on failure."""
    if target.is_dir():
        target.rename(old)
    try:
        folder.rename(target)
    except BaseException:
        if old.is_dir():
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
