"""Figure for a paper, in the Export menu: width, ground, what stands on it; PDF, SVG, PNG, with caption and data."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from pages.shared.errors import report_errors
from triattn_core.case_card.paper_figure import PaperFigure, is_chart
from triattn_core.scenes.printing.chart import fit_width
from triattn_core.scenes.printing.settings import (
    COLUMN,
    FORMATS,
    GROUNDS,
    NARROWEST,
    PAGE,
    PARTS,
    SHOWN,
    WIDEST,
    PrintSettings,
    print_settings,
)

WIDTHS = {f"{COLUMN:g} in, one column": COLUMN, f"{PAGE:g} in, both columns": PAGE, "another width": None}
MIMES = {"pdf": "application/pdf", "svg": "image/svg+xml", "png": "image/png", "zip": "application/zip"}
FACTS = {
    "badges": "badge",
    "predictions": "answer",
    "accuracy": "score",
    "crosshair": "cell",
}  # of a plate, where it has them
Make = Callable[[tuple[str, ...]], PaperFigure]
NamedMake = Callable[[tuple[str, ...], str], PaperFigure]


@st.fragment
def fold(name: str, make: Make) -> None:
    """The fold with all of it; closed it costs nothing.

    name: of the files, without ending.  make: the figure, of the tail of the command that its caption has.
    """
    _open(lambda: _form(name, make))


@st.fragment
def fold_several(titles: Callable[[], Mapping[str, str]], make: NamedMake) -> None:
    """The same for a view with several figures.  titles: by name.  make: takes the tail and the name of a figure."""

    def form() -> None:
        titles_by_name = titles()
        figure = st.selectbox("Figure", list(titles_by_name), format_func=titles_by_name.get, key="paper-figure")
        _form(figure, lambda tail: make(("--figure", figure, *tail), figure))

    _open(form)


def _open(form: Callable[[], None]) -> None:
    with st.expander("Figure for a paper", key="paper", on_change="rerun") as box:
        if not box.open:
            return
        with report_errors(stop=False):
            form()


def _form(name: str, make: Make) -> None:
    first = make(())
    plates, chart = first.sheet().plates, is_chart(first.figure)
    titles = [plate.title for plate in plates]
    parts_here = [part for part in PARTS if part not in FACTS or any(getattr(plate, FACTS[part]) for plate in plates)]
    parts_here = ["titles"] if chart else parts_here
    width_name = st.selectbox("Width", list(WIDTHS), key="paper-width")
    inches = WIDTHS[width_name] or st.number_input("Inches", NARROWEST, WIDEST, 5.0, 0.1, key="paper-inches")
    ground = st.segmented_control(
        "Ground", GROUNDS[:2] if chart else GROUNDS, default="white", required=True, key="paper-ground"
    )
    show = st.multiselect(
        "Show", parts_here, [part for part in SHOWN if part in parts_here], format_func=PARTS.get, key="paper-show"
    )
    parts = tuple(part for part in PARTS if part in show or (part in SHOWN and part not in parts_here))
    settings = {"width": inches, "ground": ground or "white", "show": parts if set(parts) != set(SHOWN) else SHOWN}
    if 1 < len(titles) <= 8:
        names = [f"{number}: {title}" for number, title in enumerate(titles, 1)]
        panels = st.multiselect("Panels", names, placeholder="all", key="paper-panels")
        settings["panels"] = tuple(names.index(panel) + 1 for panel in panels if panel in names)
    print_setup = print_settings(settings)
    if chart:
        fit_width(first.figure, print_setup)  # says it here where it has no room
    file = lambda kind: make(print_setup.options(f"{name}.{kind}")).file(kind, print_setup)  # noqa: E731
    with st.container(horizontal=True):
        for kind in FORMATS:
            _button(kind.upper(), f"{name}.{kind}", lambda kind=kind: file(kind))
    _button("All three, caption and data, ZIP", f"{name}-figure.zip", lambda: _archive(name, make, print_setup))
    st.caption("Text is at least 7 points at this width; PNG has 300 dpi.")


def _archive(name: str, make: Make, print_setup: PrintSettings) -> bytes:
    return make(print_setup.options(f"{name}.pdf")).archive(name, print_setup)


def _button(label: str, file: str, content: Callable[[], bytes]) -> None:
    ending = file.rsplit(".", 1)[1]
    st.download_button(label, content, file, MIMES[ending], key=f"paper-{ending}", on_click="ignore", width="stretch")
