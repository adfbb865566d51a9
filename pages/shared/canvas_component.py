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
from triattn_core.errors import quote
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


UNFOLDED = "special-listed"  # in the URL: whether a list of cells has those with special tokens


def show(canvas: Canvas, key: str, note: bool = True, costed: str = "") -> Any:
    """Draws the figure, with `note` also its description; returns what was sent from it (`host.send("cell", …)`).

    A figure keeps its selection as long as its `key` stays: make the key from the texts, never from the settings.
    costed: what costs are, where `send_costs` will say what single weights are worth.
    """
    unfolded = st.query_params.get(UNFOLDED) == "true"
    extra = {"costed": costed, "unfolded": unfolded} if "inspector" in canvas.payload else {}
    data = {"key": key, "payload": {**canvas.payload, **extra}}
    changes = {"on_cell_change": _ignore, "on_unfolded_change": partial(_unfold, key)}
    selection = _figure(canvas.script, canvas.style)(key=key, data=data, **changes).cell
    if note:
        figures.note(canvas.alt)
    return selection


def _unfold(key: str) -> None:
    if st.session_state[key].get("unfolded"):
        st.query_params[UNFOLDED] = "true"
    else:
        url_state.drop(UNFOLDED)


def send_costs(key: str, stamp: str, costs: Mapping[Sequence[int], float]) -> None:
    """Tells the figure with this key what the answer loses without single weights, by cell."""
    sent = [[list(cell), cost] for cell, cost in costs.items()]
    _answer(key=f"{key}-costs-answer", data={"key": f"{key}-costs", "stamp": stamp, "costs": sent}, height=1)


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


def cell(key: str, clicked: Sequence[int] | None, axes: Sequence[Sequence[int]], first: Sequence[int]) -> list[int]:
    """The chosen cell: the clicked one, else the one in the URL (`cell=3.1.7`), else the first.

    Writes a click into the URL, and removes the parameter when the texts change; shows a notice if the link names no
    cell of this figure.
    axes: the positions of each axis.
    """
    if st.session_state.setdefault("cell-figure", key) != key:
        st.session_state["cell-figure"] = key
        if not url_state.is_first_run():  # a link that was followed here names its own cell
            url_state.drop("cell")
    link = st.query_params.get("cell", "")
    if clicked is not None:
        clicked_cell = [int(i) for i in clicked]
    else:
        clicked_cell = [int(i) if i.isdecimal() and len(i) < 6 else -1 for i in link.split(".")]
    if len(clicked_cell) != len(axes) or not all(i in axis for i, axis in zip(clicked_cell, axes)):
        if link and clicked is None:
            _warn_no_such_cell(link, axes, first)
        return list(first)
    if clicked is not None:
        st.query_params["cell"] = _join_cell(clicked_cell)
    return clicked_cell


def second_cell(key: str, parameter: str, axes: Sequence[Sequence[int]]) -> list[int] | None:
    """The cell that was chosen in a second figure of a page, by a click or in the URL; None where there is none.

    parameter: its name in the URL, from which it goes when the figure becomes another.
    """
    if st.session_state.setdefault(f"{parameter}-figure", key) != key:
        st.session_state[f"{parameter}-figure"] = key
        if not url_state.is_first_run():
            url_state.drop(parameter)
    clicked = (st.session_state.get(key) or {}).get("cell")
    link = st.query_params.get(parameter, "").split(".")
    chosen = [int(i) for i in clicked] if clicked else [int(i) if i.isdecimal() and len(i) < 6 else -1 for i in link]
    if len(chosen) != len(axes) or not all(i in axis for i, axis in zip(chosen, axes)):
        url_state.drop(parameter)
        return None
    st.query_params[parameter] = _join_cell(chosen)
    return chosen


def _warn_no_such_cell(link: str, axes: Sequence[Sequence[int]], first: Sequence[int]) -> None:
    """Shows a notice, once per visit, that a link names no cell of this figure."""
    visit = st.session_state.get("visit")
    if (
        not url_state.is_first_run() or st.session_state.get("bad-cell-visit") == visit
    ):  # in a fragment the first run goes on
        return
    st.session_state["bad-cell-visit"] = visit
    ends = [_join_cell([end(axis) for axis in axes]) for end in (min, max)]
    hint = f"a cell here is {len(axes)} numbers, from {ends[0]} to {ends[1]}"
    notice(f"The link asks for cell {quote(link)}; {hint}. Shown instead: {_join_cell(first)}.")


def _join_cell(cell: Sequence[int]) -> str:
    return ".".join(map(str, cell))


def carry_cell(key: str, pair: str, direction: str, turned: Callable[[list[int]], list[int]]) -> None:
    """Carries the chosen cell over to the other direction, converted by `turned`.

    key: of the figure in this direction; pair: the same for both.  Call it before `cell`, and `remember_cell` after.
    """
    last = st.session_state.get("last-cell")
    if last and last["pair"] == pair and last["way"] != direction and not url_state.is_first_run():
        carry_to(key, turned(last["cell"]))


def carry_to(key: str, position: Sequence[int]) -> None:
    """The next figure with this key opens on this cell."""
    st.session_state["cell-figure"] = key  # the parameter is this figure's
    st.query_params["cell"] = _join_cell(position)


def remember_cell(pair: str, direction: str, position: Sequence[int]) -> None:
    """Stores the chosen cell for `carry_cell`."""
    st.session_state["last-cell"] = {"pair": pair, "way": direction, "cell": list(position)}


def answer(key: str, content: Mapping) -> None:
    """Sends `content` to the figure with this key; a masked score (not finite) becomes null."""
    numbers = {name: value if isfinite(value) else None for name, value in content.get("numbers", {}).items()}
    extra = {"numbers": numbers} if numbers else {}
    _answer(key=f"{key}-answer", data={"key": key, **content, **extra}, height=1)


def _ignore() -> None:
    """A choice is read from the component's state: its callback has nothing to do."""
