"""One clear message in place of a program's trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from triattn_core.errors import TriattnError

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!~|$:])")


def plain(text: str) -> str:
    """Text that Markdown shows as it is: a message may quote what a user typed or a URL says."""
    return _MARKDOWN.sub(r"\\\1", text)


@contextmanager
def shown(stop: bool = True) -> Iterator[None]:
    """Shows a TriattnError as one message; then the page ends, or goes on after the block where `stop` is False."""
    try:
        yield
    except TriattnError as error:
        st.error(plain(str(error)))
        if stop:
            st.stop()
