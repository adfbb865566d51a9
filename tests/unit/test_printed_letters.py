"""Letters in printed figures: none is a box without a word about it, none is cut off."""

from __future__ import annotations

import warnings
from io import BytesIO

import numpy as np
import pytest
from matplotlib.font_manager import fontManager
from PIL import Image

import triattn_core
from triattn_core.case_card.paper_figure import PaperFigure
from triattn_core.scenes.printing import letters
from triattn_core.scenes.printing.settings import PrintSettings

WIDTHS = PrintSettings(width=3.3)
NOBODY = "\U0001f642\u0924\u0e14\U000f1234"  # the last is of private use: no font has it


def printed(*tokens: str) -> PaperFigure:
    size = len(tokens)
    weights = np.full((size, size), 1 / size)
    view = triattn_core.draw("map", triattn_core.trace_of(weights, axes=("query", "key"), tokens=tokens))
    return PaperFigure.of_view(view, "triattn card")


@pytest.fixture
def only_latin(monkeypatch):
    """A machine whose fonts have the letters that DejaVu Sans has."""
    own = {"DejaVu Sans": letters.installed()["DejaVu Sans"]}
    monkeypatch.setattr(letters, "installed", lambda: own)


@pytest.mark.parametrize(
    "token", ["\U000f1234", "red\U000f1234", "\U000f1234\U000f1235", "\U0001f642", "नमस्ते", "猫", "བོད"]
)
def test_a_letter_without_a_shape_is_said_and_nothing_is_warned_of(only_latin, token):
    figure = printed("ok", token)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for kind in ("png", "pdf", "svg"):
            assert figure.file(kind, WIDTHS)
        assert figure.figure.png() and figure.figure.svg()
    _, lacking = letters.families([token])
    assert lacking and all(f"U+{ord(letter):04X}" in figure.caption(WIDTHS) for letter in lacking[: letters.TOLD])
    assert letters.NO_SHAPE in figure.caption(WIDTHS)


@pytest.mark.parametrize("one, other", ["猫狗", "नत", "\U0001f642\U0001f643"])
def test_a_figure_names_the_letters_that_it_draws_as_boxes(one, other, only_latin):
    """Their boxes are alike, so that the pictures differ by the sentence alone."""
    first, second = (np.asarray(Image.open(BytesIO(printed("ok", token).figure.png()))) for token in (one, other))
    assert first.shape != second.shape or (first != second).any()


def test_a_font_that_is_none_of_the_screen_lends_its_letters(monkeypatch):
    """Each letter is asked of all fonts of the machine, before it is said that none has it."""
    own = {"DejaVu Sans": letters.installed()["DejaVu Sans"]}
    monkeypatch.setattr(letters, "installed", lambda: own | {"Far Away": "far.ttf"})
    known = letters.letters_of
    monkeypatch.setattr(letters, "letters_of", lambda file: frozenset({0x732B}) if file == "far.ttf" else known(file))
    names, lacking = letters.families(["ok 猫狗"])
    assert names[-1] == "Far Away" and lacking == "狗"


def test_an_svg_keeps_the_letters(only_latin):
    assert "猫" in printed("ok", "猫").file("svg", WIDTHS).decode()


def test_what_all_fonts_have_needs_no_word():
    assert letters.NO_SHAPE not in printed("red", "naïve", "Straße").caption(WIDTHS)


def test_a_font_that_matplotlib_has_not_listed_yet_is_found(monkeypatch):
    listed = list(fontManager.ttflist)
    later = next(font for font in listed if font.name == "DejaVu Serif")
    monkeypatch.setattr(fontManager, "ttflist", [font for font in listed if font.fname != later.fname])
    monkeypatch.setattr(letters, "findSystemFonts", lambda: [later.fname])
    assert letters.installed.__wrapped__()["DejaVu Serif"] in {font.fname for font in listed}
    assert any(font.fname == later.fname for font in fontManager.ttflist)


@pytest.mark.parametrize("label", ["W" * 14, "M" * 30, "猫" * 14, "@%@%@%@%@%@%"])
@pytest.mark.parametrize("width", [3.3, 5.0])
def test_a_wide_label_is_whole(label, width):
    drawn = Image.open(BytesIO(printed(label, "b", "c").file("png", PrintSettings(width=width)))).convert("L")
    pixels = np.asarray(drawn)
    assert pixels.std() > 0 and (pixels[:, 0] == pixels[0, 0]).all() and (pixels[0] == pixels[0, 0]).all()
