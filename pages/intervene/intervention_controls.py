"""An intervention on a page: which units of the context, and what is done to them."""

from __future__ import annotations

from functools import partial
from hashlib import sha256
from typing import Any, get_args

import streamlit as st

from pages.shared import kept_cell, page_setup, url_state
from pages.shared.errors import escape_markdown, notice
from triattn_core.scenes import intervene_units as parts
from triattn_core.scenes.intervene import Intervention, Settings
from triattn_core.tasks import TASKS
from triattn_core.views.lib.strongest import SMALL

WAYS, ORDERS = (get_args(Settings.model_fields[name].annotation) for name in ("how", "order"))
CHOSEN = "chosen tokens"  # in the session: their positions
REPEATED = "A small number tells repeated words apart: milk² is the second one."


def pick_way(question: page_setup.Question) -> Settings:
    """What is done, and to what the context is cut."""
    how = url_state.segments("What to do", list(WAYS), "how")
    unit = url_state.segments("With", list(question.words.ways), "unit") if how != "swap" else "turns"
    return Settings(how=how, unit=unit)


def pick_units(asked: Intervention) -> Settings:
    """The settings with the units that are clicked, in the link where they are not what the page opens on, and with
    what goes with them.  The page ends where none is chosen."""
    question, settings, how, unit = asked.question, asked.settings, asked.settings.how, asked.unit
    if how == "swap":
        others = parts.others(question)
        at = url_state.pick(
            "Context of",
            list(range(len(others))),
            "from",
            show=lambda i: f"{i + 1}  {_short(question.task, others[i])}",
        )
        return settings.model_copy(update={"other": TASKS[question.task].row(others[at])})
    known = asked.units
    first = parts.first(known, asked.alone)
    key = "units-" + sha256(repr((question.example, question.option, unit)).encode()).hexdigest()[:10]
    kept = _moved_tokens(known) if unit == "tokens" else []
    if key not in st.session_state:
        st.session_state[key] = kept or _linked(known, first)
    label = "Context: click the units to change" if how != "reorder" else "Context: click the units to move"
    look = {"selection_mode": "multi", "help": REPEATED if unit == "tokens" else None}
    chosen = st.pills(label, list(known), key=key, **look, format_func=partial(_chip, known))
    _link(list(chosen), first)
    if unit == "tokens":
        st.session_state[CHOSEN] = [_number(name) for name in chosen]
    more = {"units": tuple(name for name in known if name in chosen)}
    if how == "replace":
        more["text"] = st.text_input("Replace with (empty: [MASK])", key="with", bind="query-params", width=420)
    if how == "reorder":
        with st.container(horizontal=True, vertical_alignment="bottom", key="order-settings"):
            more["order"] = url_state.segments("Order", list(ORDERS), "order")
            if more["order"] == "shuffled":
                more["shuffle"] = url_state.pick("Shuffle", list(range(1, 21)), "seed", width=84)
    if not chosen and how != "reorder":
        st.info("Click at least one unit of the context.")
        st.stop()
    return settings.model_copy(update=more)


def _chip(known: dict[str, str], name: str) -> str:
    """What stands on a unit to click: a token has its number, by which a link and a command call it."""
    number = name.removeprefix("token ")
    return escape_markdown(known[name]) if number == name else f":gray[{number}] {escape_markdown(known[name])}"


def _short(task: str, example: Any) -> str:
    texts = list(TASKS[task].texts(example, 0).values())
    return escape_markdown(" / ".join(texts)[:70])


def _moved_tokens(known: dict[str, str]) -> list[str]:
    """The chosen tokens where an edit has moved them, by their numbers now; none where nothing was edited."""
    tokens = {_number(name): word.rstrip(SMALL) for name, word in known.items()}
    before = kept_cell.renew("units", tokens)
    if before is None:
        return []
    moved = {kept_cell.place(at, before, tokens) for at in st.session_state.get(CHOSEN, ()) if at in before}
    kept = [name for name in known if _number(name) in moved]
    if not kept:  # another text: what it opens on
        st.query_params.pop("units", None)
    return kept


def _number(token: str) -> int:
    return int(token.removeprefix("token "))


def _linked(known: dict[str, str], first: list[str]) -> list[str]:
    asked = st.query_params.get_all("units")
    kept = [name for name in asked if name in known]
    if asked and kept != asked:
        notice("The link asks for units that are not in this context.")
    return kept or first


def _link(chosen: list[str], first: list[str]) -> None:
    if chosen == first:
        st.query_params.pop("units", None)
    elif st.query_params.get_all("units") != chosen:
        st.query_params["units"] = chosen
