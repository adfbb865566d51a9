"""Sources of rows: files identified by name and digest, and their examples by line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BufferedIOBase, BytesIO
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any, cast

from triattn_core.analysis.mining.parquet_rows import count_rows, each_row, is_parquet
from triattn_core.errors import DataError, InputError, TruncationError
from triattn_core.tasks import TASKS, InputForm, form, squad_file
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.text.rows import count_lines, each_line, is_list


@dataclass(frozen=True)
class Source:
    """A file of rows, on disk or uploaded: its name with its folder, and the digest of its bytes."""

    name: str
    sha256: str
    place: Path | bytes

    @property
    def unlimited(self) -> bool:
        """Whether a .gz is read to its end, however large it unpacks; an uploaded one is not."""
        return isinstance(self.place, Path)

    def open(self) -> BufferedIOBase:
        """Opens the file; the caller closes it."""
        return BytesIO(self.place) if isinstance(self.place, bytes) else open(self.place, "rb")

    @property
    def lines(self) -> int:
        """The number of lines, or of rows of a Parquet file, for a progress bar."""
        with self.open() as file:
            if not is_parquet(self.name) and is_list(file, self.name):
                return sum(1 for _ in self.each_row())
            return count_rows(file) if is_parquet(self.name) else count_lines(file, self.name, self.unlimited)

    def each_row(self) -> Iterator[tuple[int, dict | DataError]]:
        """Yield (line, or row of a Parquet file, from 1; the row or its error)."""
        with self.open() as file:
            read = each_row(file, self.name) if is_parquet(self.name) else each_line(file, self.name, self.unlimited)
            yield from read

    def rows(self, task: str) -> Iterator[tuple[int, str, dict | DataError]]:
        """Yield (number from 1, place, row or its error) for each line, or for each question of an official SQuAD
        file."""
        if not self.is_squad(task):
            for line, row in self.each_row():
                yield line, f"{self.name}:{line}", row
            return
        number = 0
        with self.open() as file:
            try:
                for number, (place, row) in enumerate(squad_file.squad_rows(self.name, file.read()), 1):
                    yield number, place, row
            except DataError as error:
                yield number + 1, self.name, TruncationError(str(error))

    def is_squad(self, task: str) -> bool:
        """Whether a task reads it as an official SQuAD file."""
        return form(task) is InputForm.PASSAGE and squad_file.is_squad(self.name)

    def count(self, task: str) -> int:
        """The number of lines, or questions, that a task finds in the file."""
        return sum(1 for _ in self.rows(task)) if self.is_squad(task) else self.lines


def uploaded_source(name: str, content: bytes) -> Source:
    """The source of an uploaded file."""
    return Source(name, hashlib.sha256(content).hexdigest(), content)


def file_source(path: Path) -> Source:
    """The source of a file on disk.  Raises DataError if it does not exist."""
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    stat = path.stat()
    digest = _file_digest(path.resolve(), stat.st_mtime_ns, stat.st_size)
    return Source("/".join(path.resolve().parts[-2:]), digest, path)


@lru_cache(maxsize=256)
def _file_digest(path: Path, modified: int, size: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def example_source(task: str, language: str) -> Source:
    """The project's examples of a task and language: their file next to the task, or else their rows."""
    module = TASKS[task]
    language = language if language in module.LANGUAGES else module.LANGUAGES[0]
    path = Path(cast(ModuleType, module).__file__ or "").with_name(f"{task}.{language}.jsonl")
    if path.is_file():
        return file_source(path)
    rows = (json.dumps(module.row(example), ensure_ascii=False) for example in module.examples(language))
    return uploaded_source(path.name, "".join(f"{row}\n" for row in rows).encode())


def hard_source(task: str, language: str) -> Source | None:
    """The project's hard examples of a task and language, which small models often miss; None where it has none."""
    path = Path(cast(ModuleType, TASKS[task]).__file__ or "").with_name(f"{task}-hard.{language}.jsonl")
    return file_source(path) if path.is_file() else None


def generated_source(task: str, rows: int, seed: int | str = 1, size: int | None = None) -> Source:
    """Rows of a laboratory task drawn from a seed, at its own size or another."""
    module = LABORATORY[task].at_size(size)
    lines = (json.dumps(module.row(example) | {"id": example.id}) for example in module.generate(seed, rows))
    return uploaded_source(f"laboratory:{task}", "".join(f"{line}\n" for line in lines).encode())


def find_source(name: str, sha256: str, folders: Sequence[Path]) -> Source | None:
    """The file with this digest under one of the folders or among this project's examples, or None.  name: with its
    folder or without."""
    parts = [part for part in PurePosixPath(name).parts if part not in ("/", "..")][-2:]
    for folder in (*folders, Path(squad_file.__file__).parents[1]):
        for path in dict.fromkeys((folder.joinpath(*parts), folder.joinpath(*parts[-1:]))):
            if path.is_file() and (source := file_source(path)).sha256 == sha256:
                return source
    return None


def watch_truncation(rows: Iterable[tuple], reasons: list[str]) -> Iterator[tuple]:
    """Yield these rows, whose last item is a row or its error; append to `reasons` why their file was not read to its
    end, if so."""
    for row in rows:
        if isinstance(row[-1], TruncationError):
            reasons.append(str(row[-1]))
        yield row


def read_examples(task: str, source: Source) -> Iterator[tuple[int, Any]]:
    """Yield (line, example of the task or a DataError) for each non-blank line, or for each question of an official
    SQuAD file.  task: of TASKS or LABORATORY."""
    module = TASKS.get(task) or LABORATORY[task]
    example: Any
    for line, place, row in source.rows(task):
        if isinstance(row, dict):
            try:
                example = module.from_file(row, place)
                example.check()
            except InputError as error:
                example = DataError(f"{place}: {error}")
            except DataError as error:
                example = error
        else:
            example = row
        yield line, example
