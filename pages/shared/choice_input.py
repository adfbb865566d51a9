"""Dialogues and passages that go in: the project's own examples, or what you type.  All of it is in the URL,
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
from triattn_core.errors import InputError, choices, quote
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
    """The current input: from the session, or from the link that was opened; for another task its default."""
    link = {name: st.query_params[name] for name in NAMES if name in st.query_params}
    current = st.session_state.get("choice-input")
    stays = (
        current and current.task == task and url_state.is_first_run() and not _texts(link)
    )  # from another page, without a link
    if not stays and (current is None or _texts(current.written) != _texts(link)):
        current = _input_from_link(task, link)
    elif current.task != task:  # by its picker, which leaves the link as it is, or by a link
        current = _input_from_link(task, {} if current.written == link else link)
    elif current.written != link and not stays:
        current.option, current.other = _picks(link)
    st.session_state["choice-input"] = current
    return current


def example(task: str, place: DeltaGenerator | None = None) -> Any:
    """The current input as an example of the task; updates the URL, and shows the editor if it is open or the input is
    invalid.  place: of the question field, which is always shown."""
    current = current_input(task)
    row = parse_example(task, current.parts)
    if place is not None:
        with place:
            _show_fields(current)
    if st.session_state.get("edit") or not (_is_valid(row) or form(task) is InputForm.PASSAGE and row.passage.strip()):
        _editor(current)
    count = len(CHOICES[task].options(row)) if task in CHOICES else 0
    _empty(current)
    for name in PICKS:
        index = getattr(current, name)
        if index is not None and not 0 <= index < count:
            notice(f"The link asks for {name} {index + 1}: there are {count}. Shown instead: what the model chooses.")
            setattr(current, name, None)
    _write(current, row)
    return row


def _empty(current: ChoiceInput) -> None:
    """Shows a notice that empty lines are left out."""
    for name in CHOICES[current.task].WORDS.lists if current.task in CHOICES else ():
        empty = sum(not line.strip() for line in current.parts.get(name, "").strip().splitlines())
        if empty:
            notice(f"{empty} empty line{'s' * (empty > 1)} of the {name} {'are' if empty > 1 else 'is'} left out.")


def controls(task: str, keep: Callable[[Sequence], Sequence] = list) -> None:
    """Shows the examples menu and the Edit toggle; for another kind of task it clears this input from the link.

    keep: filters the examples.
    """
    if task not in PARTS:
        st.session_state.pop("choice-input", None)
        for name in NAMES:
            url_state.drop(name)
        return
    all_examples = WRITTEN[task].examples()
    examples = keep(all_examples)
    label, width = (
        ("Examples", 108)
        if len(examples) == len(all_examples)
        else (f"{len(examples)} of {len(all_examples)} examples", 160)
    )
    options = {"format_func": partial(_title, task), "width": width, "disabled": not examples}
    st.menu_button(
        label, examples or all_examples, key=f"{task}-example", on_click=_apply_example, args=(task,), **options
    )
    url_state.toggle("Edit", "edit")


def pick(role: str, option: int) -> None:
    """Chooses an option.  role: `option`, which is shown, or `other`, which it is compared with."""
    current = st.session_state["choice-input"]
    if role == "option" and option == current.other:  # the two change places
        current.other = current.option
    setattr(current, role, option)


def link(**parameters: str) -> dict[str, str]:
    """The parameters of a link to another page with the same input."""
    return {**st.session_state["choice-input"].written, **parameters}


def parse_example(task: str, parts: Mapping[str, str]) -> Any:
    """The example with these texts; with its label if it is one of the project's examples."""
    room = WRITTEN[task]
    parsed = room.from_parts(parts)
    return next((candidate for candidate in room.examples() if room.parts(candidate) == room.parts(parsed)), parsed)


def _is_valid(example: Any) -> bool:
    try:
        example.check()
    except InputError:
        return False
    return True


def _input_from_link(task: str, link: dict[str, str]) -> ChoiceInput:
    parts_by_id = {example.id: WRITTEN[task].parts(example) for example in WRITTEN[task].examples()}
    parts, name = next(iter(parts_by_id.values())), link.get("example")
    if name in parts_by_id:
        parts = parts_by_id[name]
    elif name is not None:
        notice(f"The link asks for example {quote(name)}; {choices(name, parts_by_id)}. Shown instead: the first one.")
    elif any(part in link for part in PARTS[task]):
        parts = {part: link.get(part, "")[: limit(task)] for part in PARTS[task]}
    return ChoiceInput(task, parts, *_picks(link), written=link)


def _texts(link: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in link.items() if name not in PICKS}


def _picks(link: Mapping[str, str]) -> list[int | None]:
    """The options that a link names, from 0."""
    values = [link.get(name, "") for name in PICKS]
    for name, value in zip(PICKS, values):
        if value and not (value.isdecimal() and len(value) < 6):
            notice(f"The link asks for {name} {value[:20]!r}: a number was expected.")
    return [int(value) - 1 if value.isdecimal() and len(value) < 6 else None for value in values]


def _write(current: ChoiceInput, example: Any) -> None:
    """Writes the input into the URL: the name of an example, or the texts; nothing for the first example."""
    examples, parameters = WRITTEN[current.task].examples(), {}
    if example in examples:
        parameters = {"example": example.id} if example != examples[0] else {}
    elif (size := len(urlencode(current.parts))) <= LINK:
        parameters = {name: text for name, text in current.parts.items() if text}
    else:
        note = f"Too long for a link ({size:,} characters, at most {LINK:,}): keep this page open, or save the trace."
        st.html(f'<p class="t-note">{note}</p>')
    parameters |= {name: str(number + 1) for name in PICKS if (number := getattr(current, name)) is not None}
    for name in NAMES:
        if name not in parameters:
            url_state.drop(name)
        elif st.query_params.get(name) != parameters[name]:
            st.query_params[name] = parameters[name]
    current.written = parameters


def limit(task: str) -> int:
    """How many characters of a text are kept."""
    return LIMITS.get(task, LIMIT)


def _show_fields(current: ChoiceInput) -> None:
    st.session_state["write-question"] = current.parts["question"]
    st.text_input("Question", key="write-question", on_change=_edit, args=("question",))


def _editor(current: ChoiceInput) -> None:
    """Shows the text fields, each with the current text."""
    first, *other_names = PARTS[current.task]
    single_text = current.task not in CHOICES  # its question is always asked: see `_ask`
    left, right = (st.container(), None) if single_text else st.columns(2, gap="large")
    for name, label in PARTS[current.task].items():
        if single_text and name != first:
            continue
        key = f"write-{name}"
        st.session_state[key] = current.parts[name]
        with left if name == first else right:
            if name != first and name not in CHOICES[current.task].WORDS.lists:
                st.text_input(label, key=key, on_change=_edit, args=(name,))
            else:
                height = 206 if name == first or len(other_names) == 1 else 128
                st.text_area(label, key=key, height=height, on_change=_edit, args=(name,))
    for name, text in current.parts.items():
        if len(text) == limit(current.task):
            notice(f"{PARTS[current.task][name].partition(',')[0]}: only the first {len(text):,} characters are kept.")


def _edit(name: str) -> None:
    current = st.session_state["choice-input"]
    current.parts[name] = st.session_state[f"write-{name}"][: limit(current.task)]
    if current.task in CHOICES and name == CHOICES[current.task].WORDS.lists[-1]:  # the options themselves
        current.option = current.other = None


def _apply_example(task: str) -> None:
    current = st.session_state["choice-input"]
    current.parts, current.option, current.other = WRITTEN[task].parts(st.session_state[f"{task}-example"]), None, None


def _title(task: str, example: Any) -> str:
    return escape_markdown("  ".join(WRITTEN[task].title(example)))
