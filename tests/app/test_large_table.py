"""The page Cases with a table too large to list or to hold its texts: pages, samples, and texts from its file."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st

from pages.shared import case_list, row_source, text_lookup
from tests.app.test_cases_page import checkpoint_folder, listed, place  # noqa: F401
from tests.app.test_pages import opened, sound, texts
from tests.support.mined_checkpoints import ROWS
from triattn_core.analysis.mining import text_search


def test_texts_of_a_large_table_are_read_and_searched_in_its_file(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(row_source, "TEXTS", 19)
    app = sound(opened("cases", rows="far test", words="quickly"))
    assert "the texts are in far/test.jsonl, which is not here" in texts(app) and "No matching rows" in texts(app)
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "test.jsonl").write_bytes(ROWS)
    monkeypatch.setenv("TRIATTN_TABLES", str(tmp_path))
    app = sound(opened("cases", rows="far test", words="quickly"))
    assert listed(app) == [2] and "quickly" in app.dataframe[0].value["sentence A"][0].casefold()
    sound(app.text_input(key="words").set_value("n-11").run())
    assert listed(app) == [12]
    monkeypatch.setattr(text_lookup, "SEARCH", -1.0)
    app = sound(opened("cases", rows="far test", words="quickly"))
    assert "Searched the texts of lines 1 to 0 of 20 in 0 s" in texts(app) and "No matching rows" in texts(app)
    monkeypatch.setattr(text_lookup, "SEARCH", 60.0)
    app = sound(app.button(key="search-further").click().run())
    assert listed(app) == [2] and not [button for button in app.button if button.key == "search-further"]


def test_a_large_table_is_listed_by_page_or_by_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = opened("cases", rows="far test")
    lines = listed(whole)
    assert len(lines) == 20 and not whole.number_input
    monkeypatch.setattr(case_list, "WHOLE", 19)
    monkeypatch.setattr(case_list, "PAGE", 8)
    app = opened("cases", rows="far test")
    assert "<b>20</b> of 20 pairs, 8 of them here" in texts(app)
    pages = [listed(app), *(listed(app.number_input(key="from").set_value(page).run()) for page in (2, 3))]
    assert [len(page) for page in pages] == [8, 8, 4] and sorted(sum(pages, [])) == sorted(lines)
    assert "Nothing on this page" in texts(sound(app.number_input(key="from").set_value(9).run()))
    drawn = [listed(sound(opened("cases", rows="far test", order="at random", **{"from": seed}))) for seed in "112"]
    assert drawn[0] == drawn[1] != drawn[2] and all(len(set(one)) == 8 for one in drawn)


def test_texts_that_take_too_long_are_tried_again_and_those_that_cannot_be_read_are_others(monkeypatch, tmp_path):
    monkeypatch.setattr(row_source, "TEXTS", 19)
    monkeypatch.setenv("TRIATTN_TABLES", str(tmp_path))
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "test.jsonl").write_bytes(ROWS)
    monkeypatch.setattr(text_lookup, "READ", -1.0)
    app = sound(opened("cases", rows="far test"))
    assert "s of reading did not reach them in far/test.jsonl" in texts(app) and "cannot be read" not in texts(app)
    assert "20 of these rows: " in texts(app)
    monkeypatch.setattr(text_lookup, "READ", 60.0)
    app = sound(app.run())
    assert "Shown without" not in texts(app) and all(app.dataframe[0].value["sentence A"])


def test_rows_whose_texts_cannot_be_read_are_not_said_to_be_too_far(monkeypatch, tmp_path):
    monkeypatch.setattr(row_source, "TEXTS", 19)
    monkeypatch.setenv("TRIATTN_TABLES", str(tmp_path))
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "test.jsonl").write_bytes(ROWS)
    parse = text_search.parse_line
    monkeypatch.setattr(
        text_search, "parse_line", lambda task, text, at: None if at.endswith(":3") else parse(task, text, at)
    )
    st.cache_data.clear()
    app = sound(opened("cases", rows="far test"))
    assert "1 of these rows: they cannot be read in far/test.jsonl" in texts(app) and "did not reach" not in texts(app)
