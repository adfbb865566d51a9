"""A link may say settings by their own names, as `triattn card --set` and the manifest of a case card have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages.shared import models, task_picker
from pages.shared.errors import notice
from triattn_core.errors import ConfigError
from triattn_core.scenes.links import ALIASES, SITE, write_link
from triattn_core.scenes.settings import Unit, ViewSettings, validate_settings
from triattn_core.tasks import InputForm, first_task

OWN = (
    "site",
    "direction",
    *dict.fromkeys(ALIASES.values()),
)  # settings that the widget of a page calls otherwise
TEXTS = ("passage", "question")
DIRECTIONS = ("a_over_b", "b_over_a")


def redirect_setting_names(page: StreamlitPage) -> None:
    """Translates a link that uses setting names into one with the parameters of the page's widgets.

    Invalid settings are reported in a notice, and the page opens without them.
    """
    if not any(name in st.query_params for name in OWN):
        return
    from triattn_core.scenes import cli_settings
    from triattn_core.scenes.catalogue import SCENES

    view = SCENES.get(page.url_path)
    kind = view.settings if view and view.page else None
    if kind is None or not (own_names := [name for name in OWN if name in st.query_params and _is_setting(name, kind)]):
        return
    task = _task()
    pairs = [f"{name}={st.query_params[name]}" for name in {*kind.model_fields, *ALIASES, *SITE} & set(st.query_params)]
    link = {name: st.query_params.get_all(name) for name in st.query_params if name not in own_names}
    try:
        link |= write_link(validate_settings(kind, cli_settings.read(kind, pairs, task), "The link"), task)
    except ConfigError:
        notice(_describe_misfits([name for name in own_names if not _fits(kind, name, task)] or own_names))
        for name in own_names:
            del st.query_params[name]
        return
    if all(link.get(name) != st.query_params[name] for name in own_names):  # else it would lead to itself
        st.switch_page(page, query_params=link)


def _fits(kind: type[ViewSettings], name: str, task: str) -> bool:
    """Whether a parameter of the link can be used on its own."""
    from triattn_core.scenes import cli_settings

    try:
        settings = cli_settings.read(kind, [f"{name}={st.query_params[name]}"], task)
        write_link(validate_settings(kind, settings, "The link"), task)
    except ConfigError:
        return False
    return True


def _describe_misfits(names: Sequence[str]) -> str:
    """A sentence on parameters of the link that cannot be used."""
    values = {name: st.query_params[name] for name in names}
    parts = [f"“{name}” is {value[:40]!r}" if value else f"“{name}” is empty" for name, value in values.items()]
    return f"In the link {', '.join(parts)}, which cannot be used on this page; it opens without."


def _is_setting(name: str, kind: type[ViewSettings]) -> bool:
    """Whether a page takes it as a setting of another name: Similarity also has the texts `passage` and `question`,
    and a cell of several axes has one name in both."""
    text = st.query_params[name]
    if name == "direction":  # of the page by what its sides are called, of a setting as in the names of sites
        return name in kind.model_fields and text in DIRECTIONS
    if name not in kind.model_fields or (name == "cell" and not text.isdecimal()):
        return False
    return name not in TEXTS or text in get_args(Unit)


def _task() -> str:
    """The task of the link, or of its checkpoints; the first of two sentences where it says neither."""
    labels = {words.label: name for name, words in task_picker.TASKS.items()}
    names = [*st.query_params.get_all("checkpoint"), *st.query_params.get_all("checkpoints")]
    tasks = [labels.get(label) for label in st.query_params.get_all(task_picker.KEY)]
    tasks += [entry.config["task"] for entry in models.entries() if entry.name in names]
    return next(filter(None, tasks), first_task(InputForm.PAIR).NAME)
