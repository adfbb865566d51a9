"""The Results page's commands: what made our numbers of a table and of its figure, to copy."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from triattn_core.results import commands
from triattn_core.results.curves import Curve
from triattn_core.results.paper_comparison import Cell
from triattn_core.results.paper_schema import Table

PLACES = (
    "As recorded: each command below the rows it made. DATA is your folder of data sets, runs/ the folder of models "
    "that you trained; run them where checkpoints/ lies."
)


def show_table_commands(table: Table, cells: Sequence[Sequence[Cell]]) -> None:
    """The commands of the rows shown, folded; nothing where no row has a number of ours."""
    _show(commands.table_commands(table, cells), "Commands that made our numbers", "commands")


def show_curve_commands(curves: Sequence[Curve]) -> None:
    """The commands of a figure's points, folded."""
    _show(commands.curve_commands(curves), "Commands that made the points", "curve-commands")


def _show(made: dict[str, list[str]], label: str, key: str) -> None:
    if not made:
        return
    with st.expander(f"{label} ({len(made)})", key=key, bind="query-params"):
        st.html(f'<p class="t-note">{PLACES}</p>')
        st.code(commands.shell_text(made), language=None, wrap_lines=True)
