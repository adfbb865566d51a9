"""What goes in and what the model says: the two rows at the top of every page about sentence pairs."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.common import style
from pages.common.errors import notice, plain
from pages.common.models import Explained
from triattn_core.tasks import pairs

LIMIT = 2000  # characters a sentence: many times what a model reads, and still a link


def pair() -> pairs.Example:
    """The row Sentence A, Sentence B, Examples; both sentences are in the URL (`a`, `b`).

    The pair carries the gold label where it is one of the examples. It may be blank: `models.explain` says so.
    """
    known = pairs.examples()
    with st.container(horizontal=True, vertical_alignment="bottom", key="pair"):
        texts = [
            st.text_input(
                f"Sentence {name.upper()}", first, key=name, bind="query-params", on_change=_shorten, args=(name,)
            )
            for name, first in (("a", known[0].text_a), ("b", known[0].text_b))
        ]
        st.menu_button("Examples", known, key="example", on_click=_take, format_func=_title, width=112)
    for name, text in zip("ab", texts):
        whole = max(len(text), st.session_state.pop(f"whole_{name}", 0))
        if whole > LIMIT:
            notice(f"Sentence {name.upper()} has {whole:,} characters: only the first {LIMIT:,} are kept.")
    texts = [text[:LIMIT] for text in texts]
    return next((one for one in known if [one.text_a, one.text_b] == texts), pairs.Example(*texts))


def prediction(found: Explained, lead: str = "The model says") -> None:
    """One line: the label, its probability as a bar and a number, the others, the gold label, time and device."""
    said, meta = found.prediction, found.trace.meta
    ranked = enumerate(zip(said.labels, said.probabilities))
    facts = [f"{label} {number(share)}" for i, (label, share) in ranked if i != said.best]
    facts += [f"gold: {said.labels[said.gold]}"] if said.gold is not None else []
    if "seconds" in meta:
        facts.append(f"{1000 * float(meta['seconds']):.0f} ms on {str(meta.get('device', 'cpu')).upper()}")
    share = said.probabilities[said.best]
    st.html(
        f'<div class="t-says"><span>{escape(lead)} <b>{escape(said.labels[said.best])}</b></span>'
        + style.bar(share, style.colour(found.mechanism))
        + f'<span class="t-num">{number(share)}</span>'
        + "".join(f'<span class="t-muted t-num">{escape(fact)}</span>' for fact in facts)
        + "</div>"
        + "".join(f'<p class="t-note">{escape(note)}</p>' for note in said.notes)
    )


def number(probability: float) -> str:
    """Three digits, and never a 1 or a 0 that is not one."""
    if 0.9995 <= probability < 1:
        return "> 0.999"
    return "< 0.001" if 0 < probability < 0.0005 else f"{probability:.3f}"


def _title(example: pairs.Example) -> str:
    return plain(f"{example.text_a}  /  {example.text_b}")


def _take() -> None:
    example = st.session_state["example"]
    st.session_state["a"], st.session_state["b"] = example.text_a, example.text_b


def _shorten(name: str) -> None:
    text = st.session_state[name]
    if len(text) > LIMIT:
        st.session_state[f"whole_{name}"], st.session_state[name] = len(text), text[:LIMIT]
