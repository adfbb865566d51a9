"""The numbers of a page again, from the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import streamlit as st

from pages.shared.errors import escape_markdown
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site

CELL = "The numbers of this cell again"


def cell(trace: AttentionTrace, site: Site, position: Mapping[str, int | str], part: int | None = None) -> str:
    """What `triattn explain` is asked for a cell.  position: that of each axis, or how it is reduced; part: from 1."""
    places = ",".join(str(position[str(axis)]) for axis in trace.site(site).dims)
    read, option = trace.meta.get("read", ""), f"--part {part}" if part else ""
    return " ".join(filter(None, (f"--cell {site} {places}", str(read), option)))


def command(checkpoint: str, row: Mapping, arguments: str, label: str = CELL) -> None:
    """Shows the command and the row that it reads.  arguments: of `triattn explain`; label: what it prints."""
    commands([checkpoint], row, arguments, label)


def commands(checkpoints: Sequence[str], row: Mapping, arguments: str, label: str) -> None:
    """The same for several checkpoints, a line each, in a fold."""
    folded = st.expander(f"{escape_markdown(label)}, from the command line", key="commands", bind="query-params")
    with folded, st.container(horizontal=True, vertical_alignment="center"):
        lines = [f"triattn explain {checkpoint} row.json {arguments}" for checkpoint in checkpoints]
        st.code("\n".join(lines), language=None, wrap_lines=True)
        text = json.dumps(row, ensure_ascii=False, indent=1) + "\n"
        st.download_button("row.json", text, "row.json", "application/json", key="row", on_click="ignore")
