"""The case book: examples with a note and tags, in one SQLite file for pages, command line and notebooks.

Concurrent edits lose nothing: a change names the version that it was made from, and is refused, with the current
version, if the case has changed since.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Engine, ForeignKey, String, create_engine, event, or_, select
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from triattn_core.errors import CaseError, DataError
from triattn_core.text.atomic_write import write_whole

LONGEST = 20_000  # characters of a note
FORMAT = 1


@dataclass(frozen=True)
class Case:
    """An example of a task as a row of its file format, the page and query that show it, and a note with tags.

    `version` counts the changes, from 1; times are UTC, ISO 8601.
    """

    task: str
    row: dict
    note: str = ""
    tags: tuple[str, ...] = ()
    page: str = ""
    query: str = ""
    id: str = ""
    version: int = 0
    created: str = ""
    changed: str = ""


class _Base(DeclarativeBase):
    pass


class _Tag(_Base):
    __tablename__ = "tags"
    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(String(80), primary_key=True)


class _Case(_Base):
    __tablename__ = "cases"
    id: Mapped[str] = mapped_column(primary_key=True)
    task: Mapped[str]
    row: Mapped[str]
    texts: Mapped[str]  # of the row, without its field names: what a search looks through
    note: Mapped[str]
    page: Mapped[str]
    query: Mapped[str]
    version: Mapped[int]
    created: Mapped[str]
    changed: Mapped[str]
    tags: Mapped[list[_Tag]] = relationship(cascade="all, delete-orphan", lazy="selectin", order_by=_Tag.name)


def place() -> Path:
    """The path of the case book: TRIATTN_CASES, or `cases.sqlite` in the working directory."""
    return Path(os.environ.get("TRIATTN_CASES", "cases.sqlite"))


class CaseBook:
    """Reads and writes cases.  Raises CaseError, in one line, if the file is not a case book, or a case is missing or
    has changed since it was read."""

    def __init__(self, path: Path | None = None):
        self.path = Path(path or place())
        self._engine = _open(self.path)

    def keep(self, case: Case) -> Case:
        """Store a new case; returns it with its id."""
        now = _now()
        new = replace(case, id=uuid.uuid4().hex[:12], version=1, created=now, changed=now, tags=_tags(case.tags))
        with self._session() as session:
            session.add(_row(new))
        return new

    def get(self, id: str) -> Case:
        """One case."""
        with self._session() as session:
            return _case(self._find(session, id))

    def change(self, case: Case) -> Case:
        """Update note, tags, page and query of a case.

        Raises CaseError, with the current version as `now`, if it has been changed since it was read.
        """
        with self._session() as session:
            stored = self._find(session, case.id)
            if stored.version != case.version:
                problem = f"case {case.id} was changed meanwhile, at {stored.changed}: read it again"
                raise CaseError(problem, _case(stored))
            stored.note, stored.page, stored.query, stored.changed = _note(case.note), case.page, case.query, _now()
            names = _tags(case.tags)
            stored.tags = [tag for tag in stored.tags if tag.name in names]
            stored.tags += [_Tag(name=name) for name in names if name not in {tag.name for tag in stored.tags}]
            stored.version += 1
            return _case(stored)

    def drop(self, id: str) -> None:
        """Delete a case."""
        with self._session() as session:
            session.delete(self._find(session, id))

    def search(self, text: str = "", tags: Sequence[str] = (), task: str = "") -> list[Case]:
        """Cases of a task that contain all words (in note, tags or texts) and have all tags; last changed first."""
        query = select(_Case).order_by(_Case.changed.desc(), _Case.id)
        if task:
            query = query.where(_Case.task == task)
        for tag in tags:
            query = query.where(_Case.tags.any(_Tag.name == tag))
        for word in text.split():
            matches = [column.icontains(word, autoescape=True) for column in (_Case.note, _Case.texts)]
            query = query.where(or_(*matches, _Case.tags.any(_Tag.name.icontains(word, autoescape=True))))
        with self._session() as session:
            return [_case(row) for row in session.scalars(query)]

    def of(self, task: str, row: Mapping) -> list[Case]:
        """The cases of exactly this row, last changed first."""
        query = select(_Case).where(_Case.task == task, _Case.row == _dump(row)).order_by(_Case.changed.desc())
        with self._session() as session:
            return [_case(case) for case in session.scalars(query)]

    def tags(self) -> list[str]:
        """All tags in use."""
        with self._session() as session:
            return list(session.scalars(select(_Tag.name).distinct().order_by(_Tag.name)))

    def lines(self) -> list[str]:
        """All cases as JSON Lines."""
        return [json.dumps({"format": FORMAT, **vars(case)}, ensure_ascii=False) + "\n" for case in self.search()]

    def export(self, path: Path) -> int:
        """Write all cases to a file of JSON Lines; returns their number."""
        lines = self.lines()
        try:
            write_whole(Path(path), "".join(lines))
        except DataError as error:
            raise CaseError(str(error)) from None
        return len(lines)

    def load(self, rows: Iterable[tuple[str, dict]]) -> tuple[int, int]:
        """Import what `export` wrote, as ("file:line", row); returns (number added, number already present).

        A case that is present with other content is added under a new id.  If any row is not a case, none is imported.
        """
        added = known = 0
        for case in [_read(row, where) for where, row in rows]:
            with self._session() as session:
                stored = session.get(_Case, case.id)
                if stored is not None and _bare(_case(stored)) == _bare(case):
                    known += 1
                    continue
                session.add(_row(case if stored is None else replace(case, id=uuid.uuid4().hex[:12])))
                added += 1
        return added, known

    @contextmanager
    def _session(self) -> Iterator[Session]:
        try:
            with Session(self._engine, expire_on_commit=False) as session, session.begin():
                yield session
        except DatabaseError as error:
            raise CaseError(f"{self.path}: cannot be read or written as a case book ({error.orig})") from None

    def _find(self, session: Session, id: str) -> _Case:
        row = session.get(_Case, id)
        if row is None:
            raise CaseError(f"no case {id!r} in {self.path}")
        return row


def _open(path: Path) -> Engine:
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": 30})

    @event.listens_for(engine, "connect")
    def settings(connection, _) -> None:
        # The write lock is taken when a transaction begins, so that what was read in it cannot be old.
        connection.isolation_level = None
        for line in ("PRAGMA journal_mode=WAL", "PRAGMA foreign_keys=ON", "PRAGMA synchronous=NORMAL"):
            connection.execute(line)

    @event.listens_for(engine, "begin")
    def begin(connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    try:
        _Base.metadata.create_all(engine)
    except DatabaseError as error:
        raise CaseError(f"{path}: cannot be read or written as a case book ({error.orig})") from None
    return engine


def _now() -> str:
    # Microseconds: two cases kept within one millisecond must still have an order.
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _bare(case: Case) -> Case:
    return replace(case, version=0, changed="")


def _note(note: str) -> str:
    if len(note) > LONGEST:
        raise CaseError(f"a note has at most {LONGEST:,} characters, this one has {len(note):,}: shorten it")
    return note


def _tags(tags: Iterable[str]) -> tuple[str, ...]:
    names = sorted({" ".join(tag.split())[:80] for tag in tags})
    return tuple(tag for tag in names if tag)


def _row(case: Case) -> _Case:
    fields = {name: value for name, value in vars(case).items() if name not in ("row", "tags", "note")}
    tags = [_Tag(name=name) for name in case.tags]
    return _Case(**fields, row=_dump(case.row), texts="\n".join(texts(case.row)), note=_note(case.note), tags=tags)


def _dump(row: Mapping) -> str:
    return json.dumps(row, ensure_ascii=False, sort_keys=True)


def texts(value: object) -> Iterator[str]:
    """All texts in a row, without its field names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)


def _case(stored: _Case) -> Case:
    names = ("task", "note", "page", "query", "id", "version", "created", "changed")
    tags = tuple(sorted(tag.name for tag in stored.tags))
    return Case(**{name: getattr(stored, name) for name in names}, row=json.loads(stored.row), tags=tags)


def _read(row: dict, where: str) -> Case:
    try:
        types = {"task": str, "note": str, "page": str, "query": str, "id": str, "created": str, "changed": str}
        if row["format"] != FORMAT or not isinstance(row["row"], dict) or type(row["version"]) is not int:
            raise ValueError
        texts = {name: row[name] for name, type_ in types.items() if isinstance(row[name], type_)}
        return Case(**texts, row=row["row"], version=row["version"], tags=_tags(map(str, row["tags"])))
    except (KeyError, TypeError, ValueError):
        raise CaseError(f"{where}: not a case as `triattn book export` writes it") from None
