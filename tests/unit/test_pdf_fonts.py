"""The fonts of a PDF: TrueType, or outlines that every viewer draws."""

from __future__ import annotations

import io

import pytest
from matplotlib.figure import Figure
from pypdf import PdfReader

from triattn_core.scenes.printing import render
from triattn_core.scenes.printing.sheet import Sheet


def embedded_fonts(pdf: bytes) -> list[tuple[str, bytes]]:
    """The subtype of each font, and how its TrueType file begins; empty where it has none."""
    fonts = []
    for font in PdfReader(io.BytesIO(pdf)).pages[0]["/Resources"]["/Font"].values():
        about = font.get_object()
        inner = about["/DescendantFonts"][0].get_object() if "/DescendantFonts" in about else about
        file = inner["/FontDescriptor"].get_object().get("/FontFile2") if "/FontDescriptor" in inner else None
        fonts.append((about["/Subtype"], file.get_object().get_data()[:4] if file else b""))
    return fonts


@pytest.mark.parametrize(
    ("words", "subtypes"), [("Which browser", {"/Type0", "/TrueType"}), ("哪个浏览器", {"/Type3"})]
)
def test_a_pdf_embeds_truetype_or_outlines_that_every_viewer_draws(words, subtypes):
    def draw(sheet):
        figure = Figure((3.3, 1))
        figure.text(0.1, 0.5, sheet.title)
        return figure

    fonts = embedded_fonts(render.figure_file(Sheet(words, "", "", "", (), ()), draw, "pdf", 72))
    assert fonts and {subtype for subtype, _ in fonts} <= subtypes
    assert all(start in (b"", bytes([0, 1, 0, 0]), b"true") for _, start in fonts)  # not OTTO, which is no TrueType
