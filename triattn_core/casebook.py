"""The case book: examples worth keeping, with a note and tags.  One SQLite file for pages, command line and notebooks.

Two people who write at once lose nothing: a change names the version it was made from, and a change to a case that has
moved on meanwhile is refused with what stands there now.
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
    """An example of a task as a row of its file format, where to look at it (a page and its query), and what to say.

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
    """Where the case book lies: TRIATTN_CASES, or `cases.sqlite` where triattn was started."""
    return Path(os.environ.get("TRIATTN_CASES", "cases.sqlite"))


class CaseBook:
    """Raises CaseError in one line where the file is no case book, or a case is not there or has moved on."""

    def __init__(self, path: Path | None = None):
        self.path = Path(path or place())
        self._engine = _open(self.path)

    def keep(self, case: Case) -> Case:
        """A new case; returns it with its id."""
        now = _now()
        kept = replace(case, id=uuid.uuid4().hex[:12], version=1, created=now, changed=now, tags=_tags(case.tags))
        with self._session() as session:
            session.add(_row(kept))
        return kept

    def get(self, id: str) -> Case:
        """One case."""
        with self._session() as session:
            return _case(self._find(session, id))

    def change(self, case: Case) -> Case:
        """Writes note, tags, page and query of a case that was read before.

        Raises CaseError, with what stands there now as `now`, where another has changed it since.
        """
        with self._session() as session:
            found = self._find(session, case.id)
            if found.version != case.version:
                said = f"case {case.id} was changed meanwhile, at {found.changed}: read it again"
                raise CaseError(said, _case(found))
            found.note, found.page, found.query, found.changed = _note(case.note), case.page, case.query, _now()
            names = _tags(case.tags)
            found.tags = [tag for tag in found.tags if tag.name in names]
            found.tags += [_Tag(name=name) for name in names if name not in {tag.name for tag in found.tags}]
            found.version += 1
            return _case(found)

    def drop(self, id: str) -> None:
        """Takes a case out."""
        with self._session() as session:
            session.delete(self._find(session, id))

    def search(self, text: str = "", tags: Sequence[str] = (), task: str = "") -> list[Case]:
        """Cases that have all words in note, tags or texts, all tags, and the task; the last changed first."""
        asked = select(_Case).order_by(_Case.changed.desc(), _Case.id)
        if task:
            asked = asked.where(_Case.task == task)
        for tag in tags:
            asked = asked.where(_Case.tags.any(_Tag.name == tag))
        for word in text.split():
            has = [column.icontains(word, autoescape=True) for column in (_Case.note, _Case.texts)]
            asked = asked.where(or_(*has, _Case.tags.any(_Tag.name.icontains(word, autoescape=True))))
        with self._session() as session:
            return [_case(found) for found in session.scalars(asked)]

    def of(self, task: str, row: Mapping) -> list[Case]:
        """The cases of just this row, the last changed first."""
        asked = select(_Case).where(_Case.task == task, _Case.row == _dumped(row)).order_by(_Case.changed.desc())
        with self._session() as session:
            return [_case(found) for found in session.scalars(asked)]

    def tags(self) -> list[str]:
        """All tags in use."""
        with self._session() as session:
            return list(session.scalars(select(_Tag.name).distinct().order_by(_Tag.name)))

    def lines(self) -> list[str]:
        """All cases as JSON Lines."""
        return [json.dumps({"format": FORMAT, **vars(case)}, ensure_ascii=False) + "\n" for case in self.search()]

    def export(self, path: Path) -> int:
        """All cases as a file of JSON Lines; returns how many."""
        lines = self.lines()
        try:
            write_whole(Path(path), "".join(lines))
        except DataError as error:
            raise CaseError(str(error)) from None
        return len(lines)

    def load(self, rows: Iterable[tuple[str, dict]]) -> tuple[int, int]:
        """Takes in what `export` wrote, as ("file:line", row): how many are new, and how many were here already.

        A case that is here in another state stands beside the old one under a new id.  Where one is no case, none is
        taken in.
        """
        new = same = 0
        for case in [_read(row, where) for where, row in rows]:
            with self._session() as session:
                here = session.get(_Case, case.id)
                if here is not None and _bare(_case(here)) == _bare(case):
                    same += 1
                    continue
                session.add(_row(case if here is None else replace(case, id=uuid.uuid4().hex[:12])))
                new += 1
        return new, same

    @contextmanager
    def _session(self) -> Iterator[Session]:
        try:
            with Session(self._engine, expire_on_commit=False) as session, session.begin():
                yield session
        except DatabaseError as error:
            raise CaseError(f"{self.path}: cannot be read or written as a case book ({error.orig})") from None

    def _find(self, session: Session, id: str) -> _Case:
        found = session.get(_Case, id)
        if found is None:
            raise CaseError(f"no case {id!r} in {self.path}")
        return found


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
    found = sorted({" ".join(tag.split())[:80] for tag in tags})
    return tuple(tag for tag in found if tag)


def _row(case: Case) -> _Case:
    plain = {name: one for name, one in vars(case).items() if name not in ("row", "tags", "note")}
    tags = [_Tag(name=name) for name in case.tags]
    return _Case(**plain, row=_dumped(case.row), texts="\n".join(texts(case.row)), note=_note(case.note), tags=tags)


def _dumped(row: Mapping) -> str:
    return json.dumps(row, ensure_ascii=False, sort_keys=True)


def texts(value: object) -> Iterator[str]:
    """All texts in a row, without its field names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts(one)


def _case(found: _Case) -> Case:
    names = ("task", "note", "page", "query", "id", "version", "created", "changed")
    tags = tuple(sorted(tag.name for tag in found.tags))
    return Case(**{name: getattr(found, name) for name in names}, row=json.loads(found.row), tags=tags)


def _read(row: dict, where: str) -> Case:
    try:
        kinds = {"task": str, "note": str, "page": str, "query": str, "id": str, "created": str, "changed": str}
        if row["format"] != FORMAT or not isinstance(row["row"], dict) or type(row["version"]) is not int:
            raise ValueError
        texts = {name: row[name] for name, kind in kinds.items() if isinstance(row[name], kind)}
        return Case(**texts, row=row["row"], version=row["version"], tags=_tags(map(str, row["tags"])))
    except (KeyError, TypeError, ValueError):
        raise CaseError(f"{where}: not a case as `triattn book export` writes it") from None
