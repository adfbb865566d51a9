"""An intervention on a page: which units of the context, and what is done to them.  `asked_again` asks the model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import pandas as pd
import streamlit as st

from pages.common import asking, state
from pages.common.errors import notice, plain
from triattn_core.tasks import TASKS

WAYS = ("remove", "mask", "replace", "reorder", "swap")
ORDERS = ("chosen first", "chosen last", "reversed", "shuffled")
REPEATED = "A small number tells repeated words apart: milk² is the second one."


@dataclass(frozen=True)
class Wanted:
    """What is to be done: `how` of WAYS, to which units, and a text, an order or another example."""

    how: str
    way: str
    names: tuple[str, ...] = ()
    words: str = ""
    more: Any = None


def units(question: asking.Question, way: str) -> dict[str, str]:
    """The units of the context by name, each as the reader knows it, no two alike."""

    def run(bundle):
        from triattn_core.analysis.asked import ask
        from triattn_core.analysis.edits import units

        asked = ask(bundle, question.example, question.option)
        texts = bundle.task.texts(asked.example, asked.option)
        role = asked.roles.context
        found: dict[str, list[tuple[str, int, int]]] = {}
        for name, of, (start, end) in zip(units(role, texts, way), role.texts, role.spans):
            if name:
                found.setdefault(name, []).append((of, start, end))
        return {name: texts[one[0][0]][one[0][1] : one[-1][2]] for name, one in found.items()}

    found = asking.answer(question.card, "Reading", run, "units", question.example, question.option, way)
    if way != "tokens":
        return {name: f"{name}: {text[:44]}{'…' * (len(text) > 44)}" for name, text in found.items()}
    seen: Counter = Counter()
    named = {}
    for name, text in found.items():
        seen[text] += 1
        named[name] = text + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(d)] for d in str(seen[text])) * (seen[text] > 1)
    return named


def controls(question: asking.Question, how: str, way: str, known: dict[str, str], alone) -> Wanted:
    """The units to click, in the link where they are not what the page opens on; and what goes with them."""
    if how == "swap":
        others = [one for one in TASKS[question.task].examples(question.language) if one != question.example]
        at = state.pick("Context of", list(range(len(others))), "from", show=lambda i: f"{i + 1}  {_short(others[i])}")
        return Wanted(how, way, more=others[at])
    first = [telling(alone)] if alone is not None else list(known)[:1]
    key = "units-" + sha256(repr((question.example, question.option, way)).encode()).hexdigest()[:10]
    if key not in st.session_state:
        st.session_state[key] = _linked(known, first)
    label = "Context: click what is to change" if how != "reorder" else "Context: click what is to move"
    look = {"selection_mode": "multi", "help": REPEATED if way == "tokens" else None}
    chosen = st.pills(label, list(known), key=key, **look, format_func=known.__getitem__)
    _link(list(chosen), first)
    names, more = tuple(name for name in known if name in chosen), None
    if how == "replace":
        more = st.text_input("Replace with (empty: [MASK])", key="with", bind="query-params", width=420)
    if how == "reorder":
        with st.container(horizontal=True, vertical_alignment="bottom", key="order-settings"):
            order = state.segments("Order", list(ORDERS), "order")
            seed = state.pick("Shuffle", list(range(1, 21)), "seed", width=84) if order == "shuffled" else 0
        more = ordered(list(known), names, order, seed)
    if not names and how != "reorder":
        st.info("Click at least one unit of the context.")
        st.stop()
    words = " and ".join(f"“{known[name]}”" for name in names[:4]) + f" and {len(names) - 4} more" * (len(names) > 4)
    return Wanted(how, way, names, words, more)


def telling(alone: pd.DataFrame) -> str:
    """The unit that changes most, among those that flip the answer where there are any."""
    of = alone[alone["flips"]] if alone["flips"].any() else alone
    return str(of.loc[of["change"].abs().idxmax(), "unit"])


def ordered(names: list[str], chosen: tuple[str, ...], order: str, seed: int = 0) -> list[str]:
    """All units in the order that is asked for."""
    rest = [name for name in names if name not in chosen]
    if order == "shuffled":
        return pd.Series(names).sample(frac=1, random_state=seed).tolist()
    return {"chosen first": [*chosen, *rest], "chosen last": [*rest, *chosen]}.get(order, names[::-1])


def _short(example: Any) -> str:
    texts = list(TASKS[_task(example)].texts(example, 0).values())
    return plain(" / ".join(texts)[:70])


def _task(example: Any) -> str:
    return type(example).__module__.rsplit(".", 1)[1]


def _linked(known: dict[str, str], first: list[str]) -> list[str]:
    asked = st.query_params.get_all("units")
    found = [name for name in asked if name in known]
    if asked and found != asked:
        notice("The link asks for units that are not in this context.")
    return found or first


def _link(chosen: list[str], first: list[str]) -> None:
    if chosen == first:
        st.query_params.pop("units", None)
    elif st.query_params.get_all("units") != chosen:
        st.query_params["units"] = chosen
