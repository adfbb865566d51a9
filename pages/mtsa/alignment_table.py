"""Does it align?  The alignment error rate of each cross-attention head, beside a diagonal, even weights, gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from pages.shared import attention_worth
from pages.shared.sentence_input import SentencePage

QUESTION = "Does it align?"
SAYS = (
    "Alignment error rate against {set}, {n:,} sentences, in per cent: 0 is perfect. Each target word is linked to the "
    "source word with the most weight, each target read as given. A head below the diagonal finds words by more than "
    "their place. Gradients: saliency, the gradient of a sub-word's log-probability times the source's vectors."
)
UNMEASURED = "Not measured: `triattn evaluate {name} ROWS --attention --record` on rows with alignments."


def show(top: SentencePage) -> None:
    """Shows the table of the rows that were measured."""
    measured = attention_worth.measures(top.entry)
    st.html(f"<b>{QUESTION}</b>")
    if not measured.get("alignment_error"):
        st.caption(UNMEASURED.format(name=top.entry.name))
        return
    note = SAYS.format(set=measured.get("set", "given alignments"), n=measured["n"])
    st.html(
        f'<div class="t-scroll">{table(measured["alignment_error"], measured.get("baselines", {}))}</div>'
        f'<p class="t-note">{escape(note)}</p>'
    )


def table(rows: Sequence[Mapping[str, Any]], baselines: Mapping[str, float]) -> str:
    """HTML: a line for each layer with its heads and their mean, the smallest error bold; then the baselines."""
    layers = sorted({row["layer"] for row in rows})
    heads = sorted({row["head"] for row in rows if row["head"] is not None})
    errors = {(row["layer"], row["head"]): row["aer"] for row in rows}
    best = min(errors.values())
    titles = "".join(f'<th class="r">Head {head + 1}</th>' for head in heads) + '<th class="r">mean of heads</th>'
    lines = ""
    for layer in layers:
        cells = "".join(_cell(errors.get((layer, head)), best) for head in [*heads, None])
        lines += f"<tr><td>Layer {layer + 1}</td>{cells}</tr>"
    for name, error in baselines.items():
        empty = f'<td colspan="{len(heads)}"></td>'
        lines += f'<tr><td class="t-muted">{escape(name.capitalize())}</td>{empty}<td class="r">{error:.1f}</td></tr>'
    return f'<table class="t-table t-alignment"><tr><td></td>{titles}</tr>{lines}</table>'


def _cell(error: float | None, best: float) -> str:
    if error is None:
        return '<td class="r">–</td>'
    text = f"{error:.1f}"
    return f'<td class="r">{f"<b>{text}</b>" if error == best else text}</td>'
