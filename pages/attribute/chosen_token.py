"""One token under every method: its share and its rank, framed in the text, and kept when the text is edited."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.shared import checkpoint_html, kept_cell, url_state
from triattn_core.scenes.attribute import TokenShares
from triattn_core.views.charts.attribution import abbreviate, percent, plays
from triattn_core.views.lib.strongest import numbered

KEY = "token"  # in the URL
WIDTH, LONGEST = 290, 34  # pixels of the picker, and letters that fit in it


def show(tokens: TokenShares) -> None:
    """The picker of a token, what each method gives it, and its frame in the text."""
    table = tokens.table[tokens.table["special"] == 0]
    labels = [f"{plays(role, tokens.names)}: {token}" for role, token in zip(table["role"], table["token"].astype(str))]
    names = dict(zip(table.index, numbered(abbreviate(label, LONGEST) for label in labels)))
    first = int(tokens.shares.loc[table.index].abs().max(axis=1).idxmax())
    st.html(checkpoint_html.section("One token", "framed in the text; rank among those of its role"))
    kept_cell.keep_token(KEY, dict(zip(table.index, table["role"] + " " + table["token"].astype(str))), first)
    show_name = lambda row: names.get(row, str(row))  # noqa: E731
    row = url_state.pick("Token", list(names), KEY, list(names).index(first), show=show_name, width=WIDTH)
    st.html(
        f"<style>.token-{row} {{outline: 2px solid var(--t-accent); outline-offset: -2px}}</style>{_rows(tokens, row)}"
    )


def _rows(tokens: TokenShares, row: int) -> str:
    """HTML: a line for each method."""
    role = tokens.table["role"] == tokens.table.loc[row, "role"]
    shares = tokens.shares[role & (tokens.table["special"] == 0)]
    html = ""
    for method in shares:
        share = shares.loc[row, method]
        ranked = shares[method].abs().rank(ascending=False, method="min")
        rank = f"{int(ranked[row])} of {len(shares)}" if share == share else "not read"
        number = percent(share) if share == share else "–"
        html += f'<tr><th scope="row">{escape(str(method))}</th><td>{number}</td><td>{rank}</td></tr>'
    head = '<tr><td></td><th scope="col">share</th><th scope="col">rank</th></tr>'
    return f'<table class="t-table">{head}{html}</table>'
