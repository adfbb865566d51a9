"""What the attention of a model of others is worth over rows: as it is, and with the weights of every head replaced."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.heads.atlas_rows import OtherRows, Rows
from pages.shared import checkpoint_html, figures, other_rows, style
from pages.shared.errors import report_errors
from triattn_core.views.lib.number_format import minus

LEVEL = 0.05
SAYS = (
    "Even: the same weight on every token. Shuffled: its own weights in a drawn order. Mean row: each row becomes the "
    "mean of all. Fragility counts too: a model trained with such weights may do better."
)


def show(rows: Rows) -> None:
    """Bars and numbers; nothing of checkpoints of ours, whose worth is measured in training, nor without labels."""
    if not isinstance(rows, OtherRows) or not rows.labelled:
        return
    st.html(checkpoint_html.section("What is its attention worth?", f"{rows.metric}, per cent"))
    with report_errors(stop=False):
        table = rows.reliance()
        if table is None or table.empty:
            return
        _show(table)
        if not rows.ours:
            other_rows.show_command([rows.named], rows.source, rows.count, "--attention")


def _show(table) -> None:
    from triattn_core.sources.transformer_worth import reliance

    score, replaced, test = reliance(table)
    even = replaced["even"]
    verb = "loses" if even["points"] >= 0 else "gains"
    sentence = (
        f"With even weights in every head the model {verb} {abs(even['points']):.1f} points of {score:.1f} % over "
        f"{len(table):,} rows ({test}, p {even['p']:.2g}{'' if even['p'] <= LEVEL else ': it may be chance'})."
    )
    st.html(f'<p class="t-outcome"><b>{escape(sentence)}</b></p>')
    lines = _line("as it is", score, "", "") + "".join(
        _line(name, row["score"], minus(f"{-row['points']:+.1f}"), f"{row['p']:.2g}") for name, row in replaced.items()
    )
    head = '<tr><th>weights</th><th></th><th class="r">right, %</th><th class="r">points</th><th class="r">p</th></tr>'
    st.html(f'<table class="t-table" style="max-width:640px">{head}{lines}</table>')
    figures.note(SAYS)


def _line(name: str, score: float, points: str, p: str) -> str:
    bar = style.bar(score / 100, style.colour("multi_head"))
    cells = f'<td class="r">{score:.1f}</td><td class="r">{points}</td><td class="r">{p}</td>'
    return f"<tr><td>{escape(name)}</td><td>{bar}</td>{cells}</tr>"
