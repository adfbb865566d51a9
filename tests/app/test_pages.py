"""Every page from app.py, without a browser: what it opens on, what it says to bad input, and what a link does."""

from __future__ import annotations

import json
import shutil
from html import escape
from pathlib import Path

import pytest
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from pages.shared.navigation import FIRST
from tests.support.figure_arrays import sent_messages
from tests.support.pages import app_test, at_page
from triattn_core.checkpoint.registry import VARIABLE, list_checkpoints, root
from triattn_core.studies import studies
from triattn_core.tasks import pairs

PAGES = {
    "studies": "Studies",
    "cube": "Tri-Attention cube",
    "side_by_side": "Side by side",
    "checkpoints": "Checkpoints",
    "compare": "Compare",
    "cases": "Cases",
    "case_book": "Case book",
}
MODEL_PAGES = ("cube", "side_by_side")
SAYS = '<div class="t-says">'  # the line with the prediction
LONG = "why " * 25_000  # 100,000 characters
ODD = {
    "emoji": "Where is the \N{ROCKET} launch \N{FAMILY}?",
    "right to left": "\u202eמתי יוצאת הרכבת?",
    "control characters": "Which\x00 browser\x07\x1b[31m can\u200b play?",
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)> ![x](http://example.com/x.png) :red[x] $x$",
    "another language": "哪些浏览器可以看电影",
    "one token": "movies",
    "100,000 characters": LONG,
    "one long word": "a" * 5000,
}


def opened(page: str, wait: int = 110, **query: str | list[str]) -> AppTest:
    """The page as a link with this query opens it; wait: seconds for a run."""
    app = app_test(wait)
    for name, value in query.items():
        app.query_params[name] = value
    return (app if page == FIRST else at_page(app, page)).run()


def ran(app: AppTest) -> AppTest:
    """The page after its button that asks for the rows; where they were asked for before they are there at once."""
    buttons = [button for button in app.button if button.key == "run"]
    return buttons[0].click().run() if buttons else app


def texts(app: AppTest) -> str:
    """All that the page says: its HTML, notices and errors."""
    html = [element.proto.body for element in app.get("html")]
    return "\n".join([*html, *(one.value for one in (*app.info, *app.error, *app.warning))])


def visible_text(app: AppTest) -> str:
    """The same without the marks that keep Markdown out."""
    return texts(app).replace("\\", "")


def sound(app: AppTest) -> AppTest:
    """The page itself, which has nothing to complain of; each option has a name, without which no link holds it."""
    assert not app.exception and not app.error, visible_text(app)
    assert not [box.label for box in app.selectbox if "" in box.options]
    return app


def payloads(app: AppTest) -> list[dict]:
    """What the canvases of the page draw, but for the strip of all heads above them."""
    components = sent_messages(app)
    return [
        component["payload"]
        for component in components
        if "payload" in component and not component["payload"].get("strip")
    ]


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_on_a_worked_example(page: str) -> None:
    app = opened(page)
    assert not app.exception
    assert not app.error
    assert f"<h1>{PAGES[page]}</h1>" in texts(app)
    if page in MODEL_PAGES:
        first = pairs.examples("en")[0]
        assert [box.value for box in app.text_area][:2] == [first.text_a, first.text_b]
        assert SAYS in texts(app)


def test_a_link_as_the_first_request_of_a_server_goes_through_app() -> None:
    app = opened("checkpoints")
    assert PagesManager.uses_pages_directory is False
    assert not app.exception


@pytest.mark.parametrize("page", MODEL_PAGES)
def test_odd_text_gives_a_result_or_one_message(page: str) -> None:
    app = opened(page)
    for kind, text in ODD.items():
        app.text_area(key="a").set_value(text).run()
        assert not app.exception, kind
        assert len(app.error) + (SAYS in texts(app)) == 1, kind
        assert "<script>" not in texts(app), kind
        assert (kind == "100,000 characters") == ("has 100,000 characters" in texts(app)), kind


@pytest.mark.parametrize("page", MODEL_PAGES)
def test_blank_text_is_one_message(page: str) -> None:
    app = opened(page)
    for blank in ("", "   ", "\t\u3000", "\u200b\u200b"):
        app.text_area(key="b").set_value(blank).run()
        assert not app.exception, repr(blank)
        assert [error.value.startswith("Sentence B") for error in app.error] == [True], repr(blank)


@pytest.mark.parametrize("page", MODEL_PAGES)
def test_two_identical_sentences(page: str) -> None:
    app = opened(page, a="The dog chased the cat.", b="The dog chased the cat.")
    assert not app.exception and not app.error
    assert SAYS in texts(app)


def test_an_example_brings_its_gold_label() -> None:
    example = next(example for example in pairs.examples() if example.label == 1)
    app = opened("cube", a=example.text_a, b=example.text_b)
    assert "gold: paraphrase" in texts(app)
    app.text_area(key="a").set_value(example.text_a + " Really?").run()
    assert "gold:" not in texts(app)


@pytest.mark.parametrize("page", ["cube", "checkpoints"])
def test_an_unknown_checkpoint_in_the_link_falls_back_with_a_notice(page: str) -> None:
    app = opened(page, checkpoint="quora-trio-additive<script>")
    assert not app.exception and not app.error
    assert len(app.info) == 1
    assert "Shown instead" in app.info[0].value.replace("\\", "")
    assert app.selectbox(key="checkpoint").value.name in {entry.name for entry in list_checkpoints()}


def test_bad_values_in_the_link_are_each_said() -> None:
    app = opened("cube", layer="77", head="many", direction="sideways")
    assert not app.exception and not app.error
    assert len(app.info) == 3


def test_a_link_restores_its_choices() -> None:
    app = opened("cube", layer="1", head="3", quantity="relevance", a="A short one.", b="Another one.")
    assert not app.exception and not app.info
    assert app.text_area(key="a").value == "A short one."
    assert app.selectbox(key="head").value == 3


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository's checkpoints with one copied, to be damaged."""
    source = root()
    for path in source.iterdir():
        (tmp_path / path.name).symlink_to(path.resolve())
    first = list_checkpoints()[0]
    shutil.copytree(first.path, tmp_path / "a-damaged-one")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path / "a-damaged-one"


def damage(folder: Path, how: str) -> None:
    weights, config = folder / "model.safetensors", folder / "config.json"
    if how == "truncated":
        weights.write_bytes(weights.read_bytes()[:5000])
    elif how == "changed":
        data = bytearray(weights.read_bytes())
        data[-7] ^= 255
        weights.write_bytes(bytes(data))
    elif how == "pickle":
        weights.write_bytes(b"\x80\x04\x95" + bytes(200))
    else:
        config.write_text(json.dumps({**json.loads(config.read_text()), "colour": "red"}))


@pytest.mark.parametrize("how", ["truncated", "changed", "pickle", "unknown key"])
def test_a_damaged_checkpoint_is_one_line_that_names_the_file(copied: Path, how: str) -> None:
    damage(copied, how)
    app = opened("checkpoints", checkpoint=copied.name)
    assert not app.exception
    button = next(button for button in app.button if button.label == "Verify")
    button.click().run()
    assert not app.exception
    page_text = texts(app)
    assert "a-damaged-one/" in page_text
    assert ("config.json" if how == "unknown key" else "model.safetensors") in page_text


def test_without_checkpoints_every_page_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setenv("TRIATTN_CASES", str(tmp_path / "cases.sqlite"))  # another test may have kept a case
    for page in PAGES:
        app = opened(page)
        assert not app.exception and not app.error
        assert len(app.info) == (0 if page == "studies" else 1)


def test_studies_open_with_links_that_show_the_same_input() -> None:
    app = sound(opened("studies"))
    assert sum("change a word" in link.proto.label for link in app.get("page_link")) == len(studies())
    for study in studies().values():
        assert escape(study.title) in texts(app)
        assert all(escape(part) in texts(app) for part in (study.about, *study.result.split(". "), study.limits))
        assert not sound(opened(study.page, **study.opens)).warning
