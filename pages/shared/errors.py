"""One clear message in place of a program's trace, and one place for it: under the heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from triattn_core.errors import TriattnError

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!~|$:])")
# Three parts or more, at the beginning of a word, with no blank in it but the one in a name such as "small (2)".
_ABSOLUTE = re.compile(r"((?:^|[\s(\"'`:=]))(?:/[^\s/:'\"]+(?: \(\d+\))?)+/([^\s/:'\"]+/[^\s/:'\",;)]+)")
_place: ContextVar[DeltaGenerator | None] = ContextVar("place of notices", default=None)


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is: a message may quote what a user typed or a URL says."""
    return _MARKDOWN.sub(r"\\\1", without_folders(text))


def without_folders(text: str) -> str:
    """A message without where folders lie on the server: of an absolute path its last two parts."""
    return _ABSOLUTE.sub(r"\1…/\2", text)


def open_notices() -> None:
    """Keeps a place for the notices of this run."""
    _place.set(st.container())


def notice(text: str) -> None:
    """Something the user should know, under the heading; in place where a fragment runs alone."""
    (_place.get() or st).info(escape_markdown(text))


@contextmanager
def report_errors(stop: bool = True) -> Iterator[None]:
    """Shows a TriattnError, or what the system says of a file, as one message; then the page ends, or goes on after the
    block where `stop` is False."""
    try:
        yield
    except (TriattnError, OSError) as error:
        text = str(error)
        if isinstance(error, OSError):  # a name too long for the system, no permission
            text = f"{str(error.filename or '')[:200]}: {error.strerror or error}".removeprefix(": ")
        st.error(escape_markdown(text))
        if stop:
            st.stop()
