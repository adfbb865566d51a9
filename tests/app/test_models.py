"""What is kept for all sessions is bounded, and the same example is run once."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from pages.shared import models
from pages.shared.errors import escape_markdown, without_folders
from pages.shared.models import MODELS
from triattn_core.checkpoint.registry import Entry
from triattn_core.views.lib.number_format import probability


def test_no_probability_is_written_as_certain_that_is_not() -> None:
    texts = [probability(p) for p in (0.0, 0.0001, 0.0005, 0.5, 0.8734, 0.9994, 0.99999, 1.0)]
    assert texts == ["0.000", "< 0.001", "0.001", "0.500", "0.873", "0.999", "> 0.999", "1.000"]


def test_messages_show_markdown_as_it_is() -> None:
    assert escape_markdown("![x](http://a.b/c.png) :red[x]") == r"\!\[x\]\(http\://a\.b/c\.png\) \:red\[x\]"


def test_an_answer_is_kept_by_its_function_and_arguments(monkeypatch) -> None:
    entry = Entry("kept-by-function", Path("kept"), {}, {}, "0", 0)
    monkeypatch.setattr(models.MODELS, "load", lambda entry: SimpleNamespace(device="cpu"))
    asked = []

    def length(bundle):
        asked.append("length")
        return 3

    def width(bundle):
        asked.append("width")
        return 5

    for _ in range(2):
        assert MODELS.answer(entry, "", length, "a", 1) == 3 and MODELS.answer(entry, "", width, "a", 1) == 5
    assert asked == ["length", "width"]
    MODELS.answer(entry, "", length, "a", 2)
    assert asked == ["length", "width", "length"]


def test_messages_do_not_say_where_folders_lie() -> None:
    for text, expected in (
        ("/home/ann/x/mine/bad/config.json: not JSON", "…/bad/config.json: not JSON"),
        ("encoder 'e': not under /srv/data/mine/encoders, not there", "encoder 'e': not under …/mine/encoders, n"),
        ("weights at '/srv/data/mine/bad (2)/model.safetensors'", "weights at '…/mine/bad (2)/model.safetensors'"),
        ("the URL /cube?layer=2 and 3/4 of a/b/c", "the URL /cube?layer=2 and 3/4 of a/b/c"),
    ):
        assert without_folders(text).startswith(expected)
