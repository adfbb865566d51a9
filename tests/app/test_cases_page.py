"""The page Cases from app.py: what it opens on, its filters and links, files that are handed over, and stopping."""

from __future__ import annotations

import gzip
import json
from io import BytesIO
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import case_list
from tests.app.test_pages import opened, sound, texts
from tests.support.mined_checkpoints import NAMES, ROWS, make_checkpoints, rows
from tests.support.pages import page_links
from triattn_core.analysis.mining import agreement, case_table
from triattn_core.analysis.mining.runs import Run
from triattn_core.case_book import CaseBook
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.tasks import pairs

TABLE = {"pairs": 48, "dialogue": 12, "reading": 12}
LABELS = {"pairs": "Sentence pairs", "dialogue": "Dialogue", "reading": "Reading comprehension"}


@pytest.fixture(scope="module")
def checkpoint_folder(tmp_path_factory) -> Path:
    return make_checkpoints(tmp_path_factory.mktemp("checkpoints"))


@pytest.fixture(autouse=True)
def place(checkpoint_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(checkpoint_folder))
    monkeypatch.setenv("TRIATTN_DEVICE", "cpu")
    monkeypatch.setenv("TRIATTN_CASES", str(tmp_path / "cases.sqlite"))
    return tmp_path / "cases.sqlite"


def listed(app: AppTest) -> list[int]:
    return app.dataframe[0].value["row"].tolist()


def handed(name: str, content: bytes, page: str = "cases") -> AppTest:
    app = sound(opened(page, rows="a file of yours"))
    return app.file_uploader(key="file").upload(name, content).run()


def stopped(page: str, count: int) -> AppTest:
    """A page with a file of so many rows, stopped after two batches, as if the reader pressed the button then."""
    step = Run.step

    def stops(run: Run) -> bool:
        import streamlit as st

        if len(run.parts) == 2:
            st.session_state["mining stopped"] = next(iter(st.session_state["mining"]))
            st.rerun()
        return step(run)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "step", stops)
        return sound(handed("mine.jsonl", rows(count), page))


@pytest.mark.parametrize("task", LABELS)
def test_it_opens_on_our_own_examples(task: str) -> None:
    app = sound(opened("cases", task=LABELS[task]))
    assert "<h1>Cases</h1>" in texts(app) and sorted(listed(app)) == list(range(1, TABLE[task] + 1))
    table = app.dataframe[0].value
    split = [min(len(right), 3 - len(right)) for right in table["right"]]
    shown = list(zip(split, table["moved"]))
    assert shown == sorted(shown, reverse=True) and shown[0] > (0, 0)  # opens on a row that splits the checkpoints
    assert f"{TABLE[task]} {case_list.unit(task)} of tasks/" in texts(app)
    links = {link.proto.page.rpartition("/")[2]: link.proto for link in page_links(app)}
    assert set(links) == {"side_by_side", "cube"}
    assert "checkpoints=" in links["side_by_side"].query_string


def test_buttons_go_through_the_rows_and_the_figure_has_a_sentence_and_a_table() -> None:
    app = sound(opened("cases"))
    lines = listed(app)
    assert app.button(key="Previous-row").disabled and f"Row {lines[0]:,}<" in texts(app)
    sound(app.button(key="Next-row").click().run())
    assert f"Row {lines[1]:,}<" in texts(app) and app.query_params["row"] == str(lines[1])
    sound(app.button(key="Previous-row").click().run())
    assert f"Row {lines[0]:,}<" in texts(app)
    (sentence,) = [
        element.proto.body for element in app.get("html") if "Of 48 pairs: all three right" in element.proto.body
    ]
    app = sound(opened("cases", **{"who-numbers": "true"}))
    (table,) = [frame.value for frame in app.dataframe if "right" in frame.value and "rows" in frame.value]
    for row in table.itertuples():
        assert (f"{row.right} right {row.rows}" in sentence) == (row.rows > 0)
    assert "any other combination 0" in sentence


def test_filters_leave_what_they_say() -> None:
    app = sound(opened("cases"))
    table = app.dataframe[0].value
    for name, right in (("only Tri", {"Tri"}), ("none", set())):
        count = sum(set(one) == right for one in table["right"])
        sound(app.selectbox(key="agreement").set_value(name).run())
        assert (len(listed(app)) if count else 0) == count
    sound(app.selectbox(key="agreement").set_value("any").run())
    sound(app.selectbox(key="gold").set_value("paraphrase").run())
    assert len(listed(app)) == int((table["gold"] == "paraphrase").sum()) < len(table)
    sound(app.selectbox(key="moved").set_value("upper half").run())
    assert 0 < len(listed(app)) <= 24


def test_words_and_row_numbers_are_found() -> None:
    app = sound(opened("cases", words="browser", rows="our hard examples"))
    assert listed(app) == [1]
    for asked, expected_rows in (
        ("1", [1]),
        ("OVERLAP-1", [1]),
        ("text_a", None),
        ("no such word", None),
        ("99999", None),
    ):
        sound(app.text_input(key="words").set_value(asked).run())
        assert (listed(app) if len(app.dataframe) else None) == expected_rows, asked
    assert "No matching rows" in texts(app)


def test_a_link_restores_filters_and_row() -> None:
    app = sound(opened("cases", gold="paraphrase", row="32", language="English"))
    example = pairs.examples("en")[31]
    if example.label == 1:
        assert example.text_a in texts(app) and "Row 32" in texts(app)
    app = opened("cases", agreement="only Foo", row="9999999999999", similarity="quadratic")
    assert not app.exception and len(app.info) == 3 and "Row " in texts(app)
    assert "row '9999999999999', which is not in this list" in app.info[2].value.replace("\\", "")


def test_a_row_that_is_filtered_out_leaves_the_link() -> None:
    app = sound(opened("cases", row="32", language="English"))
    other = {0: "paraphrase", 1: "not a paraphrase"}[pairs.examples("en")[31].label]
    app = sound(app.selectbox(key="gold").set_value(other).run())
    assert "row" not in app.query_params and "Row 32" not in texts(app) and not app.info


def test_a_file_of_rows_is_mined_and_what_cannot_be_read_is_told() -> None:
    app = sound(handed("mine.jsonl.gz", gzip.compress(b"{\n" + ROWS + b'{"text_a": 1}\n')))
    assert len(listed(app)) == 20 and "20 pairs of mine.jsonl.gz" in texts(app)
    assert app.expander[0].label == "2 rows could not be read and were set aside"
    assert "mine.jsonl.gz:1: not JSON" in app.code[0].value and "mine.jsonl.gz:23: field 'text_a'" in app.code[0].value
    assert page_links(app) and sound(app.selectbox(key="gold").set_value("paraphrase").run())


BAD = {
    "empty": ("rows.jsonl", b""),
    "blank": ("rows.jsonl", b"\n\n"),
    "binary": ("rows.jsonl", bytes(range(256)) * 40),
    "UTF-16": ("rows.jsonl", '{"text_a": "x"}'.encode("utf-16")),
    "another task": ("rows.jsonl", b'{"history": ["a"], "response": "b"}\n' * 3),
    "cut short": ("rows.jsonl.gz", gzip.compress(ROWS)[:30]),
    "a zip bomb": ("rows.jsonl.gz", gzip.compress((b" " * 999 + b"\n") * 30_000)),
    "no Parquet": ("rows.parquet", b"PAR1" + bytes(400)),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_is_one_line(kind: str) -> None:
    app = handed(*BAD[kind])
    assert not app.exception and len(app.error) == 1
    assert "rows\\." in app.error[0].value and "\n" not in app.error[0].value


def test_the_table_of_an_earlier_run_opens_at_once(checkpoint_folder: Path) -> None:
    content = (checkpoint_folder / "results" / "cases" / "far.parquet").read_bytes()
    app = sound(handed("cases.parquet", content))
    assert len(listed(app)) == 20 and "upload it" in app.file_uploader(key="texts").label


def test_a_shipped_table_asks_for_its_texts_in_one_line() -> None:
    app = sound(opened("cases", rows="far test", row="7"))
    assert len(listed(app)) == 20 and app.dataframe[0].value["id"].tolist()[0].startswith("n-")
    assert not page_links(app)
    ask = app.file_uploader(key="texts")
    assert "far/test\\.jsonl" in ask.label
    app = ask.upload("test.jsonl", rows(20)).run()
    assert len(app.error) == 1 and "is another file" in app.error[0].value
    app = sound(app.file_uploader(key="texts").set_value(("x.jsonl", ROWS, "text/plain")).run())
    assert pairs.examples("en")[6].text_a in texts(app) and len(page_links(app)) == 2
    assert "sentence A" in app.dataframe[0].value


def test_rows_that_are_mined_with_others_only_are_named_not_swapped() -> None:
    app = sound(opened("cases", rows="near test"))
    assert app.selectbox(key="rows").value == "near test" and not app.dataframe
    assert "near test has not been mined with these checkpoints" in app.info[0].value


def test_what_was_mined_before_a_stop_is_shown_and_goes_on() -> None:
    app = stopped("cases", 40)
    assert 0 < len(listed(app)) < 40 and "Stopped after" in texts(app)
    app = sound(app.button(key="go-on").click().run())
    assert len(listed(app)) == 40 and "Stopped after" not in texts(app)


def test_a_table_of_another_checkpoint_says_so(checkpoint_folder: Path) -> None:
    far = case_table.load(checkpoint_folder / "results" / "cases" / "far.parquet")
    checkpoints = [checkpoint.model_copy(update={"digest": "0" * 64}) for checkpoint in far.about.checkpoints]
    checkpoints[0] = checkpoints[0].model_copy(update={"name": "gone-bi"})
    table = far.table.rename(columns=lambda name: name.replace(NAMES[0], "gone-bi"))
    file = BytesIO()
    case_table.CaseTable(table, far.about.model_copy(update={"checkpoints": tuple(checkpoints)})).write(file)
    app = sound(handed("old.parquet", file.getvalue()))
    notice = " ".join(info.value for info in app.info)
    assert "No longer among the checkpoints" in notice and "Retrained since" in notice
    assert list(agreement.right_combinations(far).index)[2] == "only Tri"


def test_a_case_is_kept_from_here(place: Path) -> None:
    app = sound(opened("cases", row="2"))
    assert not place.exists()
    note = next(area for area in app.text_area if area.key.startswith("note-"))
    note.set_value("Only play and download differ.")
    next(widget for widget in app.multiselect if widget.key.startswith("tags-")).set_value(["verb"])
    sound(next(button for button in app.button if button.key.startswith("keep-")).click().run())
    (case,) = CaseBook(place).search()
    assert (case.task, case.tags, case.page) == ("pairs", ("verb",), "side_by_side")
    assert case.note == "Only play and download differ."
    assert case.row == pairs.row(pairs.examples("en")[1]) and case.query.count("checkpoints=") == 3
    link = page_links(app)[-1].proto
    assert link.page.endswith("case_book") and case.id in link.query_string


@pytest.mark.parametrize(
    ("task", "prefix"), [("pairs", "majority "), ("dialogue", "chance 10.0"), ("reading", "chance ")]
)
def test_what_guessing_would_have_right_stands_beside_the_models(task: str, prefix: str) -> None:
    app = sound(opened("cases", task=LABELS[task]))
    payloads = [
        json.loads(component.proto.json).get("payload", {})
        for component in app.get("bidi_component")
        if component.proto.json
    ]
    (who,) = (payload for payload in payloads if "sections" in payload)
    accuracy = who["sections"][1]["foot"].split("   ")
    assert len(accuracy) == 4 and accuracy[-1].startswith(prefix)


def test_the_heading_says_whose_confidence_it_is() -> None:
    column = json.loads(sound(opened("cases")).dataframe[0].proto.columns)["confidence"]
    assert column["label"] == "Tri, confidence"
