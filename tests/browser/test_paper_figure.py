"""A figure for a paper, from the Export menu of a page: files at the chosen width."""

from __future__ import annotations

import io
from zipfile import ZipFile

import pytest
from pypdf import PdfReader

pytestmark = pytest.mark.browser


def test_a_figure_of_one_column_with_caption_and_data(page, app, tmp_path):
    page.goto(f"{app}/open")
    page.get_by_role("button", name="Export").click()
    page.get_by_text("Figure for a paper").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="All three, caption and data, ZIP").click()
    saved.value.save_as(tmp_path / "figure.zip")
    with ZipFile(tmp_path / "figure.zip") as archive:
        files = {name.split(".", 1)[1]: archive.read(name) for name in archive.namelist()}
    assert set(files) == {"pdf", "svg", "png", "caption.txt", "csv"}
    box = PdfReader(io.BytesIO(files["pdf"])).pages[0].mediabox
    assert float(box.width) / 72 == pytest.approx(3.3, abs=0.01)
    assert b"SHA-256" in files["caption.txt"] and files["csv"].count(b"\n") > 1000
