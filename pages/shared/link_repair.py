"""The link holds what the widgets of a page hold, also where the browser has lost that a widget is bound to it.

Streamlit's browser side writes the value of a bound widget into the URL.  Where a widget stands at another place than
in the run before, such as below one more row, its old element goes after the new one has come, and takes the binding
with it: from then on its changes never reach the URL.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlencode

import streamlit as st
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx


def run(page: StreamlitPage) -> None:
    """Runs a page, and completes its link also where it ends early."""
    try:
        page.run()
    except StopException:
        complete()
        raise
    complete()


def complete() -> None:
    """Writes what the widgets of this run hold into the link, and out of it what is a default."""
    context = get_script_run_ctx()
    if context is None:
        return
    widgets = context.session_state._state._new_widget_state.widget_metadata
    bound = [widgets[name] for name in context.shared.widget_ids_this_run.snapshot() if name in widgets]
    bound = [data for data in bound if data.bind == "query-params"]
    with context.session_state.query_params() as link:
        bindings = {data.id: link.get_binding_for_widget(data.id) for data in bound}
    names = {data.id: bindings[data.id].param_key for data in bound if bindings[data.id]}
    values = {name: st.session_state[name] for name in names.values() if name in st.session_state}
    with context.session_state.query_params() as link:
        for data in bound:
            name = names.get(data.id)
            if name in values:
                _correct(link, name, values[name], data)
        if _texts(context.query_string) != _texts(urlencode(link._query_params, doseq=True)):
            link._send_query_param_msg()


def _correct(link: Any, name: str, value: Any, data: Any) -> None:
    """Brings a parameter in line with its widget: as Streamlit would, without one for the default."""
    if value == data.deserializer(None):
        link.discard_param_no_forward_msg(name)
        return
    text = data.serializer(value)
    if not link.stored_param_matches_corrected_value(name, text, data.value_type):
        link.set_corrected_value(name, text, data.value_type)


def _texts(query: str) -> dict[str, list[str]]:
    return parse_qs(query, keep_blank_values=True)
