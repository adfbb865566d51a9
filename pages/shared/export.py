"""Everything can be taken away, as one case card or piece by piece: pictures, the offline page, the data, the trace."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from pages.shared import open_in, paper_form
from pages.shared.models import MODELS
from triattn_core.case_card import RenderedView, draw
from triattn_core.case_card.archive import trace_file
from triattn_core.case_card.manifest import trace_command
from triattn_core.case_card.paper_figure import PaperFigure, can_print
from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes import cli_settings
from triattn_core.scenes.catalogue import SCENES
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import validate_settings
from triattn_core.tasks import TASKS, text_task
from triattn_core.trace import AttentionTrace
from triattn_core.views.lib.canvas import Canvas

_PICTURES = """
export default function ({ data, parentElement }) {
  for (const button of parentElement.querySelectorAll("button")) {
    const detail = { format: button.dataset.format, name: data.name, figure: data.figure };
    button.onclick = () => window.dispatchEvent(new CustomEvent("triattn-export", { detail }));
  }
}
"""
_BUTTONS = """<button data-format="png">Picture, PNG</button><button data-format="svg">Drawing, SVG</button>"""
_STYLE = """
button { display: block; width: 100%; height: 32px; margin: 0 0 8px; cursor: pointer; font: 400 12.25px var(--st-font);
  color: var(--st-text-color); background: var(--st-background-color); border: 1px solid var(--st-border-color);
  border-radius: var(--st-button-radius); }
button:last-child { margin-bottom: 0; }
button:hover, button:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color); }
"""
ZIP = "application/zip"
_pictures = st.components.v2.component("triattn_pictures", html=_BUTTONS, css=_STYLE, js=_PICTURES)


@dataclass(frozen=True)
class Saved:
    """A case card that is made when it is called.

    what: the checkpoints, or a trace alone, of which there is no example.  settings: what is chosen, asked for then
    too: a click may have chosen another cell since the page ran.
    """

    view: str
    what: Sequence[Entry] | AttentionTrace
    example: Any
    settings: Callable[[], Mapping[str, Any]]

    def __call__(self) -> bytes:
        return self.draw().case_card()

    def draw(self) -> RenderedView:
        """The view as it is chosen now."""
        return draw(self.view, self.what, self.example, MODELS, **self.settings())

    @property
    def entries(self) -> Sequence[Entry]:
        """The checkpoints; none of a trace alone."""
        return () if isinstance(self.what, AttentionTrace) else self.what

    @property
    def row(self) -> str:
        """The example as a row of its task, JSON."""
        task = text_task(self.entries[0].config["task"], self.example)
        return json.dumps(TASKS[task].row(self.example), ensure_ascii=False, indent=1) + "\n"

    def command(self, without: str = "", *tail: str) -> str:
        """What makes the same card without a page, but for one setting; tail: what else it is asked."""
        settings = {name: value for name, value in self.settings().items() if name != without}
        if isinstance(self.what, AttentionTrace):
            return trace_command(self.view, validate_settings(SCENES[self.view].settings, settings, self.view), *tail)
        found = cli_settings.where(self.entries)
        return cli_settings.command(self.view, [entry.name for entry in self.entries], settings, *tail, found=found)


def menu(name: str, figure: str, saved: Saved, scene: Scene) -> None:
    """The Export button and what is in it.

    name: of the files, without ending.  figure: the key that the canvas is shown under.  Of `saved` and the scene
    nothing is made before it is asked for.
    """

    def page() -> Canvas:
        return next(iter(saved.draw().figures.values()))

    if saved.entries:
        _open_in(saved)
    with st.popover("Export", width=92, key="export"), st.container(width=340):
        _save("Case card, ZIP: all of it", f"{name}.zip", saved, ZIP)
        _pieces(name, figure, page, lambda: scene.table, lambda: saved.what if not saved.entries else scene.trace)
        paper_form.fold(name, lambda tail: PaperFigure.of_view(saved.draw(), saved.command("", *tail)))
        if saved.entries:
            _show_commands(saved, "cell")  # a click chooses it without this menu


def pair_menu(name: str, figure: str, scene: Callable[[], Scene]) -> None:
    """The Export button of two traces beside each other; see `menu`.  scene: asked for when something is saved."""

    def page() -> Canvas:
        return next(iter(scene().figures.values()))

    table = lambda: scene().table  # noqa: E731
    with st.popover("Export", width=92, key="export"), st.container(width=340):
        _pieces(name, figure, page, table, lambda: scene().trace)
        paper_form.fold(name, lambda tail: PaperFigure(page(), table, {}, f"the page {st.context.url}"))


def _pieces(
    name: str,
    figure: str,
    page: Callable[[], Canvas],
    data: Callable[[], pd.DataFrame],
    trace: Callable[[], AttentionTrace],
) -> None:
    """Each piece by itself: pictures, the offline page, the data, the trace."""
    _pictures(data={"name": name, "figure": figure}, key="pictures")
    _save("Page that works offline, HTML", f"{name}.html", lambda: page().html(), "text/html")
    _save("All cells, CSV", f"{name}.csv", lambda: data().to_csv(index=False).encode("utf-8-sig"), "text/csv")
    _save("Whole trace, NetCDF", f"{name}.nc", lambda: trace_file(trace()), "application/x-netcdf")


def case_card(view: str, entries: Sequence[Entry], example: Any, settings: Mapping[str, Any]) -> None:
    """The Export button of a page whose figures and tables have menus of their own: all of it as one case card, and
    the command that makes the same.  settings: of the view, as they are chosen."""
    saved = Saved(view, entries, example, lambda: settings)
    _open_in(saved)
    with st.popover("Export", width=92, key="export"), st.container(width=460):
        _save("Case card, ZIP: all of it", f"{view}.zip", saved, ZIP)
        titles = lambda: {name: figure.title for name, figure in saved.draw().figures.items() if can_print(figure)}  # noqa: E731
        paper_figure = lambda tail, name: PaperFigure.of_view(saved.draw(), saved.command("", *tail), name)  # noqa: E731
        paper_form.fold_several(titles, paper_figure)
        _show_commands(saved)


def _open_in(saved: Saved) -> None:
    """The button to the other pages, which show checkpoints of ours."""
    task = saved.entries[0].config["task"]
    if "source" in saved.entries[0].config:
        return
    open_in.menu(saved.view, task, TASKS[task].row(saved.example), saved.entries[0])


def _show_commands(saved: Saved, without: str = "") -> None:
    """How the same is made without a page, but for one setting."""
    _save("The example as a row, JSON", cli_settings.ROW, lambda: saved.row, "application/json")
    st.caption("With this row the command prints the same numbers, and makes the same card:")
    st.code(saved.command(without), language=None, wrap_lines=True)


def _save(label: str, name: str, content: Callable[[], str | bytes], mime: str) -> None:
    ending = name.rsplit(".", 1)[1]
    st.download_button(label, content, name, mime, key=f"save-{ending}", on_click="ignore", width="stretch")
