"""Semantic roles on the page MTSA: spans, the choice of a predicate, the weight on it, and what bad input says."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.mtsa import even_weights, predicate_table
from pages.shared import models, word_input
from tests.app.test_mtsa_pages import answers, maps
from tests.app.test_pages import opened, sound, visible_text
from tests.support.checkpoint_fixtures import checkpoint_fixtures
from tests.support.tagger_checkpoints import make_checkpoints
from triattn_core.tasks import predicate_words, roles

TAGGERS = ("roles-mtsa", "roles-multi-head")
DOG = "My dog bit the postman yesterday."

checkpoint_folder, use_checkpoints = checkpoint_fixtures(make_checkpoints)


def words(app: AppTest) -> dict:
    """What the line of words shows."""
    components = [json.loads(element.proto.json) for element in app.get("bidi_component") if element.proto.json]
    return next(component for component in components if "words" in component)


@pytest.mark.parametrize("name", TAGGERS)
def test_a_tagger_opens_on_its_last_layer_with_spans_above_its_maps(name: str) -> None:
    app, first = sound(opened("mtsa", checkpoint=name)), roles.examples()[0]
    line = words(app)
    assert [word["text"] for word in line["words"]] == list(first.words) and line["predicate"] == first.predicate
    spans = [word for word in line["words"] if word["begins"]]
    assert spans and all(word["role"] and word["title"] and word["colour"] for word in spans)
    assert all(0 < float(word["sure"].removeprefix("< ")) < 1 for word in spans)
    payload = maps(app)
    assert len(payload["panels"]) == 4 and "layer.1" in payload["caption"]
    marked = [f"▸ {word}" if i == first.predicate else word for i, word in enumerate(first.words)]
    assert payload["axes"]["key"]["name"] == list(first.words) and payload["axes"]["key"]["label"] == marked
    assert [panel["title"] for panel in payload["panels"]][0] == ("Head 1, forward" if name == TAGGERS[0] else "Head 1")
    text = visible_text(app)
    assert "arguments as annotated" in text and f"{spans[0]['role']}: {spans[0]['title']}" in text
    assert re.search(r"least sure of “(\w+|\.)”: 0\.\d+ \(", text)


@pytest.mark.parametrize("reading", [{}, {"tokens-as": "phrases"}], ids=("words", "phrases"))
def test_the_predicate_is_marked_in_the_maps_not_the_chosen_cell_alone(reading: dict[str, str]) -> None:
    payload = maps(sound(opened("mtsa", checkpoint=TAGGERS[0], text=DOG, predicate="3", cell="0.1.0.0", **reading)))
    for axis in ("query", "key"):
        values = payload["axes"][axis]
        (place,) = (i for i, mark in enumerate(values["marked"]) if mark)
        assert "bit" in values["name"][place] and values["start"][place] <= DOG.index("bit") < values["end"][place]
    assert payload["scale_lines"] == ["▸ the predicate"] and payload["caption"].endswith("▸ the predicate")


def test_the_head_of_plain_attention_is_chosen_alone_and_has_scores() -> None:
    app = sound(opened("mtsa", checkpoint=TAGGERS[1], heads="3", layer="1", quantity="relevance"))
    payload = maps(app)
    assert [panel["title"] for panel in payload["panels"]] == ["Head 3"]
    assert payload["scales"]["main"]["kind"] == "signed"
    assert "masked" not in payload["panels"][0]["arrays"] and 4 in [len(one["cell"]) for one in answers(app)]


def test_another_sentence_asks_for_its_predicate_in_one_line() -> None:
    app = sound(opened("mtsa", checkpoint=TAGGERS[0], text=DOG))
    (info,) = (one.value for one in app.info)
    assert info.startswith("Click the word whose roles you want")
    assert [word["text"] for word in words(app)["words"]] == "My dog bit the postman yesterday .".split()
    assert words(app)["predicate"] is None
    app.query_params["predicate"] = "3"
    app.run()
    assert not sound(app).info and words(app)["predicate"] == 2
    app.text_area(key="text").set_value("She sang.").run()
    assert [info.value[:14] for info in sound(app).info] == ["Click the word"] and words(app)["predicate"] is None


def test_the_predicate_stays_chosen_while_its_word_is_there() -> None:
    app = sound(opened("mtsa", checkpoint=TAGGERS[0], text=DOG, predicate="3"))
    edits = [
        ("My dog bit a postman yesterday .", 2),
        ("My old dog bit a postman .", 3),
        ("It bit .", 1),
        ("It .", None),
    ]
    for text, predicate in edits:
        app.text_area(key="text").set_value(text).run()
        assert words(sound(app))["predicate"] == predicate, text
    assert word_input.follow(("to", "be", "or", "to"), 3, ("not", "to", "be", "to")) == 3
    assert word_input.follow(("to", "be", "or", "to"), 0, ("not", "to", "be", "to")) is None  # which of the two?


def test_the_predicate_is_kept_while_another_model_is_looked_at() -> None:
    app = sound(opened("mtsa", checkpoint=TAGGERS[0], text=DOG, predicate="3"))
    for name in (TAGGERS[1], TAGGERS[0]):
        del app.query_params["predicate"]  # as a model of another kind does
        app.selectbox(key="checkpoint").set_value(name).run()
        assert words(sound(app))["predicate"] == 2 and app.query_params["predicate"] == "3"


@pytest.mark.parametrize("predicate", ["0", "8", "x", "-1", "99999999999"])
def test_a_predicate_that_is_not_there_is_said(predicate: str) -> None:
    app = sound(opened("mtsa", checkpoint=TAGGERS[0], text=DOG, predicate=predicate))
    assert [f"predicate '{predicate}'" in info.value.replace("\\", "") for info in app.info] == [True, False]


@pytest.mark.parametrize(
    "text, says",
    [
        ("  ", "The sentence is empty"),
        ("... ?!", "The sentence has no word"),
        ("a " * 300, "The sentence has 300 words, and the model reads at most 256"),
    ],
)
def test_bad_input_is_one_line(text: str, says: str) -> None:
    app = opened("mtsa", checkpoint=TAGGERS[0], text=text)
    assert not app.exception and [says in error.value.replace("\\", "") for error in app.error] == [True]
    assert not app.info
    text = visible_text(app)  # what was measured needs no sentence
    assert "Does it look at the predicate?" in text and "0.12 : 0.12" in text and "And if all weights" in text


def test_a_long_sentence_has_its_spans_and_one_line_for_its_maps() -> None:
    app = opened("mtsa", checkpoint=TAGGERS[0], text="a " * 200, predicate="7")
    assert not app.exception and len(words(app)["words"]) == 200
    assert ["Maps of 200 tokens are not drawn" in error.value for error in app.error] == [True]
    text = visible_text(app)
    assert "Does it look at the predicate?" in text and "And if all weights were even?" in text


def test_another_language_is_said() -> None:
    app = sound(opened("mtsa", checkpoint=TAGGERS[0], text="Как мне туда попасть?", predicate="4"))
    assert re.search(r"The text looks Cyrillic: \S+ reads English\.", visible_text(app))


def test_the_weight_on_the_predicate_is_measured_on_rows_and_on_this_sentence() -> None:
    app = sound(opened("mtsa", checkpoint=TAGGERS[0]))
    text = visible_text(app)
    assert text.count("0.12 : 0.12") == 8  # even weights, from inside and from outside
    assert "Does it look at the predicate?" in text and "Layer 1: 0.50 from inside, 0.25 from outside" in text
    assert app.segmented_control(key="measured").value == "70 rows of propbank/dev"
    sound(app.segmented_control(key="measured").set_value("this sentence").run())
    assert "Layer 1: 0.50 from inside, 0.25 from outside" not in visible_text(app)
    assert "as annotated." in text and "as the model found them" in visible_text(app)
    app = sound(opened("mtsa", checkpoint=TAGGERS[1]))
    assert app.segmented_control(key="measured").options == ["this sentence"]


def test_it_says_what_even_weights_cost_and_what_the_learnt_ones_are_worth() -> None:
    text = visible_text(sound(opened("mtsa", checkpoint=TAGGERS[0])))
    assert "And if all weights were even?" in text and "on 70 rows of propbank/dev: in all layers 41.5." in text
    assert "Trained with even weights" not in text
    assert "And if all weights" not in visible_text(sound(opened("mtsa", checkpoint=TAGGERS[1])))
    entry = next(entry for entry in models.entries() if entry.name == TAGGERS[0])
    cases = (
        (3.5, "3.5 ± 0.5 points less on dev (one seed)"),
        (-0.15, "has 0.2 ± 0.5 points more on dev (one seed): here they are not"),
    )
    for points, says in cases:
        worth = {"even": {"points": points, "spread": 0.5, "seeds": 1}}
        controlled = replace(entry, metrics={"dev": {"f1": 60.0}, "attention": {"worth": worth}})
        assert says in even_weights.sentences(controlled)


def test_of_how_many_words_the_weights_are_means_stands_beside_them() -> None:
    app = sound(opened("mtsa", checkpoint=TAGGERS[0]))
    sound(app.segmented_control(key="measured").set_value("this sentence").run())
    counts = [tuple(map(int, pair)) for pair in re.findall(r">(\d+) : (\d+)<", visible_text(app))]
    others = len(roles.examples()[0].words) - 1
    before = roles.examples()[0].predicate
    assert [sum(pair) for pair in counts] == 2 * [others - before] + 2 * [before]  # forward heads look back
    row = {"layer": 0, "head": 0, "inside": 0.5, "outside": 0.25, "even": 0.1, "words": 12, "words_outside": 1}
    assert ">words</th>" in predicate_table.table([row]) and ">12 : 1</td>" in predicate_table.table([row])
    assert ">words</th>" not in predicate_table.table([{name: row[name] for name in list(row)[:5]}])


@pytest.mark.parametrize("predicate, says", [("1", "0 of its 40 occurrences"), ("2", "may be none"), ("3", "")])
def test_a_word_that_is_no_predicate_in_training_is_said(predicate: str, says: str, checkpoint_folder: Path) -> None:
    file = checkpoint_folder / TAGGERS[0] / predicate_words.FILE
    file.write_text(predicate_words.counts_text({"my": (40, 0), "bit": (9, 3)}), "utf-8")
    try:
        text = visible_text(sound(opened("mtsa", checkpoint=TAGGERS[0], text=DOG, predicate=predicate)))
    finally:
        file.unlink()
    assert ("The model gives V to nearly any word" in text) == bool(says) and says in text


def test_there_is_no_ratio_to_a_weight_that_rounds_to_0() -> None:
    row = {"layer": 0, "head": 0, "inside": 0.9519, "even": 0.1, "even_outside": 0.1}
    assert predicate_table.ratio({**row, "outside": 0.0003}) is None
    assert predicate_table.ratio({**row, "outside": 0.006}) == pytest.approx(158.65)
    assert "×" not in predicate_table.table([{**row, "outside": 0.0003}])


def test_means_are_over_heads_with_both_sides_and_a_head_without_a_ratio_is_named() -> None:
    sides = [(0.4, 0.0), (0.2, 0.8), (0.9, None)]  # the first has no ratio, the last no word outside
    rows = [{"layer": 0, "head": head, "inside": a, "outside": b, "even": 0.1} for head, (a, b) in enumerate(sides)]
    said = predicate_table.summary(rows)
    assert said.startswith("Layer 1: 0.30 from inside, 0.40 from outside, mean of 2 of 3 heads; head 1 gives less than")
    assert said.endswith("; of the others the largest ratio is × 0.25 (head 2).")
    assert "0.40 from outside, mean of heads; head 1 gives less than 0.005" in predicate_table.summary(rows[:2])
    assert "the largest ratio is × 0.25 (head 2)" in predicate_table.summary(rows[1:])
    assert "largest" not in predicate_table.summary(rows[:1]) and not predicate_table.summary(rows[2:])


def test_a_ratio_has_two_digits() -> None:
    row = {"layer": 0, "head": 0, "outside": 0.1, "even": 0.1, "even_outside": 0.1}
    for inside, says in ((0.1, "× 1.0"), (0.6, "× 6.0"), (0.04, "× 0.40"), (0.95, "× 9.5"), (2.4, "× 24<")):
        assert says in predicate_table.table([{**row, "inside": inside}])


def test_text_from_right_to_left_keeps_its_number_behind_it() -> None:
    text = visible_text(sound(opened("mtsa", checkpoint=TAGGERS[0], text="باع رئيس المكتبة", predicate="1")))
    assert re.search("least sure of “\u2068\\w+\u2069”: 0\\.", text)


def test_one_token_is_read_alone() -> None:
    app = sound(opened("mtsa", checkpoint=TAGGERS[0], text="Run", predicate="1"))
    assert "which no mask lets attend to itself: the model reads the token alone." in visible_text(app)


def test_the_strip_has_the_heads_of_both_layers() -> None:
    app = sound(opened("mtsa", checkpoint=TAGGERS[0]))
    jsons = [element.proto.json for element in app.get("bidi_component") if "strip" in element.proto.json]
    (strip,) = (payload for payload in (json.loads(one).get("payload", {}) for one in jsons) if payload.get("strip"))
    assert strip["coordinates"] == [["layer", 2], ["head", 4]]


def test_the_tensor_offers_no_tagger() -> None:
    app = sound(opened("tensor", checkpoint=TAGGERS[0]))
    assert [info.value.startswith("The link asks for checkpoint") for info in app.info] == [True]
    assert app.selectbox(key="checkpoint").options == ["trec-mtsa"]
