"""Files of a figure without a browser: SVG whose text is text, PDF with its fonts, PNG.

Matplotlib draws on figures of its own, not through pyplot: several threads may ask at once.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from threading import Lock
from typing import Any

import matplotlib
from fontTools.ttLib import TTFont
from matplotlib.figure import Figure
from matplotlib.text import Text

from triattn_core.scenes.printing.letters import families, installed, letters_of, texts_of, with_shapes
from triattn_core.scenes.printing.sheet import Sheet
from triattn_core.views.lib.palette import FONTS

_FAMILY = re.compile(rb"font-family: [^;\"]*")
_FACTS = {  # no date: the same numbers make the same bytes
    "svg": {"Date": None, "Creator": "triattn"},
    "pdf": {"CreationDate": None, "Creator": "triattn"},
    "png": {"Software": "triattn"},
}
_settings = Lock()  # Matplotlib's settings are one for all threads


def figure_file(sheet: Sheet, draw: Callable[[Sheet], Figure], kind: str, dots: int) -> bytes:
    """The file of a sheet: svg, pdf (its fonts embedded, so that text can be searched), png.  Fonts are set while
    `draw` runs; letters that none has are drawn as `letters.NO_SHAPE`, but in an svg, whose reader may have one.

    A PDF is set in TrueType, which publishers take, where such a font has all letters; else in outlines (Type 3), for
    Matplotlib embeds OpenType fonts with PostScript outlines so that not every viewer draws them.
    """
    drawn = sheet if kind == "svg" else with_shapes(sheet)
    with set_fonts(drawn), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # of an svg, where text is measured alone
        file = BytesIO()
        (_draw_in_true_type(lambda: draw(drawn)) if kind == "pdf" else draw(drawn)).savefig(
            file, format=kind, dpi=dots, metadata=_FACTS[kind]
        )
    if kind != "svg":
        return file.getvalue()
    # Whoever opens it may have other fonts than this machine.
    return _FAMILY.sub(b"font-family: " + FONTS.replace('"', "'").encode(), file.getvalue())


@contextmanager
def set_fonts(sheet: Sheet) -> Iterator[None]:
    """Has Matplotlib draw and measure in the fonts of a sheet."""
    names, _ = families(texts_of(sheet))
    settings: Any = {"svg.fonttype": "none", "pdf.fonttype": 3, "svg.hashsalt": "triattn", "font.family": names}
    with _settings, matplotlib.rc_context(settings):
        yield


def _draw_in_true_type(draw: Callable[[], Figure]) -> Figure:
    """The figure in the first TrueType font of `font.family` that has all its letters; else as it is set."""
    figure = draw()
    letters = {ord(letter) for text in figure.findobj(Text) for letter in text.get_text() if letter != "\n"}
    for name in matplotlib.rcParams["font.family"]:
        with TTFont(installed()[name], fontNumber=0, lazy=True) as font:
            outlines = "glyf" in font
        if outlines and letters <= letters_of(installed()[name]):
            matplotlib.rcParams.update({"font.family": [name], "pdf.fonttype": 42})
            return draw()
    return figure
