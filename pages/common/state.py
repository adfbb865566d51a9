"""The URL is the state: every choice is a widget bound to a query parameter of the same name.

Streamlit drops a value it cannot use from the URL without a word; these pickers say so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages.common.errors import notice
from triattn_core.errors import choices


def pick(
    label: str, options: Sequence[Any], key: str, default: int = 0, show: Callable[[Any], str] = str, **more
) -> Any:
    """A selectbox in the URL. `show` gives an option its text in box and URL. Needs at least one option."""
    settle(label, options, key, default, show)
    return st.selectbox(label, options, default, show, key=key, bind="query-params", **more)


def segments(
    label: str, options: Sequence[Any], key: str, default: int = 0, show: Callable[[Any], str] = str, **more
) -> Any:
    """A segmented control in the URL, with always one chosen."""
    settle(label, options, key, default, show)
    return st.segmented_control(
        label, options, default=options[default], required=True, format_func=show, key=key, bind="query-params", **more
    )


def settle(label: str, options: Sequence[Any], key: str, default: int, show: Callable[[Any], str]) -> None:
    """Before the widget is made: says what of the URL is of no use, and replaces a choice no longer offered."""
    asked, texts = st.query_params.get(key), [show(option) for option in options]
    if asked is not None and asked not in texts and key not in st.session_state:
        hint = choices(asked[:60], texts)
        hint += "" if hint.endswith("?") else "."
        asked = asked if len(asked) <= 60 else asked[:60] + "…"
        notice(f"The link asks for {label.lower()} {asked!r}; {hint} Shown instead: {texts[default]}.")
    current = st.session_state.get(key)
    if key in st.session_state and current not in options:
        # The same by name, such as a checkpoint measured anew; deleting it would leave the old choice on the screen.
        same = [option for option, text in zip(options, texts) if current is not None and text == show(current)]
        st.session_state[key] = same[0] if same else options[default]
