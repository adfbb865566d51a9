"""What can be taken away: the figures as they are shown, who learns what, and the costs, with their sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from pages.third_order.pickers import WIDTH
from triattn_core.errors import ConfigError
from triattn_core.results import third_order
from triattn_core.scenes.charts import Chart
from triattn_core.scenes.printing import third_order_table
from triattn_core.scenes.printing.chart import paper_chart
from triattn_core.scenes.printing.settings import PrintSettings

WIDTHS = (WIDTH, 480, 240)  # pixels: of all maps in a row, of two, of one
INCHES = 6.75  # of both columns of a paper


@dataclass(frozen=True)
class Saved:
    """A figure that can be saved.  name: of the file, without its ending.  draw: in a theme and a width."""

    label: str
    name: str
    draw: Callable
    description: str


def menu(saved: Sequence[Saved], caption: str) -> None:
    """Shows the Export button.  caption: of the figure, in LaTeX."""
    with st.popover("Export", width=92, key="third-order-export"), st.container(width=360):
        for figure in saved:
            file = partial(figure_file, figure.draw, figure.description)
            _save(f"{figure.label}, PDF, {INCHES:g} in", f"{figure.name}.pdf", file, "application/pdf")
        _save("Caption of the figure, LaTeX", "third-order-caption.tex", lambda: caption, "text/plain")
        _save("Who can learn what, LaTeX", "third-order.tex", third_order_table.latex, "text/plain")
        _save("Who can learn what, CSV", "third-order.csv", lambda: third_order_table.rows().to_csv(index=False))
        if third_order.cost() is not None:
            _save("What it costs, CSV", "third-order-cost.csv", cost_csv)
        st.caption(
            "Caption and tables name the source of each score, the tables also those of proofs and their command."
        )


def figure_file(draw: Callable, description: str) -> bytes:
    """The figure on white paper, as wide as both columns: its maps in a row, or where that is too wide in several."""
    for width in WIDTHS:
        with suppress(ConfigError):
            return paper_chart(_chart(draw, description, width), PrintSettings(width=INCHES), "pdf")
    raise ConfigError(f"the maps have no room at {INCHES:g} in")


def _chart(draw: Callable, description: str, width: int) -> Chart:
    return Chart.of(draw(theme="light", width=width), "Third-order scores on one row", description)


def cost_csv() -> str:
    """Time and memory at each length, with the command and the machine."""
    measured = third_order.cost() or {}
    points = pd.DataFrame(measured["points"])
    return points.assign(command=measured["command"], machine=measured["machine"]).to_csv(index=False)


def _save(label: str, name: str, content: Callable[[], str | bytes], mime: str = "text/csv") -> None:
    st.download_button(label, content, name, mime, key=f"save-{name}", on_click="ignore", width="stretch")
