"""The case book: examples with a note and tags, in one SQLite file, or a team's PostgreSQL, for pages, command line and
notebooks.

Concurrent edits lose nothing: a change names the version that it was made from, and is refused, with the current
version, if the case has changed since.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import or_, select
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from triattn_core.case_book.case import FORMAT, Case, check_note, clean_tags, read_case
from triattn_core.case_book.tables import CaseRow, TagRow, dump_row, from_row, name_of, open_engine, to_row
from triattn_core.errors import CaseError, DataError
from triattn_core.text.atomic_write import write_whole


def place() -> Path | str:
    """Where the case book is: the path or database URL in TRIATTN_CASES, or `cases.sqlite` in the working directory."""
    return as_place(os.environ.get("TRIATTN_CASES", "cases.sqlite"))


def as_place(text: str) -> Path | str:
    """A database URL, such as `postgresql+psycopg://user:password@host/name`, or the path of a SQLite file."""
    return text if "://" in text else Path(text)


class CaseBook:
    """Reads and writes cases.  Raises CaseError, in one line, if the file or database is not a case book, or a case is
    missing or has changed since it was read.

    path: of a SQLite file, or a database URL; by default `place()`.
    """

    def __init__(self, path: Path | str | None = None):
        self._engine = open_engine(as_place(str(path or place())))
        self.path = name_of(self._engine)

    def keep(self, case: Case) -> Case:
        """Store a new case; returns it with its id."""
        now = _now()
        new = replace(case, id=uuid.uuid4().hex[:12], version=1, created=now, changed=now, tags=clean_tags(case.tags))
        with self._session() as session:
            session.add(to_row(new))
        return new

    def get(self, id: str) -> Case:
        """One case."""
        with self._session() as session:
            return from_row(self._find(session, id))

    def change(self, case: Case) -> Case:
        """Update note, tags, page and query of a case.

        Raises CaseError, with the current version as `now`, if it has been changed since it was read.
        """
        with self._session() as session:
            stored = self._find(session, case.id)
            if stored.version != case.version:
                problem = f"case {case.id} was changed meanwhile, at {stored.changed}: read it again"
                raise CaseError(problem, from_row(stored))
            stored.note, stored.page, stored.query, stored.changed = (
                check_note(case.note),
                case.page,
                case.query,
                _now(),
            )
            names = clean_tags(case.tags)
            stored.tags = [tag for tag in stored.tags if tag.name in names]
            stored.tags += [TagRow(name=name) for name in names if name not in {tag.name for tag in stored.tags}]
            stored.version += 1
            return from_row(stored)

    def drop(self, id: str) -> None:
        """Delete a case."""
        with self._session() as session:
            session.delete(self._find(session, id))

    def search(self, text: str = "", tags: Sequence[str] = (), task: str = "") -> list[Case]:
        """Cases of a task that contain all words (in note, tags or texts) and have all tags; last changed first."""
        query = select(CaseRow).order_by(CaseRow.changed.desc(), CaseRow.id)
        if task:
            query = query.where(CaseRow.task == task)
        for tag in tags:
            query = query.where(CaseRow.tags.any(TagRow.name == tag))
        for word in text.split():
            matches = [column.icontains(word, autoescape=True) for column in (CaseRow.note, CaseRow.texts)]
            query = query.where(or_(*matches, CaseRow.tags.any(TagRow.name.icontains(word, autoescape=True))))
        with self._session() as session:
            return [from_row(row) for row in session.scalars(query)]

    def of(self, task: str, row: Mapping) -> list[Case]:
        """The cases of exactly this row, last changed first."""
        query = (
            select(CaseRow).where(CaseRow.task == task, CaseRow.row == dump_row(row)).order_by(CaseRow.changed.desc())
        )
        with self._session() as session:
            return [from_row(case) for case in session.scalars(query)]

    def tags(self) -> list[str]:
        """All tags in use."""
        with self._session() as session:
            return list(session.scalars(select(TagRow.name).distinct().order_by(TagRow.name)))

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
        num_added = num_existing = 0
        for case in [read_case(row, where) for where, row in rows]:
            with self._session() as session:
                stored = session.get(CaseRow, case.id)
                if stored is not None and _bare(from_row(stored)) == _bare(case):
                    num_existing += 1
                    continue
                session.add(to_row(case if stored is None else replace(case, id=uuid.uuid4().hex[:12])))
                num_added += 1
        return num_added, num_existing

    @contextmanager
    def _session(self) -> Iterator[Session]:
        try:
            with Session(self._engine, expire_on_commit=False) as session, session.begin():
                yield session
        except DatabaseError as error:
            raise CaseError(f"{self.path}: cannot be read or written as a case book ({error.orig})") from None

    def _find(self, session: Session, id: str) -> CaseRow:
        row = session.get(CaseRow, id, with_for_update=True)  # SQLite has its write lock already
        if row is None:
            raise CaseError(f"no case {id!r} in {self.path}")
        return row


def _now() -> str:
    # Microseconds: two cases kept within one millisecond must still have an order.
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _bare(case: Case) -> Case:
    return replace(case, version=0, changed="")
