"""The letters of a printed figure: which fonts of this machine have a shape for them, and how wide they are."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache

import matplotlib
from fontTools.ttLib import TTFont, TTLibError
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findSystemFonts, fontManager

from triattn_core.scenes.printing.sheet import Sheet
from triattn_core.views.lib.labels import Labels
from triattn_core.views.lib.palette import FONTS

NO_SHAPE = "▯"  # DejaVu Sans, which Matplotlib brings, has it
OWN = ("Noto Sans CJK JP", "DejaVu Sans")  # after those of the screen
PLACEHOLDERS = "Last Resort"  # a font that has a box for every letter
TOLD = 12  # letters without a shape that a caption names
PRECISE = 288  # dots an inch at which text is measured

logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # a font of few letters has no bold ones


@cache
def installed() -> Mapping[str, str]:
    """The file of each font by its name.  Matplotlib keeps a list of them, which may be older than the fonts."""
    known = {font.fname for font in fontManager.ttflist}
    for file in set(findSystemFonts()) - known:
        with suppress(RuntimeError, OSError):  # a font of bitmaps, such as most of emoji
            fontManager.addfont(file)
    return {font.name: font.fname for font in fontManager.ttflist if not font.name.startswith(PLACEHOLDERS)}


@cache
def letters_of(file: str) -> frozenset[int]:
    """The letters that a font has outlines for; none of a font of bitmaps."""
    try:
        with TTFont(file, fontNumber=0, lazy=True) as font:
            return frozenset(font.getBestCmap() or ()) if "glyf" in font or "CFF " in font else frozenset()
    except (TTLibError, OSError):
        return frozenset()


def families(texts: Iterable[str]) -> tuple[list[str], str]:
    """The fonts of a figure with these texts, first those of the screen, then what has letters that these lack; and
    the letters that no font of this machine has."""
    files = installed()
    names = [name for name in (*(name.strip(' "') for name in FONTS.split(",")), *OWN) if name in files]
    lacking = {ord(letter) for text in texts for letter in text if not letter.isspace()}
    for name in names:
        lacking -= letters_of(files[name])
    for name in sorted(files) if lacking else ():
        if found := lacking & letters_of(files[name]):
            names.append(name)
            lacking -= found
    return names, "".join(map(chr, sorted(lacking)))


def with_shapes(sheet: Sheet) -> Sheet:
    """The sheet as it can be drawn: a letter without a shape is NO_SHAPE, and the sentence below names it."""
    *_, lacking = families(texts_of(sheet))
    if not lacking:
        return sheet
    drawn = str.maketrans(dict.fromkeys(lacking, NO_SHAPE))

    def of(labels: Labels) -> Labels:
        return replace(labels, texts=[label.translate(drawn) for label in labels.texts])

    plates = [
        replace(
            plate,
            title=plate.title.translate(drawn),
            answer=plate.answer.translate(drawn),
            rows=of(plate.rows),
            columns=of(plate.columns),
        )
        for plate in sheet.plates
    ]
    texts = {name: getattr(sheet, name).translate(drawn) for name in ("title", "caption", "texts", "sentence")}
    texts["sentence"] = f"{without_shape(lacking)}. {texts['sentence']}"
    return replace(sheet, plates=plates, **texts)


def texts_of(sheet: Sheet) -> list[str]:
    """All that is written on a sheet."""
    labels = [
        text for plate in sheet.plates for text in (plate.title, plate.answer, *plate.rows.texts, *plate.columns.texts)
    ]
    return [sheet.title, sheet.caption, sheet.texts, sheet.sentence, *labels]


def without_shape(lacking: str) -> str:
    """What names the letters, by their numbers."""
    named = ", ".join(f"U+{ord(letter):04X}" for letter in lacking[:TOLD])
    more = f" and {len(lacking) - TOLD} more" if len(lacking) > TOLD else ""
    return f"{NO_SHAPE} stands for letters that no font of this machine has: {named}{more}"


@cache
def _pen():
    return FigureCanvasAgg(Figure(dpi=PRECISE)).get_renderer()


def type_width(text: str, size: float, weight: int = 400) -> float:
    """Inches of a text in the fonts that Matplotlib is set to.  size: in points."""
    return _width(text, size, weight, tuple(matplotlib.rcParams["font.family"]))


@lru_cache(4096)
def _width(text: str, size: float, weight: int, names: Sequence[str]) -> float:
    properties = FontProperties(family=list(names), size=size, weight=weight)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # its box is measured
        return _pen().get_text_width_height_descent(text, properties, False)[0] / PRECISE
