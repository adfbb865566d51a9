"""A module of one's own on the pages: what drives its word, other attention, its heads and what they are worth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.test_pages import opened, sound, texts
from tests.unit.test_own_module_source import DECODER, TEXT
from tests.unit.test_own_picture import VISION
from triattn_core.checkpoint import own_modules
from triattn_core.recording.own_module import OwnModule
from triattn_core.sources.own_text import probe

RARE = [f"word{i}" for i in range(20)]
WORDS = DECODER.replace("mat today", f"mat today {' '.join(RARE)}")  # enough to be words, not labels


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.setenv(own_modules.VARIABLE, "[]")
    offer(tmp_path / "mine.py", WORDS)


def offer(file: Path, code: str) -> None:
    file.write_text(code)
    own_modules.offer([f"{file}:build"], [probe(OwnModule.of(f"{file}:build"), TEXT)])


def test_what_drives_its_next_word(module):
    page_text = texts(sound(opened("attribute", checkpoint="mine", a=TEXT, b=" ", method="norms")))
    assert "<b>integrated gradients</b>" in page_text and "<b>rollout</b>" in page_text


def test_its_attention_is_changed(module):
    page_text = texts(sound(opened("intervene", checkpoint="mine", a=TEXT, b=" ")))
    assert "mine" in page_text


def test_its_heads_over_rows_and_what_they_are_worth(module):
    app = sound(opened("heads", task="Other models", other="mine", rows="a file of yours"))
    rows = "\n".join(
        json.dumps({"text": text}) for text in (TEXT, "a cat sat on the mat", "the old mat today")
    ).encode()
    app = sound(app.file_uploader(key="file").upload("mine.jsonl", rows).run())
    page_text = texts(app)
    assert "next words right, per cent" in page_text and "With even weights in every head the model" in page_text
    assert app.code[0].value.endswith("mine.py:build mine.jsonl --rows 48 --attention")
    assert any(link.label == "Open on Intervene" for link in app.get("page_link"))
    app.toggle(key="off").set_value(True).run()
    assert "log-probability of a word" in texts(sound(app)) and "flipped signs p" in texts(app)


def test_what_it_looked_at_as_it_wrote_each_token(module):
    query = {"from": "From a model", "model": "mine", "text": TEXT, "write": "3"}
    app = sound(opened("open", **query))
    assert "mine" in app.text_input(key="model").label
    assert app.number_input(key="token").max == 3 and 'class="t-film"' in texts(app)
    app = sound(opened("open", **(query | {"write": "0"})))
    assert 'class="t-film"' not in texts(app)


def test_one_that_reads_pictures_says_where_it_is_drawn(module, tmp_path):
    offer(tmp_path / "sees.py", VISION.replace("EXTRA", "1"))
    query = {"from": "From a model", "model": "sees", "text": TEXT}
    page_text = texts(opened("open", **query)).replace("\\", "")  # as Markdown has it
    assert "sees reads pictures: `triattn record sees.py:build picture.png" in page_text
    page_text = texts(sound(opened("intervene", checkpoint="sees", a=TEXT, b=TEXT))).replace("\\", "")
    assert "sees cannot take other attention weights. Shown instead" in page_text


def test_one_that_predicts_labels_writes_nothing(tmp_path, module):
    offer(tmp_path / "labels.py", DECODER)
    query = {"from": "From a model", "model": "labels", "text": TEXT, "write": "3"}
    assert "labels cannot write a text" in texts(opened("open", **query))
