"""A Canvas as a Streamlit component: the figure is sent once, choices come back, exact numbers follow on their own.

The figure's message does not change on a click, so it is neither sent nor drawn anew; the answer is a message of a few
hundred bytes that the drawing script hears as a window event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from math import isfinite
from typing import Any

import streamlit as st

from pages.shared import figures, url_state
from pages.shared.errors import notice
from triattn_core.views.lib.canvas import Canvas

_MOUNT = """
export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".triattn-root");
  if (data.once) {  // text and buttons of its own, no drawing: the sentence is the name of the group
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", data.payload.alt);
  }
  return mount(root, data.payload, { key: data.key, send: data.once ? setTriggerValue : setStateValue });
}
"""
_ANSWER = """
export default function ({ data }) {
  (window.triattnExact ??= {})[data.key] = data;
  window.dispatchEvent(new Event("triattn-exact"));
}
"""
_answer = st.components.v2.component("triattn_answer", js=_ANSWER)


@cache
def _figure(script: str, style: str):
    """One component for each script: its name is the script's digest."""
    name = "triattn_" + sha256((script + style).encode()).hexdigest()[:12]
    return st.components.v2.component(name, html='<div class="triattn-root"></div>', css=style, js=script + _MOUNT)


def show(canvas: Canvas, key: str) -> Any:
    """Draws the figure and the sentence that says it; returns what was chosen in it (`host.send("cell", …)`), or None.

    A figure keeps what was chosen for as long as its `key` stays: make the key from the texts, never from the settings.
    """
    data = {"key": key, "payload": dict(canvas.payload)}
    chosen = _figure(canvas.script, canvas.style)(key=key, data=data, on_cell_change=_ignore).cell
    figures.note(canvas.alt)
    return chosen


def show_choosable(canvas: Canvas, key: str, **then: Callable[[Any], None]) -> None:
    """Draws a figure that asks: a click (`host.send("option", 3)`) calls `then["option"](3)`, then the page runs."""
    callbacks = {f"on_{name}_change": partial(_send_choice, key, name, run) for name, run in then.items()}
    data = {"key": key, "payload": dict(canvas.payload), "once": True}
    _figure(canvas.script, canvas.style)(key=key, data=data, **callbacks)


def _send_choice(key: str, name: str, run: Callable[[Any], None]) -> None:
    value = st.session_state[key].get(name)
    if value is not None:
        run(value)


def key(*parts: str) -> str:
    """The key of a figure: the same for the same texts."""
    return "figure-" + sha256("\0".join(parts).encode()).hexdigest()[:12]


def cell(key: str, chosen: Sequence[int] | None, known: Sequence[Sequence[int]], first: Sequence[int]) -> list[int]:
    """The chosen cell: what was clicked, else what the URL asks for (`cell=3.1.7`), else the first.

    Writes a click into the URL, and takes the parameter out when other texts come to a page; says it where a link that
    was followed here names no cell of this figure.
    known: the positions of each axis.
    """
    if st.session_state.setdefault("cell_of", key) != key:
        st.session_state["cell_of"] = key
        if not url_state.is_first_run():  # a link that was followed here names its own cell
            st.query_params.pop("cell", None)
    link = st.query_params.get("cell", "")
    if chosen is not None:
        asked = [int(i) for i in chosen]
    else:
        asked = [int(i) if i.isdecimal() and len(i) < 6 else -1 for i in link.split(".")]
    if len(asked) != len(known) or not all(i in axis for i, axis in zip(asked, known)):
        if link and chosen is None:
            _warn_no_such_cell(link, known, first)
        return list(first)
    if chosen is not None:
        st.query_params["cell"] = _join_cell(asked)
    return asked


def _warn_no_such_cell(link: str, known: Sequence[Sequence[int]], first: Sequence[int]) -> None:
    """Says, once a visit, that a link names no cell of this figure."""
    visit = st.session_state.get("visit")
    if (
        not url_state.is_first_run() or st.session_state.get("cell_unfit") == visit
    ):  # in a fragment the first run goes on
        return
    st.session_state["cell_unfit"] = visit
    link = link if len(link) <= 60 else link[:60] + "…"
    ends = [_join_cell([end(axis) for axis in known]) for end in (min, max)]
    hint = f"a cell here is {len(known)} numbers, from {ends[0]} to {ends[1]}"
    notice(f"The link asks for cell {link!r}; {hint}. Shown instead: {_join_cell(first)}.")


def _join_cell(cell: Sequence[int]) -> str:
    return ".".join(map(str, cell))


def carry_cell(key: str, pair: str, direction: str, turned: Callable[[list[int]], list[int]]) -> None:
    """What was looked at in one direction is looked at in the other: the cell goes on, as `turned` gives it.

    key: of the figure in this direction; pair: the same for both.  Call it before `cell`, and `remember_cell` after.
    """
    last = st.session_state.get("cell_at")
    if last and last["pair"] == pair and last["way"] != direction and not url_state.is_first_run():
        carry_to(key, turned(last["cell"]))


def carry_to(key: str, at: Sequence[int]) -> None:
    """The next figure with this key opens on this cell."""
    st.session_state["cell_of"] = key  # the parameter is this figure's
    st.query_params["cell"] = _join_cell(at)


def remember_cell(pair: str, direction: str, at: Sequence[int]) -> None:
    """Says where the reader stands, for `carry_cell`."""
    st.session_state["cell_at"] = {"pair": pair, "way": direction, "cell": list(at)}


def answer(key: str, content: Mapping) -> None:
    """Hands `content` to the figure with this key; a masked score is no number, and goes as null: JSON has no other."""
    numbers = {name: value if isfinite(value) else None for name, value in content.get("numbers", {}).items()}
    more = {"numbers": numbers} if numbers else {}
    _answer(key=f"{key}-answer", data={"key": key, **content, **more}, height=1)


def _ignore() -> None:
    """A choice is read from the component's state: its callback has nothing to do."""
