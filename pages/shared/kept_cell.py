"""What is chosen in a figure when a text is edited: it stays on its tokens, as far as these are still there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

import streamlit as st

from pages.shared import canvas_component, url_state
from triattn_core.scenes.scene import Scene

KEY = "kept cell"  # in the session: figure, settings and tokens of the cell that was chosen last
UNKEPT = {"cell", "head", "option", "other", "edited", "part", "seeds", "titles"}  # settings that an edit may change
TOKENS = "kept tokens"  # in the session: the tokens of each picker that chooses among them
ALIKE = 0.5  # of the tokens of an axis, from which on a text counts as edited and not as another


def keep_cell(view: str, key: str, scene: Scene, question: str = "") -> None:
    """Puts a cell that somebody chose into the URL after an edit of a text; call it before the cell is read.  Where
    nobody chose one the figure opens anew, on the strongest of the new text.

    question: where another one is asked, the figure opens anew, at its answer.
    """
    last = st.session_state.get(KEY)
    if last is None or not last["pinned"] or last["key"] == key or last["question"] != question:
        return
    if url_state.is_first_run():
        return
    if (last["view"], last["settings"]) != (view, scene.settings.model_dump(exclude=UNKEPT)):
        return
    tokens = axis_tokens(scene)
    positions = [place(i, *pair) for i, pair in zip(last["cell"], zip(last["tokens"], tokens))]
    positions += last["cell"][len(positions) :]  # blocks, panels: their numbers stay
    if len(positions) == len(scene.axes) and all(i in axis for i, axis in zip(positions, scene.axes)):
        canvas_component.carry_to(key, positions)


def remember(view: str, key: str, scene: Scene, cell: Sequence[int], question: str = "") -> None:
    """Notes the cell that is chosen now."""
    settings = scene.settings.model_dump(exclude=UNKEPT)
    st.session_state[KEY] = {
        "view": view, "key": key, "settings": settings, "tokens": axis_tokens(scene), "cell": list(cell),
        "question": question, "pinned": "cell" in st.query_params,
    }  # fmt: skip


def keep_token(key: str, tokens: Mapping[int, str], first: int) -> None:
    """After an edit of a text, sets the token picker to the same token, else to the first; call it before the picker.

    key: of the picker, whose options are the positions of `tokens`; first: its default.
    """
    before = renew(key, tokens)
    if before is not None and key in st.session_state:
        picked = st.session_state[key]
        position = place(picked, before, tokens) if picked in before else None
        st.session_state[key] = first if position is None else position


def renew(name: str, tokens: Mapping[int, str]) -> Mapping[int, str] | None:
    """Notes the tokens that are shown now; returns those before where an edit has changed them on this page."""
    noted = st.session_state.setdefault(TOKENS, {})
    before, noted[name] = noted.get(name), dict(tokens)
    return None if url_state.is_first_run() or before == tokens else before


def axis_tokens(scene: Scene) -> list[dict[int, str]]:
    """The tokens by position of each axis that has some, in the order of a cell."""
    return [dict(zip(axis.positions, axis.words)) for axis in scene.screen.axes if axis.words]


def place(position: int, before: Mapping[int, str], after: Mapping[int, str]) -> int | None:
    """The position of a token after an edit, or of the token that replaced it if the axis is otherwise similar."""
    (old, left), (new, right) = (zip(*tokens.items()) if tokens else ((), ()) for tokens in (before, after))
    match = SequenceMatcher(None, left, right, autojunk=False)
    index = old.index(position)
    for kind, a, b, c, d in match.get_opcodes():
        if a <= index < b and (kind == "equal" or (kind == "replace" and match.ratio() >= ALIKE)):
            return new[min(c + index - a, d - 1)]
    return None
