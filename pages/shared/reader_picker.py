"""The picker of readers: the baseline's functions, and the published systems, own function beside T-trilinear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.shared import qa_models, url_state
from pages.shared.errors import notice
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.views import similarity as view

KEY = qa_models.KEY


def pick_readers(
    entries: Sequence[Entry], opens: Sequence[str] = qa_models.OPENS, limit: int = view.MOST
) -> list[Entry]:
    """One to `limit` readers in the order of `entries`, in the URL if they are not the default."""
    names, first = qa_models.titles_by_checkpoint(entries), qa_models.opening(entries, opens)
    linked = list(dict.fromkeys(st.query_params.get_all(KEY)))
    _restore(names, first, linked, limit)
    own = {entry.name for entry in entries if qa_models.has_own_function(entry)}
    with st.popover("Functions", width=112, key="choose"):
        _system_buttons(_pairs(entries), limit)
        selected_names = st.multiselect(
            f"Similarity functions, one to {limit}",
            list(names),
            key=KEY,
            format_func=lambda name: names.get(name, name) + ", its own" * (name in own),
            max_selections=limit,
            select_all=len(names) <= limit,  # else it would take the first ones
        )
    if not selected_names:
        notice(f"No function is chosen. Shown instead: {_list_titles(names, first)}.")
        selected_names = first
    if selected_names == first:
        url_state.drop(KEY)
    elif linked != selected_names:
        st.query_params[KEY] = selected_names
    return [entry for entry in entries if entry.name in selected_names]


def _restore(names: Mapping[str, str], first: Sequence[str], linked: Sequence[str], limit: int) -> None:
    """Before the widget is made: what the link names, or what was chosen before; says what cannot be shown."""
    if KEY not in st.session_state or (url_state.is_first_run() and linked):
        valid = [name for name in linked if name in names][:limit]
        st.session_state[KEY] = valid or list(first)
        if valid != linked:
            unknown = ", ".join(name for name in linked if name not in names)[:80]
            reason = _too_many(limit) if len(linked) > limit else "The link names no checkpoint."
            reason = f"The link asks for {unknown}: not among the checkpoints." if unknown else reason
            notice(f"{reason} Shown instead: {_list_titles(names, valid or first)}.")
    elif any(name not in names for name in st.session_state[KEY]):
        st.session_state[KEY] = list(first)
    elif len(st.session_state[KEY]) > limit:  # chosen on a page that takes more
        st.session_state[KEY] = kept = st.session_state[KEY][:limit]
        notice(f"{_too_many(limit)} Shown instead: {_list_titles(names, kept)}.")
    else:
        st.session_state[KEY] = st.session_state[KEY]  # else Streamlit drops what was chosen on the page before


def _too_many(limit: int) -> str:
    return f"At most {limit} functions are drawn here."


def _list_titles(names: Mapping[str, str], chosen: Sequence[str]) -> str:
    """The titles in the order in which they are drawn."""
    return ", ".join(title for name, title in names.items() if name in chosen)


def _pairs(entries: Sequence[Entry]) -> dict[str, list[str]]:
    """By system the names of its readers with its own function and with T-trilinear, where both are there."""
    pairs: dict[str, list[str]] = {}
    for entry in entries:
        system = view.SYSTEMS.get(metadata.model_setting(entry, "mechanism"))
        is_replaced = metadata.model_setting(entry, "similarity") == "t_trilinear"
        if system and (is_replaced or qa_models.has_own_function(entry)):
            pairs.setdefault(system, []).append(entry.name)
    return {system: names for system, names in pairs.items() if len(names) == 2}


def _system_buttons(pairs: Mapping[str, Sequence[str]], limit: int) -> None:
    """A button for each pair, and one for all of them where they are not too many."""
    if not pairs:
        return
    everything = [name for names in pairs.values() for name in names]
    choices = {**pairs, "All of these": everything} if len(pairs) > 1 and len(everything) <= limit else pairs
    st.caption("Published systems, own function beside T-trilinear")
    with st.container(horizontal=True, key="systems"):
        for label, names in choices.items():
            st.button(label, key=f"system-{label}", on_click=_choose, args=(list(names),))


def _choose(names: list[str]) -> None:
    st.session_state[KEY] = names
