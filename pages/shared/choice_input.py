"""Dialogues and passages that go in: the project's own examples, or what the reader writes.  All of it is in the URL,
as far as a link can carry it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import url_state
from pages.shared.errors import escape_markdown, notice
from triattn_core.errors import InputError, choices
from triattn_core.tasks import CHOICES, TASKS, InputForm, form

PASSAGES = {name: task for name, task in TASKS.items() if task.FORM is InputForm.PASSAGE}
WRITTEN = CHOICES | PASSAGES  # tasks whose texts are written here
PARTS = {name: task.WORDS.parts if name in CHOICES else task.PARTS for name, task in WRITTEN.items()}
PICKS = ("option", "other")
NAMES = ("example", *(part for parts in PARTS.values() for part in parts), *PICKS)  # ours in the URL
LINK = 6000  # characters of text in a link, as the browser writes them: longer ones are refused on the way
LIMIT = 200_000  # characters of a text that are kept
LIMITS = dict.fromkeys(PASSAGES, 1_000_000)  # where a text is read in windows


@dataclass
class ChoiceInput:
    """What goes in now.  `option` is shown, `other` compared with it: indices, None where nobody has chosen.

    written: what of this stands in the URL; where the URL says otherwise, a link was opened.
    """

    task: str
    parts: dict[str, str]
    option: int | None = None
    other: int | None = None
    written: dict[str, str] = field(default_factory=dict)


def current_input(task: str) -> ChoiceInput:
    """What goes in: as it stands, or as a link asks that was opened; of another task what its page opens on."""
    link = {name: st.query_params[name] for name in NAMES if name in st.query_params}
    given = st.session_state.get("given")
    stays = (
        given and given.task == task and url_state.is_first_run() and not _texts(link)
    )  # from another page, without a link
    if not stays and (given is None or _texts(given.written) != _texts(link)):
        given = _input_from_link(task, link)
    elif given.task != task:  # by its picker, which leaves the link as it is, or by a link
        given = _input_from_link(task, {} if given.written == link else link)
    elif given.written != link and not stays:
        given.option, given.other = _picks(link)
    st.session_state["given"] = given
    return given


def example(task: str, place: DeltaGenerator | None = None) -> Any:
    """What goes in, as an example of the task, and the URL brought up to date; the editor, where it is asked for or
    something is to be mended.  place: where a question stands that is always asked."""
    given = current_input(task)
    row = parse_example(task, given.parts)
    if place is not None:
        with place:
            _show_fields(given)
    if st.session_state.get("edit") or not (_is_valid(row) or form(task) is InputForm.PASSAGE and row.passage.strip()):
        _editor(given)
    count = len(CHOICES[task].options(row)) if task in CHOICES else 0
    _empty(given)
    for name in PICKS:
        asked = getattr(given, name)
        if asked is not None and not 0 <= asked < count:
            notice(f"The link asks for {name} {asked + 1}: there are {count}. Shown instead: what the model chooses.")
            setattr(given, name, None)
    _write(given, row)
    return row


def _empty(given: ChoiceInput) -> None:
    """Says that lines with nothing in them are left out."""
    for name in CHOICES[given.task].WORDS.lists if given.task in CHOICES else ():
        empty = sum(not line.strip() for line in given.parts.get(name, "").strip().splitlines())
        if empty:
            notice(f"{empty} empty line{'s' * (empty > 1)} of the {name} {'are' if empty > 1 else 'is'} left out.")


def controls(task: str, keep: Callable[[Sequence], Sequence] = list) -> None:
    """The examples, and the switch that opens the editor; of another task nothing, and its link loses what is ours.

    keep: those examples that are offered.
    """
    if task not in PARTS:
        st.session_state.pop("given", None)
        for name in NAMES:
            st.query_params.pop(name, None)
        return
    known = WRITTEN[task].examples()
    kept = keep(known)
    label, width = ("Examples", 108) if len(kept) == len(known) else (f"{len(kept)} of {len(known)} examples", 160)
    look = {"format_func": partial(_title, task), "width": width, "disabled": not kept}
    st.menu_button(label, kept or known, key=f"{task}-example", on_click=_apply_example, args=(task,), **look)
    url_state.toggle("Edit", "edit")


def pick(what: str, at: int) -> None:
    """Chooses an option: `option` is shown, `other` compared with it."""
    given = st.session_state["given"]
    if what == "option" and at == given.other:  # the two change places
        given.other = given.option
    setattr(given, what, at)


def link(**more: str) -> dict[str, str]:
    """The parameters of a link to another page with the same input."""
    return {**st.session_state["given"].written, **more}


def parse_example(task: str, parts: Mapping[str, str]) -> Any:
    """The example of these texts: one of the project's with its label, where it is one of them."""
    room = WRITTEN[task]
    typed = room.from_parts(parts)
    return next((known for known in room.examples() if room.parts(known) == room.parts(typed)), typed)


def _is_valid(example: Any) -> bool:
    try:
        example.check()
    except InputError:
        return False
    return True


def _input_from_link(task: str, link: dict[str, str]) -> ChoiceInput:
    known = {example.id: WRITTEN[task].parts(example) for example in WRITTEN[task].examples()}
    parts, name = next(iter(known.values())), link.get("example")
    if name in known:
        parts = known[name]
    elif name is not None:
        notice(f"The link asks for example {name[:60]!r}; {choices(name[:60], known)}. Shown instead: the first one.")
    elif any(part in link for part in PARTS[task]):
        parts = {part: link.get(part, "")[: limit(task)] for part in PARTS[task]}
    return ChoiceInput(task, parts, *_picks(link), written=link)


def _texts(link: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in link.items() if name not in PICKS}


def _picks(link: Mapping[str, str]) -> list[int | None]:
    """The options that a link names, from 0."""
    asked = [link.get(name, "") for name in PICKS]
    for name, value in zip(PICKS, asked):
        if value and not (value.isdecimal() and len(value) < 6):
            notice(f"The link asks for {name} {value[:20]!r}: a number was expected.")
    return [int(value) - 1 if value.isdecimal() and len(value) < 6 else None for value in asked]


def _write(given: ChoiceInput, example: Any) -> None:
    """Brings the URL up to date: the name of an example, or the texts; the first example needs nothing."""
    known, wanted = WRITTEN[given.task].examples(), {}
    if example in known:
        wanted = {"example": example.id} if example != known[0] else {}
    elif (size := len(urlencode(given.parts))) <= LINK:
        wanted = {name: text for name, text in given.parts.items() if text}
    else:
        note = f"Too long for a link ({size:,} characters, at most {LINK:,}): keep this page open, or save the trace."
        st.html(f'<p class="t-note">{note}</p>')
    wanted |= {name: str(at + 1) for name in PICKS if (at := getattr(given, name)) is not None}
    for name in NAMES:
        if name not in wanted:
            st.query_params.pop(name, None)
        elif st.query_params.get(name) != wanted[name]:
            st.query_params[name] = wanted[name]
    given.written = wanted


def limit(task: str) -> int:
    """How many characters of a text are kept."""
    return LIMITS.get(task, LIMIT)


def _show_fields(given: ChoiceInput) -> None:
    st.session_state["write-question"] = given.parts["question"]
    st.text_input("Question", key="write-question", on_change=_edit, args=("question",))


def _editor(given: ChoiceInput) -> None:
    """The texts to write in: what is left stands as it was read."""
    first, *rest = PARTS[given.task]
    alone = given.task not in CHOICES  # its question is always asked: see `_ask`
    left, right = (st.container(), None) if alone else st.columns(2, gap="large")
    for name, label in PARTS[given.task].items():
        if alone and name != first:
            continue
        key = f"write-{name}"
        st.session_state[key] = given.parts[name]
        with left if name == first else right:
            if name != first and name not in CHOICES[given.task].WORDS.lists:
                st.text_input(label, key=key, on_change=_edit, args=(name,))
            else:
                height = 206 if name == first or len(rest) == 1 else 128
                st.text_area(label, key=key, height=height, on_change=_edit, args=(name,))
    for name, text in given.parts.items():
        if len(text) == limit(given.task):
            notice(f"{PARTS[given.task][name].partition(',')[0]}: only the first {len(text):,} characters are kept.")


def _edit(name: str) -> None:
    given = st.session_state["given"]
    given.parts[name] = st.session_state[f"write-{name}"][: limit(given.task)]
    if given.task in CHOICES and name == CHOICES[given.task].WORDS.lists[-1]:  # the options themselves
        given.option = given.other = None


def _apply_example(task: str) -> None:
    given = st.session_state["given"]
    given.parts, given.option, given.other = WRITTEN[task].parts(st.session_state[f"{task}-example"]), None, None


def _title(task: str, example: Any) -> str:
    return escape_markdown("  ".join(WRITTEN[task].title(example)))
