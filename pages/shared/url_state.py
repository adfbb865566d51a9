"""The URL is the state: every choice is a widget bound to a query parameter of the same name.

Streamlit drops a value it cannot use from the URL without a word; these pickers say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shared.errors import notice
from triattn_core.errors import choices, quote
from triattn_core.trace import Choice
from triattn_core.trace.site import Site

DEFAULTS = "defaults"  # in the session: of each picker the value that it opened on in the run before


def pick(
    label: str,
    options: Sequence[Any],
    key: str,
    default: int = 0,
    show: Callable[[Any], str] = str,
    why: Callable[[str], str] = lambda text: "",
    **widget_options,
) -> Any:
    """A selectbox in the URL. `show` gives an option its text in box and URL. Needs at least one option.

    why: the reason why a text in the link is not an option, "" without one.
    """
    validate_url(label, options, key, default, show, why)
    return st.selectbox(label, options, default, show, key=key, bind="query-params", **widget_options)


def segments(
    label: str, options: Sequence[Any], key: str, default: int = 0, show: Callable[[Any], str] = str, **widget_options
) -> Any:
    """A segmented control in the URL, with always one chosen."""
    validate_url(label, options, key, default, show)
    choice = st.segmented_control(
        label,
        options,
        default=options[default],
        required=True,
        format_func=show,
        key=key,
        bind="query-params",
        **widget_options,
    )
    return options[default] if choice is None else choice


def several(label: str, options: Sequence[str], default: Sequence[str], key: str) -> list[str]:
    """Pills of which any number may be chosen, in the URL; a name in the link that is none of them is said."""
    _say_unknown(label, options, key)
    chosen = st.pills(label, options, selection_mode="multi", default=default, key=key, bind="query-params")
    return [name for name in options if name in chosen]


def some(label: str, numbers: Sequence[int], key: str, **widget_options) -> list[int]:
    """A box of any of these numbers, in the URL, also as `--set` has them, 1,3; empty where all are meant."""
    names = list(map(str, numbers))
    forget(key)
    if "," in st.query_params.get(key, "") and key not in st.session_state:
        st.query_params[key] = st.session_state[key] = st.query_params[key].split(",")
    _say_unknown(label, names, key)
    if key in st.session_state:  # of another model, which had more
        st.session_state[key] = [name for name in st.session_state[key] if name in names]
    chosen = st.multiselect(label, names, key=key, bind="query-params", placeholder="every", **widget_options)
    return [number for number in numbers if str(number) in chosen]


def _say_unknown(label: str, options: Sequence[str], key: str) -> None:
    """Says which name of the link is none of the options."""
    forget(key)
    unknown = [name for name in st.query_params.get_all(key) if name not in options]
    if unknown and key not in st.session_state:
        hint = choices(unknown[0], options)
        notice(f"The link asks for {label.lower()} {quote(unknown[0])}; {hint}{'' if hint.endswith('?') else '.'}")


def number(label: str, low: int, high: int, default: int, key: str, **widget_options) -> int:
    """A whole number in the URL."""
    forget(key)
    linked, current = st.query_params.get(key), st.session_state.get(key)
    if linked is not None and current is None and not _is_within(linked, low, high):
        bounds = f"a number from {low:,} to {high:,}"
        notice(f"The link asks for {label.lower()} {quote(linked)}; expected {bounds}. Shown instead: {default:,}.")
        drop(key)
    elif current is not None and is_first_run() and linked is None:
        carry(key, current, None if current == default else str(current))
    try:
        return int(st.number_input(label, low, high, default, key=key, bind="query-params", **widget_options))
    except OverflowError:  # a link of more digits than Streamlit reads
        return default


def _is_within(text: str, low: int, high: int) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10 and low <= int(text) <= high


def toggle(label: str, key: str) -> bool:
    """A toggle in the URL, off by default."""
    forget(key)
    if st.session_state.get(key) and is_first_run() and key not in st.query_params:
        carry(key, True, "true")
    return st.toggle(label, key=key, bind="query-params")


def direction(names: Mapping[str, str], default: int = 0) -> str:
    """Which way the attention runs; of long names a list, so that the row stays one."""
    if max(map(len, names)) > 10:
        return pick("Direction", list(names), "direction", default, width=160)
    return segments("Direction", list(names), "direction", default)


def site(direction: str, layers: int, heads: int, opens: Callable[[int], int | None] | None = None) -> Choice:
    """The pickers of layer, head and quantity: a site of a trace, and what is done to its heads.

    opens: of a layer the head that is shown where none was chosen, both from 0; without it their mean.
    """
    layer = segments("Layer", list(range(1, layers + 1)), "layer", default=0)
    first = None if opens is None else opens(layer - 1)
    head = pick("Head", ["mean", *range(1, heads + 1)], "head", 0 if first is None else first + 1, width=84)
    quantity = segments("Quantity", ["weight", "relevance"], "quantity")
    chosen = Site(layer=layer - 1, role=direction, quantity=quantity)
    if head == "mean":
        return Choice(chosen, reduce=(("head", "mean"),))
    return Choice(chosen, index=(("head", head - 1),))


def selected_row(key: str) -> int | None:
    """The row of a table that was just selected, by its box or by any of its cells."""
    selection = st.session_state[key]["selection"]
    rows = [row for row, _ in selection.get("cells", [])] or selection["rows"]
    return rows[-1] if rows else None


def mark(key: str, row: int | None) -> None:
    """Before a table is made: its chosen row."""
    st.session_state[key] = {"selection": {"rows": [] if row is None else [row], "columns": [], "cells": []}}


def steps(parameter: str, values: Sequence[Any], now: Any) -> None:
    """Shows buttons to the previous and the next row, as keys do not move a table's selection.  values: of the rows in
    the URL."""
    row = list(values).index(now)
    with st.container(horizontal=True, key=f"steps-{parameter}"):
        for label, to in (("Previous", row - 1), ("Next", row + 1)):
            exists = 0 <= to < len(values)
            value = str(values[to]) if exists else ""
            options = {"key": f"{label}-{parameter}", "width": 92, "disabled": not exists}
            st.button(label, **options, on_click=_go, args=(parameter, value))


def _go(parameter: str, value: str) -> None:
    st.query_params[parameter] = value


def validate_url(
    label: str,
    options: Sequence[Any],
    key: str,
    default: int,
    show: Callable[[Any], str],
    why: Callable[[str], str] = lambda linked: "",
) -> None:
    """Reports an invalid URL value and replaces a choice that is no longer an option; call it before the widget."""
    forget(key)
    linked, texts = st.query_params.get(key), [show(option) for option in options]
    if linked is not None and linked not in texts and key not in st.session_state:
        hint = why(linked) or choices(linked, texts)
        hint += "" if hint.endswith("?") else "."
        notice(f"The link asks for {label.lower()} {quote(linked)}; {hint} Shown instead: {texts[default]}.")
        if not linked:  # Streamlit would take it for no choice at all
            drop(key)
    _follow_default(key, options[default])
    current = st.session_state.get(key)
    if key in st.session_state and current not in options:
        # The same by name, such as a checkpoint measured anew; deleting it would leave the old choice on the screen.
        matches = [option for option, text in zip(options, texts) if current is not None and text == show(current)]
        st.session_state[key] = matches[0] if matches else options[default]
    elif key in st.session_state and is_first_run() and key not in st.query_params:
        carry(key, current, None if current == options[default] else show(current))


def _follow_default(key: str, default: Any) -> None:
    """Replaces a value that nobody chose where another text has another default: what the link leaves out is always
    the default, so that a copied link restores what was seen."""
    defaults = st.session_state.setdefault(DEFAULTS, {})
    before, defaults[key] = defaults.get(key, default), default
    unpinned = key in st.session_state and key not in st.query_params and st.session_state[key] == before
    if unpinned and before != default and not is_first_run():
        st.session_state[key] = default


def drop(key: str) -> None:
    """Takes a parameter out of the link; one of a widget, which Streamlit lets nobody take out, goes with it."""
    with suppress(StreamlitAPIException):
        st.query_params.pop(key, None)


def arrive() -> None:
    """At the top of each page: notes whether the user has just come to it."""
    context = get_script_run_ctx()
    page = context.page_script_hash if context else ""
    st.session_state["arrived"] = st.session_state.get("page") != page
    if is_first_run():
        st.session_state["page"], st.session_state["visit"] = page, st.session_state.get("visit", 0) + 1


def is_first_run() -> bool:
    """Whether this is the page's first run since the user came to it."""
    return bool(st.session_state.get("arrived"))


def recall(key: str, value: Any) -> None:
    """Before the widget is made: what it is set to when the user comes back, unless a link or a page says another."""
    forget(key)
    if is_first_run() and key not in st.query_params and key not in st.session_state:
        st.session_state[key] = value


def forget(key: str) -> None:
    """Drops the value of a key that is older than the previous page, so that a clicked link takes precedence."""
    seen, visit = st.session_state.setdefault("seen", {}), st.session_state.get("visit", 0)
    if is_first_run() and key in st.session_state and seen.get(key) not in (visit, visit - 1):
        del st.session_state[key]
    seen[key] = visit


def carry(key: str, value: Any, text: str | None) -> None:
    """What was chosen under the same key on the page that was left holds here too, in the URL as well.

    Streamlit drops the values and the parameters of the widgets of that page, even those of a link that was clicked.
    """
    st.session_state[key] = value
    if text is not None:
        with suppress(StreamlitAPIException):
            st.query_params[key] = text
