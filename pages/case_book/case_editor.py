"""One case of the book: its texts, note and tags to edit, the way back to it; two who write at once lose nothing."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

import streamlit as st

from pages.shared import case_texts, checkpoint_html, deep_links, errors, task_picker
from triattn_core.case_book import LONGEST, Case, CaseBook, texts
from triattn_core.errors import CaseError, TriattnError
from triattn_core.tasks import TASKS

SHOWN = 600  # characters of a row that no task of ours can read


def show_case(book: CaseBook, case: Case) -> None:
    """Shows the case with its note, tags and buttons.  An edit starts from the case as this session first saw it."""
    label = task_picker.TASKS[case.task].label if case.task in task_picker.TASKS else case.task
    changed_text = f", changed {case.changed[:10]}" if case.version > 1 else ""
    st.html(checkpoint_html.section(label, f"kept {case.created[:10]}{changed_text}"))
    _row(case)
    if _base(case).version != case.version:
        _conflict(case)
    st.text_area("Note", key=f"note-{case.id}", height=120, max_chars=LONGEST)
    tag_options = sorted({*book.tags(), *st.session_state[f"tags-{case.id}"]})
    st.multiselect("Tags", tag_options, key=f"tags-{case.id}", accept_new_options=True, placeholder="")
    with st.container(horizontal=True):
        st.button("Save", key="save", width=90, on_click=_save, args=(book, case.id))
        with st.popover("Take out", width=104):
            st.html("This deletes the case for all users.")
            st.button("Take it out", key="drop", on_click=_drop, args=(book, case.id))
    if message := st.session_state.pop("case-book-message", None):
        st.caption(errors.escape_markdown(message))


def _row(case: Case) -> None:
    """Its texts and its links; of a row that cannot be read (an imported one may be anything) its texts as they are."""
    if case.task == deep_links.OPENED:
        st.text("\n".join(texts(case.row))[:SHOWN])
        st.page_link("pages/open/page.py", label="Open it again", query_params=deep_links.parse_query(case.query))
        return
    try:
        example = TASKS[case.task].Example.from_row(case.row)
    except (TriattnError, KeyError):
        st.text("\n".join(texts(case.row))[:SHOWN])
        st.html('<p class="t-note">No page can open this row: its task or its fields are not known here.</p>')
        return
    case_texts.html(case.task, example)
    query = deep_links.parse_query(case.query)
    if about := _about(case.task, example, query):
        st.html(f'<p class="t-note">{escape(about)}</p>')
    with st.container(horizontal=True, key="open"):
        deep_links.link(
            case.task,
            case.row,
            case.page if case.page in deep_links.PAGES else deep_links.default_page(case.task),
            query,
        )


def _about(task: str, example: Any, query: deep_links.Query) -> str:
    """The gold label, where there is one, and the checkpoints it was kept with."""
    gold, names = getattr(example, "label", None), [*query.get("checkpoints", ()), *query.get("checkpoint", ())]
    labels = () if gold is None or TASKS[task].FORM.chooses else TASKS[task].labels(example)
    facts = [f"gold: {labels[gold]}"] if labels else []
    return "; ".join([*facts, *([f"kept with {', '.join(names)}"] if names else [])])


def _base(case: Case) -> Case:
    """The version that the edit started from: the current one, or an older one with unsaved changes."""
    key, note, tags = f"base-{case.id}", f"note-{case.id}", f"tags-{case.id}"
    base = st.session_state.get(key)
    has_widgets = base is not None and note in st.session_state and tags in st.session_state
    edited = has_widgets and (st.session_state[note], tuple(sorted(st.session_state[tags]))) != (base.note, base.tags)
    if not has_widgets or (not edited and base.version != case.version):
        base = st.session_state[key] = case
        st.session_state[note], st.session_state[tags] = case.note, list(case.tags)
    return base


def _conflict(now: Case) -> None:
    """What another has written meanwhile, and the choice between it and what stands in the fields."""
    note = now.note or "no note"
    st.warning(
        f"Changed meanwhile, {now.changed[:16].replace('T', ' ')} UTC. Current version: {errors.escape_markdown(note)} "
        f"Tags: {errors.escape_markdown(', '.join(now.tags) or 'none')}."
    )
    with st.container(horizontal=True):
        st.button("Take theirs", key="theirs", on_click=_settle, args=(now, True))
        st.button("Keep mine", key="mine", on_click=_settle, args=(now, False), help="Saving then writes over theirs.")


def _settle(now: Case, theirs: bool) -> None:
    """The edit goes on from what stands now, with their words or with mine."""
    st.session_state[f"base-{now.id}"] = now
    if theirs:
        st.session_state[f"note-{now.id}"], st.session_state[f"tags-{now.id}"] = now.note, list(now.tags)


def _save(book: CaseBook, id: str) -> None:
    base = st.session_state[f"base-{id}"]
    mine = replace(base, note=st.session_state[f"note-{id}"], tags=tuple(st.session_state[f"tags-{id}"]))
    try:
        st.session_state[f"base-{id}"] = book.change(mine)
        st.session_state["case-book-message"] = "Saved."
    except CaseError as error:
        if error.now is None:  # it is gone; where it has moved on, the page shows what stands there now
            st.session_state["case-book-message"] = str(error)


def _drop(book: CaseBook, id: str) -> None:
    try:
        book.drop(id)
    except CaseError as error:
        st.session_state["case-book-message"] = str(error)
