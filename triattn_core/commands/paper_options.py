"""`triattn card … --out FIGURE.pdf`: the options of a figure for a paper, and what is written."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from triattn_core.errors import ConfigError

if TYPE_CHECKING:
    from triattn_core.case_card.paper_figure import PaperFigure
    from triattn_core.scenes.printing.settings import PrintSettings

ENDINGS = (".pdf", ".svg", ".png")


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `triattn card` takes where --out is a picture."""
    group = parser.add_argument_group("figure for a paper", "if --out ends in .pdf, .svg or .png")
    text = "width in inches: 3.3 for one column, 7 for two (default: 7)"
    group.add_argument("--width", type=float, metavar="INCHES", help=text)
    group.add_argument("--ground", help="background: white, none or dark (default: white)")
    text = "parts to show: titles, badges, predictions, accuracy, crosshair, scale (default: all but accuracy)"
    group.add_argument("--show", nargs="*", metavar="PART", help=text)
    group.add_argument(
        "--panels", nargs="+", type=int, metavar="N", help="maps to show, counted from 1, in this order (default: all)"
    )
    group.add_argument("--figure", metavar="NAME", help="name of the figure, if the view has several")


def is_requested(options: argparse.Namespace) -> bool:
    """Whether `--out` names a picture.  Raises ConfigError for options of a picture without one."""
    if options.out.suffix in ENDINGS:
        return True
    print_options = [
        name for name in ("width", "ground", "show", "panels", "figure") if getattr(options, name) is not None
    ]
    if print_options:
        raise ConfigError(f"--{print_options[0]} is for a picture: let --out end in {', '.join(ENDINGS)}")
    return False


def settings(options: argparse.Namespace) -> PrintSettings:
    """Of the options.  Raises ConfigError."""
    from triattn_core.scenes.printing.settings import print_settings

    names = ("width", "ground", "show", "panels")
    return print_settings({name: getattr(options, name) for name in names if getattr(options, name) is not None})


def write(options: argparse.Namespace, figure: Callable[[tuple[str, ...]], PaperFigure]) -> None:
    """Writes the figure, its caption and its data, and prints their paths.

    figure: makes it from the tail of the command in the caption.
    """
    print_settings = settings(options)
    figure_option = () if options.figure is None else ("--figure", options.figure)
    paper_figure = figure((*figure_option, *print_settings.options(options.out.name)))
    for path in paper_figure.save(Path(options.out), print_settings):
        print(path)
