"""The page Head atlas: the table of heads, a head in examples, heads ablated, and the weight of words."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import streamlit as st

from pages.heads import word_weights
from tests.app.test_pages import opened, sound, texts, visible_text
from tests.support.pages import at_page
from tests.support.project_copy import ROOT
from tests.support.tiny_transformers import SENTENCES, make
from triattn_core.__main__ import main
from triattn_core.checkpoint.registry import VARIABLE, add_roots, laboratory_checkpoints, list_checkpoints, roots

TRAINED = {entry.name for entry in (*list_checkpoints(), *laboratory_checkpoints()) if entry.problem is None}


def needs(name: str):
    return pytest.mark.skipif(name not in TRAINED, reason="not trained")


def heads_table(app):
    return next(table.value for table in app.dataframe if "nearest" in table.value.columns)


@needs("quora-tri-living")
def test_it_opens_on_a_cube_with_every_head_and_its_examples():
    app = sound(opened("heads", checkpoint="quora-tri-living", count="12"))
    table, page_text = heads_table(app), texts(app)
    assert len(table) == 6 and {"context_information", "three_way", "sink"} <= set(table.columns)
    assert (
        "Nearest: head" in page_text
        and "in examples" in page_text
        and "<b>Strongest</b>" in page_text
        and "<b>Deciles</b>" in page_text
    )
    assert app.text_input(key="words").value == "how, what, why" and "None of these words" not in page_text
    first = app.selectbox(key="at-head").value
    app.selectbox(key="at-head").set_value(next(one for one in table["name"] if one != first)).run()
    assert texts(sound(app)) != page_text


@needs("quora-tri-living")
def test_a_head_is_ablated_when_it_is_asked_for_and_the_words_have_a_band():
    app = sound(opened("heads", checkpoint="quora-tri-living", count="12", off="true", words="the, a"))
    assert {"points", "change"} <= set(heads_table(app).columns)
    page_text = texts(app)
    assert "McNemar p" in page_text and "labelled rows" in page_text
    assert "places in" in page_text and "where chance gives" in page_text
    app.text_input(key="words").set_value("zyxwv").run()
    assert not app.exception and "None of these words occurs in the rows: zyxwv" in visible_text(app)


@needs("quora-tri-living")
def test_the_numbers_of_the_words_have_plain_names_and_are_those_of_the_command(tmp_path, capsys):
    link = {"count": "12", "words": "the, a", "words-numbers": "true"}
    app = sound(opened("heads", checkpoint="quora-tri-living", **link))
    numbers = next(table.value for table in app.dataframe if "p, two-sided" in table.value.columns)
    assert list(numbers.columns)[:2] == ["head", "mean of the words"] and {"feature", "name", "even"}.isdisjoint(
        numbers
    )
    assert list(numbers["head"]) == [f"head {i}" for i in range(1, 7)]
    rows, out = (
        [ROOT / "triattn_core/tasks/pairs.en.jsonl", "--rows", "12", "--words", "the, a"],
        tmp_path / "h.parquet",
    )
    assert main(["heads", "quora-tri-living", *map(str, rows), "--out", str(out), "--json"]) == 0
    words = pd.DataFrame(json.loads(capsys.readouterr().out)["words"])
    same = words[(words["site"] == "layer.0/a_over_b/weight") & (words["way"] == "to_key")]
    for column, heading in word_weights.COLUMNS.items():
        assert numbers[heading].tolist() == same[column].tolist(), heading


@needs("sst5-mtsa")
def test_mtsa_has_words_by_feature():
    app = sound(opened("heads", checkpoint="sst5-mtsa", count="12", words="the", way="as keys, by feature"))
    assert "features of head" in texts(app) and "three_way" not in heads_table(app).columns


@needs("false-friends-tri-dot")
def test_laboratory_models_are_measured_on_rows_that_are_generated():
    app = sound(opened("heads", checkpoint="false-friends-tri-dot", count="12", off="true"))
    page_text = texts(app)
    assert "laboratory:false-friends" in page_text and "McNemar p" in page_text and "places in" in page_text
    assert "key down, context across" in page_text and "Heads that look alike" not in page_text


def test_a_file_is_asked_for_and_an_odd_link_is_said():
    app = opened("heads", rows="a file of yours", count="13")
    assert (
        not app.exception
        and "Upload a file of rows" in visible_text(app)
        and "The link asks for" not in visible_text(app)
    )
    assert app.number_input("count").value == 13
    for odd in ("0", "many", "5001", "9" * 5000):
        app = opened("heads", rows="a file of yours", count=odd)
        assert not app.exception and "The link asks for rows at most" in visible_text(app)
        assert "expected a number from 1 to 5,000. Shown instead: 48" in visible_text(app)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    return str(make("bert", tmp_path_factory.mktemp("models")))


def other(monkeypatch, **link):
    real = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: "127.0.0.1" if name == "server.address" else real(name))
    return opened("heads", task="Other models", **link)


def test_a_hugging_face_model_has_all_heads_their_examples_and_words(monkeypatch, folder):
    app = sound(other(monkeypatch, model=folder, count="12", words="history"))
    table, page_text = heads_table(app), texts(app)
    assert len(table) == 3 * 4 and {"query_information", "entropy"} <= set(table.columns)
    assert (
        "Nearest: layer" in page_text
        and "<b>Strongest</b>" in page_text
        and "<b>Deciles</b>" in page_text
        and "places in" in page_text
    )
    assert any(link.label == "Open the strongest" for link in app.get("page_link"))
    app.selectbox(key="at-head").set_value("layer 3, head 2").run()
    assert "Layer 3, head 2 in examples" in texts(sound(app))
    assert "Not scored: these examples are labelled for paraphrase" in texts(app)
    assert "off" not in {toggle.key for toggle in app.toggle}


def of_a_file(monkeypatch, folder, labels):
    rows = [{"text": text, "label": label} for text, label in zip(SENTENCES, labels)]
    content = "\n".join(map(json.dumps, rows)).encode()
    app = sound(other(monkeypatch, model=folder, rows="a file of yours"))
    return sound(app.file_uploader(key="file").upload("mine.jsonl", content).run())


def test_labels_of_its_own_say_what_its_attention_and_each_head_are_worth(monkeypatch, folder):
    app = of_a_file(monkeypatch, folder, [0, "same", 2])
    assert "What is its attention worth?" in texts(app) and "With even weights in every head the model" in texts(app)
    app.toggle(key="off").set_value(True).run()
    assert {"points", "change"} <= set(heads_table(sound(app)).columns) and "Without layer" in texts(app)


def test_rows_of_another_task_are_not_scored(monkeypatch, folder):
    app = of_a_file(monkeypatch, folder, ["entailment", "neutral", 1])
    assert "Not scored: 2 of 3 rows have labels that bert" in texts(app) or "2 of 3 rows have labels" in texts(app)
    assert "What is its attention worth?" not in texts(app) and "off" not in {toggle.key for toggle in app.toggle}


def test_a_model_of_others_is_measured_that_a_link_or_the_page_before_names(monkeypatch, folder):
    monkeypatch.setenv(VARIABLE, str(roots()[0]))
    add_roots([Path(folder)])
    name = Path(folder).name
    app = sound(opened("heads", checkpoint=name))
    assert app.selectbox(key="other").value == name and not app.warning
    app = sound(opened("attribute", checkpoint=name, a="unhappy cats", b=" "))
    app = sound(at_page(app, "heads").run())
    assert app.selectbox(key="other").value == name
    app = sound(at_page(app, "attribute").run())
    assert app.selectbox(key="checkpoint").value.name == name


def test_a_folder_that_is_none_is_one_line_and_none_is_asked_for(monkeypatch, tmp_path):
    app = other(monkeypatch, model=str(tmp_path / "none"))
    assert not app.exception and [error.value.endswith("no such folder") for error in app.error] == [True]
    app = other(monkeypatch)
    assert not app.exception and not app.error and "Name the folder of a model" in texts(app)
