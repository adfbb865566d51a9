"""What is asked once in a run of a page: checkpoints and records on disk do not change while one page is drawn."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

KEY = "asked in this run"
Answer = TypeVar("Answer")


def begin() -> None:
    """Call it first in a run: what was asked in the run before is asked anew."""
    st.session_state[KEY] = {}


def once_a_run(function: Callable[..., Answer]) -> Callable[..., Answer]:
    """A function that returns in one run what it returned there first; outside of pages it is called each time.

    Its arguments must be hashable.  A click that runs a fragment alone belongs to the run that drew it.
    """

    @wraps(function)
    def ask(*arguments: Hashable) -> Answer:
        answers = st.session_state.get(KEY) if get_script_run_ctx(suppress_warning=True) else None
        if answers is None:
            return function(*arguments)
        key = (function, arguments)
        if key not in answers:
            answers[key] = function(*arguments)
        return answers[key]

    return ask
