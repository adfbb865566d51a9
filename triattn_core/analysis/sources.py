"""The rows that cases are mined from: files by name and digest, and their examples by line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedIOBase, BytesIO
from pathlib import Path, PurePosixPath

from triattn_core.errors import DataError, InputError
from triattn_core.tasks import TASKS, questions
from triattn_core.text.rows import count_lines, each_line


@dataclass(frozen=True)
class Source:
    """A file of rows, on disk or handed over: its name with its folder, and the digest of it as it lies."""

    name: str
    sha256: str
    place: Path | bytes

    def open(self) -> BufferedIOBase:
        """The file, to be closed."""
        return BytesIO(self.place) if isinstance(self.place, bytes) else open(self.place, "rb")

    @property
    def lines(self) -> int:
        """How many lines it has, for a progress bar."""
        with self.open() as file:
            return count_lines(file, self.name)

    def rows(self, task: str) -> Iterator[tuple[int, str, dict | DataError]]:
        """(line, place, row or what is wrong with it) of each line; of each question, from 1, of SQuAD's own file."""
        with self.open() as file:
            if task != questions.NAME or not questions.squads(self.name):
                yield from ((line, f"{self.name}:{line}", row) for line, row in each_line(file, self.name))
                return
            number = 0
            try:
                for number, (place, row) in enumerate(questions.squad_rows(self.name, file.read()), 1):
                    yield number, place, row
            except DataError as error:
                yield number + 1, self.name, error

    def count(self, task: str) -> int:
        """How many lines, or questions, a task finds in it."""
        squad = task == questions.NAME and questions.squads(self.name)
        return sum(1 for _ in self.rows(task)) if squad else self.lines


def given(name: str, content: bytes) -> Source:
    """A file that was handed over."""
    return Source(name, hashlib.sha256(content).hexdigest(), content)


def file(path: Path) -> Source:
    """A file on disk.  Raises DataError where there is none."""
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    with open(path, "rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    return Source("/".join(path.resolve().parts[-2:]), found, path)


def own(task: str, language: str) -> Path:
    """The examples that were written for this project."""
    room = TASKS[task]
    language = language if language in room.LANGUAGES else room.LANGUAGES[0]
    return Path(room.__file__).with_name(f"{task}.{language}.jsonl")


def find(name: str, sha256: str, folders: Sequence[Path]) -> Source | None:
    """The file with this name and digest under one of the folders, or among this project's examples."""
    parts = [part for part in PurePosixPath(name).parts if part not in ("/", "..")][-2:]
    for folder in (*folders, Path(TASKS["pairs"].__file__).parents[1]):
        path = folder.joinpath(*parts)
        if path.is_file() and (found := file(path)).sha256 == sha256:
            return found
    return None


def examples(task: str, source: Source) -> Iterator[tuple[int, object]]:
    """(line, example of the task, or a DataError that says why there is none) for each line that is not blank, or for
    each question of SQuAD's own file."""
    room = TASKS[task]
    for line, place, row in source.rows(task):
        if isinstance(row, dict):
            try:
                row = room.from_file(row, place)
                row.check()
            except InputError as error:
                row = DataError(f"{place}: {error}")
            except DataError as error:
                row = error
        yield line, row
