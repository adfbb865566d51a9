"""An intervention on a page: which units of the context, and what is done to them."""

from __future__ import annotations

from functools import partial
from hashlib import sha256
from typing import Any, get_args

import streamlit as st

from pages.shared import kept_cell, page_setup, url_state
from pages.shared.errors import escape_markdown, notice
from triattn_core.scenes import intervene_units as parts
from triattn_core.scenes.intervene_parts import Intervention
from triattn_core.scenes.intervene_settings import Settings
from triattn_core.tasks import TASKS
from triattn_core.views.lib.strongest import SMALL

WAYS, ORDERS = (get_args(Settings.model_fields[name].annotation) for name in ("how", "order"))
CHOSEN = "chosen tokens"  # in the session: their positions where somebody chose them, which then follow an edit
REPEATED = "A small number tells repeated words apart: milk² is the second one."


def pick_way(question: page_setup.PageQuestion) -> Settings:
    """The settings with the operation and the unit of the context."""
    operation = url_state.segments("What to do", list(WAYS), "how")
    unit = url_state.segments("With", list(question.words.units), "unit") if operation != "swap" else "turns"
    return Settings(how=operation, unit=unit)


def pick_units(intervention: Intervention) -> Settings:
    """The settings with the selected units and the options of the operation.  Units other than the default go into the
    link.  Stops the page if none is selected."""
    question, settings, operation, unit = (
        intervention.question,
        intervention.settings,
        intervention.settings.how,
        intervention.unit,
    )
    if operation == "swap":
        other_rows = parts.others(question)
        number = url_state.pick(
            "Context of",
            list(range(len(other_rows))),
            "from",
            show=lambda i: f"{i + 1}  {_short(question.task, other_rows[i])}",
        )
        return settings.model_copy(update={"other": TASKS[question.task].row(other_rows[number])})
    units = intervention.units
    first = parts.first_unit(units, intervention.alone)
    key = "units-" + sha256(repr((question.example, question.option, unit)).encode()).hexdigest()[:10]
    moved_names = _moved_tokens(units) if unit == "tokens" else []
    if key not in st.session_state:
        st.session_state[key] = moved_names or _linked(units, first)
    label = "Context: click the units to change" if operation != "reorder" else "Context: click the units to move"
    options = {"selection_mode": "multi", "help": REPEATED if unit == "tokens" else None}
    with st.container(key="units"):
        selected_names = st.pills(label, list(units), key=key, **options, format_func=partial(_chip, units))
    _link(list(selected_names), first)
    if unit == "tokens":
        st.session_state[CHOSEN] = [] if selected_names == first else [_number(name) for name in selected_names]
    updates = {"units": tuple(name for name in units if name in selected_names)}
    if operation == "replace":
        updates["text"] = st.text_input("Replace with (empty: [MASK])", key="with", bind="query-params", width=420)
    if operation == "reorder":
        with st.container(horizontal=True, vertical_alignment="bottom", key="order-settings"):
            updates["order"] = url_state.segments("Order", list(ORDERS), "order")
            if updates["order"] == "shuffled":
                updates["shuffle"] = url_state.pick("Shuffle", list(range(1, 21)), "seed", width=84)
    if not selected_names and operation != "reorder":
        st.info("Click at least one unit of the context.")
        st.stop()
    return settings.model_copy(update=updates)


def _chip(units: dict[str, str], name: str) -> str:
    """The label of a unit's button: its text, where a raised number tells repeated words apart."""
    return escape_markdown(units[name])


def _short(task: str, example: Any) -> str:
    texts = list(TASKS[task].texts(example, 0).values())
    return escape_markdown(" / ".join(texts)[:70])


def _moved_tokens(units: dict[str, str]) -> list[str]:
    """The new numbers of the selected tokens after an edit of the text; empty if nothing was edited."""
    tokens = {_number(name): word.rstrip(SMALL) for name, word in units.items()}
    before = kept_cell.renew("units", tokens)
    if before is None:
        return []
    positions = {
        kept_cell.place(position, before, tokens) for position in st.session_state.get(CHOSEN, ()) if position in before
    }
    names = [name for name in units if _number(name) in positions]
    if not names:  # another text: back to the default
        url_state.drop("units")
    return names


def _number(token: str) -> int:
    return int(token.removeprefix("token "))


def _linked(units: dict[str, str], first: list[str]) -> list[str]:
    linked = st.query_params.get_all("units")
    present = [name for name in linked if name in units]
    if linked and present != linked:
        notice("The link asks for units that are not in this context.")
    return present or first


def _link(names: list[str], first: list[str]) -> None:
    if names == first:
        url_state.drop("units")
    elif st.query_params.get_all("units") != names:
        st.query_params["units"] = names
