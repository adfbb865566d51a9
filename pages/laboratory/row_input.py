"""The row that goes in: a task, one of its rows, and its tokens to write in; all of it in the URL."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.shared import url_state
from pages.shared.errors import escape_markdown
from triattn_core.errors import InputError
from triattn_core.tasks.laboratory import LABORATORY, Example, LaboratoryTask
from triattn_core.tasks.laboratory.example import MOST, SEPARATOR
from triattn_core.tasks.operands import operand_pairs

LIMIT = 4000  # characters of a list of tokens
SHORT, NARROW = 30, 270  # characters of a context that leaves its room to the keys, and pixels of its field

TASKS: dict[str, Any] = {**LABORATORY, operand_pairs.NAME: operand_pairs}


def picker() -> LaboratoryTask | None:
    """The task, in the URL; None for word problems.  A link may give its name too, and call it `task`."""
    other_name = st.query_params.get("task")
    url_state.drop("task")
    linked = other_name or st.query_params.get("laboratory")
    if other_name or linked in TASKS:
        st.query_params["laboratory"] = TASKS[linked].LABEL if linked in TASKS else linked
        st.rerun()
    name = url_state.pick("Task", list(TASKS), "laboratory", show=lambda name: TASKS[name].LABEL, width=200)
    return LABORATORY.get(name)


def _menu(task: LaboratoryTask) -> None:
    """The rows that can be taken as they were generated."""
    options = {"format_func": lambda row: escape_markdown(task.say(row)), "width": 96}
    rows = task.examples()
    st.menu_button("Rows", rows, key=f"{task.NAME}-row", on_click=_take, args=(task,), **options)
    if (words := task.dictionary()) is not None:
        with st.popover("Dictionary", width=112, key="dictionary"):
            st.caption("What each foreign word means in each language.")
            st.dataframe(words, width="content", height="content")


def row(task: LaboratoryTask) -> Example:
    """The row as it is written, with its truth found anew.  Raises InputError for a token the task does not know."""
    opens = field_texts(task, task.examples()[task.OPENING_ROW])
    widths = (130, "stretch", NARROW if len(opens[-1]) < SHORT else "stretch")
    with st.container(horizontal=True, vertical_alignment="bottom", key="pair"):
        texts = [
            st.text_input(label, opens[i], key=_key(task, i), bind="query-params", max_chars=LIMIT, width=width)
            for i, (label, width) in enumerate(zip(task.FIELDS, widths))
        ]
        _menu(task)
    query, *lists = texts
    keys, *context = ([part.strip() for part in text.split(",") if part.strip()] for text in lists)
    if max(map(len, (keys, *context))) > MOST:
        raise InputError(f"At most {MOST} tokens are read of a list.")
    example = task.solve(query.strip(), tuple(keys), tuple(context[0] if context else keys))
    example.check()
    return example


def field_texts(task: LaboratoryTask, example: Example) -> list[str]:
    """The texts of the fields that hold a row."""
    return [example.query, SEPARATOR.join(example.keys), SEPARATOR.join(example.context)][: len(task.FIELDS)]


def _key(task: LaboratoryTask, field: int) -> str:
    return f"{task.NAME}-{('query', 'keys', 'context')[field]}"


def _take(task: LaboratoryTask) -> None:
    for i, text in enumerate(field_texts(task, st.session_state[f"{task.NAME}-row"])):
        st.session_state[_key(task, i)] = text


def truth(task: LaboratoryTask, example: Example) -> str:
    """A sentence: the right answer of the row and why, or that it has none."""
    cells = task.answer_cells(example)
    pairs = [task.describe_cell(example, cell) for cell in cells]
    count = len(cells)
    if task.MODULUS:
        firsts = dict.fromkeys(pairs)  # each once
        return f"The answer is {task.LABELS[example.label]}" + (f": {', '.join(firsts)}." if firsts else ".")
    if count == 1:
        return f"The one pair that fits is {pairs[0]}: the answer is {task.LABELS[example.label]}."
    if not count:
        return "No pair fits this query: there is no right answer. The models still give an answer."
    pairs_text = "; ".join(pairs)
    if example.label is None:
        return f"{count} pairs fit ({pairs_text}): there is no one right answer. The models still give an answer."
    return f"{count} pairs fit ({pairs_text}) and agree: the answer is {task.LABELS[example.label]}."
