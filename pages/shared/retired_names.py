"""Links that name a checkpoint which is no longer shipped open the one that it stands for now."""

from __future__ import annotations

import streamlit as st

from pages.shared import url_state
from pages.shared.errors import notice
from triattn_core.checkpoint.registry import current_name, list_checkpoints

PARAMETERS = ("checkpoint", "checkpoints")


def replace_retired_names() -> None:
    """Replaces retired checkpoint names in the link, with a notice; call it before the page's widgets."""
    if not url_state.is_first_run():
        return
    names = {entry.name for entry in list_checkpoints()}
    for parameter in PARAMETERS:
        linked = st.query_params.get_all(parameter)
        current = list(dict.fromkeys(name if name in names else current_name(name) for name in linked))
        renamed = [name for name in linked if name not in names and current_name(name) in names]
        if renamed:
            st.query_params[parameter] = current
            notice(f"No longer shipped: {', '.join(renamed)}. Shown instead: {', '.join(current)}.")
