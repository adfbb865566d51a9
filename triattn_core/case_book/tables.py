"""The tables of the case book in SQLite or PostgreSQL, and cases as their rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import Engine, ForeignKey, String, create_engine, event
from sqlalchemy.exc import ArgumentError, DatabaseError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from triattn_core.case_book.case import Case, check_note, texts
from triattn_core.errors import CaseError


class Base(DeclarativeBase):
    """Of all tables of a case book."""


class TagRow(Base):
    """A tag of a case."""

    __tablename__ = "tags"
    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(String(80), primary_key=True)


class CaseRow(Base):
    """A stored case."""

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
    tags: Mapped[list[TagRow]] = relationship(cascade="all, delete-orphan", lazy="selectin", order_by=TagRow.name)


def open_engine(place: Path | str) -> Engine:
    """The database at a path (SQLite) or URL, with its tables.  Raises CaseError: it is none, or cannot be written."""
    engine = _sqlite(place) if isinstance(place, Path) else _server(place)
    try:
        Base.metadata.create_all(engine)
    except DatabaseError as error:
        reason = str(error.orig).splitlines()[0]
        raise CaseError(f"{name_of(engine)}: cannot be read or written as a case book ({reason})") from None
    return engine


def name_of(engine: Engine) -> str:
    """The path, or the URL without its password."""
    path = engine.url.database if engine.dialect.name == "sqlite" else None
    return path or engine.url.render_as_string(hide_password=True)


def _sqlite(path: Path) -> Engine:
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

    return engine


def _server(url: str) -> Engine:
    try:
        return create_engine(url, pool_pre_ping=True)
    except (ArgumentError, ImportError):
        driver = url.partition("://")[0]
        raise CaseError(f"{driver}: no database of this kind can be used here; try postgresql+psycopg") from None


def to_row(case: Case) -> CaseRow:
    """Raises CaseError: the note is too long."""
    fields = {name: value for name, value in vars(case).items() if name not in ("row", "tags", "note")}
    tags = [TagRow(name=name) for name in case.tags]
    return CaseRow(
        **fields, row=dump_row(case.row), texts="\n".join(texts(case.row)), note=check_note(case.note), tags=tags
    )


def dump_row(row: Mapping) -> str:
    """JSON that is the same for equal rows."""
    return json.dumps(row, ensure_ascii=False, sort_keys=True)


def from_row(stored: CaseRow) -> Case:
    """The case that a row holds."""
    names = ("task", "note", "page", "query", "id", "version", "created", "changed")
    tags = tuple(sorted(tag.name for tag in stored.tags))
    return Case(**{name: getattr(stored, name) for name in names}, row=json.loads(stored.row), tags=tags)
