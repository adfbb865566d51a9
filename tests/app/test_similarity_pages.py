"""The pages Similarity and Distributions: what they open on, what a link does, and what bad input says."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import qa_models
from tests.app.test_pages import ODD, opened, payloads, sound, visible_text
from tests.support.checkpoint_fixtures import checkpoint_fixtures
from tests.support.pages import app_test, at_page
from tests.support.reader_checkpoints import NAMES, make_checkpoints
from triattn_core.__main__ import main
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.tasks import questions
from triattn_core.tasks.answer_match import normal

PAGES = ("similarity", "distributions")
WORDS = " ".join(example.passage for example in questions.examples())


checkpoint_folder, use_checkpoints = checkpoint_fixtures(make_checkpoints)


def maps(app: AppTest) -> dict:
    return next(payload for payload in payloads(app) if "panels" in payload)


def blocks(app: AppTest) -> list[dict]:
    """The exact numbers that the page sent for the chosen cell, a block each panel."""
    components = [json.loads(element.proto.json) for element in app.get("bidi_component") if element.proto.json]
    return next(component["blocks"] for component in components if "blocks" in component)


def terms_of(block: dict) -> tuple[list[float], float]:
    """The terms of a block, none of a score that has one, and the score."""
    *terms, score = [line["value"] for line in block["lines"] if line["bar"]]
    return terms, score


def quantity(app: AppTest) -> str:
    """What the maps show: the title of their scale begins with it."""
    return next(iter(maps(app)["scales"].values()))["title"]


def best(panel: dict) -> slice:
    """Where the best answer of a panel stands."""
    return slice(panel["spans"][0]["start"], panel["spans"][0]["end"])


def command(app: AppTest) -> str:
    """What prints the numbers of the chosen cell again."""
    return next(code.value for code in app.code if code.value.startswith("triattn explain "))


def titles(app: AppTest) -> list[str]:
    return [panel["title"] for panel in maps(app)["panels"]]


@pytest.mark.parametrize("page", PAGES)
def test_without_a_reader_there_is_one_line(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(make_checkpoints(tmp_path, ())))
    app = sound(opened(page))
    assert len(app.info) == 1 and "No reader is here yet" in visible_text(app) and not payloads(app)


def test_it_opens_on_the_papers_sentence_under_four_functions() -> None:
    app, first = sound(opened("similarity")), questions.examples()[0]
    assert app.text_input(key="write-question").value == first.question
    payload = maps(app)
    assert [one["title"].partition(",")[0] for one in payload["panels"]] == [
        "trilinear", "dot-product", "general-3", "T-trilinear",
    ]  # fmt: skip
    assert "".join(payload["axes"]["query"]["label"]) == first.passage.replace(" ", "")
    assert all(one["answer"]["right"] in (True, False) and len(one["spans"]) > 1 for one in payload["panels"])
    sums = [terms_of(block) for block in blocks(app)]
    assert [len(terms) for terms, _ in sums] == [3, 0, 0, 3]
    for terms, score in sums:
        assert not terms or score == pytest.approx(sum(terms), abs=1e-5)
    row, key, panel = payload["cell"]
    assert panel == 3 and f"triattn explain squad-t-trilinear row.json --terms {row}.{key}" in command(app)


def test_it_opens_on_what_differs_between_functions() -> None:
    assert quantity(sound(opened("similarity"))) == "relevance, centred per row"
    assert quantity(sound(opened("similarity", quantity="relevance"))) == "relevance, before softmax"


def test_examples_are_those_on_which_functions_disagree() -> None:
    app = sound(opened("similarity", disagree="true"))
    known, chosen = questions.examples(), app.multiselect(key="functions").value
    answers = qa_models.best_answers([reader for reader in qa_models.readers() if reader.name in chosen], known)
    count = sum(len(set(map(normal, texts))) > 1 for texts in zip(*answers))
    assert 0 < count <= len(known) and len(answers[0]) == len(known)
    answer_texts = [known[0].passage[best(panel)] for panel in maps(app)["panels"]]
    assert [texts[0] for texts in answers] == answer_texts
    label = "Examples" if count == len(known) else f"{count} of {len(known)} examples"
    assert [button.proto.label for button in app.get("menu_button")][0] == label


def test_a_link_names_everything() -> None:
    text, asks = "The red boat left. The blue boat stayed.", "Which boat stayed?"
    link = {"quantity": "weight", "scale": "shared", "cell": "6.1.1", "passage": text, "question": asks}
    app = app_test(110)
    for name, value in (link | {"functions": ["squad-cosine", "squad-trilinear-o1"]}).items():
        app.query_params[name] = value
    app = sound(at_page(app, "similarity").run())
    assert titles(app) == ["cosine", "trilinear, no product"] and quantity(app).startswith("weight")
    assert {panel["cells"]["scale"] for panel in maps(app)["panels"]} == {"main"}
    assert maps(app)["texts"] == {"passage": text, "question": asks} and not app.info
    assert "squad-trilinear-o1 row.json --terms 6.1" in command(app)


def test_a_new_question_opens_at_its_answer_and_an_edit_of_the_passage_keeps_the_cell() -> None:
    app = sound(opened("similarity", cell="2.1.3"))
    assert command(app).endswith("--terms 2.1")
    app = sound(app.text_input(key="write-question").set_value("Which day was it?").run())
    payload = maps(app)
    assert "cell" not in app.query_params and command(app).endswith("--terms {}.{}".format(*payload["cell"]))
    span = best(payload["panels"][3])
    assert span.start <= payload["axes"]["query"]["start"][payload["cell"][0]] < span.stop
    app = sound(opened("similarity", edit="true", cell="2.1.3"))
    app = sound(app.text_area(key="write-passage").set_value(f"So {questions.examples()[0].passage}").run())
    assert command(app).endswith("--terms 3.1")


def test_bad_values_in_the_link_are_said() -> None:
    app = sound(opened("similarity", functions="squad-nothing", quantity="colour", example="nobody"))
    assert len(app.info) == 3 and "squad-nothing" in visible_text(app) and len(maps(app)["panels"]) == 4


@pytest.mark.parametrize("page", PAGES)
def test_a_reader_of_another_window_does_not_keep_the_page_from_opening(page, tmp_path, monkeypatch) -> None:
    folder = make_checkpoints(tmp_path) / "own-t-trilinear"
    shutil.copytree(tmp_path / "squad-t-trilinear", folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"max_tokens": 43}))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    app = sound(opened(page))
    assert not app.error and "own-t-trilinear" not in app.multiselect(key="functions").value
    app = app.multiselect(key="functions").set_value(["squad-dot", "own-t-trilinear"]).run()
    assert not app.exception and len(app.error) == 1
    assert "other sizes (squad-dot 61, own-t-trilinear 43 tokens)" in visible_text(app)


@pytest.mark.parametrize("page", PAGES)
def test_odd_questions_give_a_result_or_one_message(page: str) -> None:
    app = opened(page)
    for kind, text in {**ODD, "blank": "   ", "longer than the passage": WORDS}.items():
        app.text_input(key="write-question").set_value(text).run()
        assert not app.exception, kind
        drawn = bool(
            [payload for payload in payloads(app) if "panels" in payload]
        ) or '<table class="t-table">' in visible_text(app)
        assert len(app.error) + drawn == 1, kind
        assert (kind == "blank") == bool(app.error), kind
        assert "<script>" not in visible_text(app), kind


@pytest.mark.parametrize("passage", ["Boat", "boat boat boat boat", ""])
def test_short_passages(passage: str) -> None:
    app = opened("similarity", passage=passage, question="What?")
    assert not app.exception and len(app.error) == (not passage)
    if passage:
        payload = maps(app)
        assert len(payload["axes"]["query"]["label"]) == len(passage.split())
        marked = [passage[span["start"] : span["end"]] for span in payload["panels"][0]["spans"]]
        assert all(text and text == text.strip() for text in marked)


@pytest.mark.parametrize("page", PAGES)
def test_another_language_is_said(page: str) -> None:
    app = sound(opened(page, passage="今天天气很好。", question="天气怎么样"))
    assert visible_text(app).count("The texts look Chinese: these models read English.") == 1
    assert "The texts look" not in visible_text(sound(opened(page)))


def test_a_long_passage_is_read_in_parts_and_said() -> None:
    app = sound(opened("similarity"))
    app.toggle(key="edit").set_value(True).run()
    app.text_area(key="write-passage").set_value(WORDS).run()
    payload, count = maps(sound(app)), len(app.selectbox(key="part").options) - 1
    assert (
        count > 4
        and f"read in {count} windows" in visible_text(app)
        and f"of {count} drawn" in payload["above"]["aside"]
    )
    over = f"probabilities of answers are over all {count} parts, the curves of start and end over"
    assert over in payload["above"]["aside"]
    assert "Too long for a link" in visible_text(app) or len(WORDS) < 6000
    last = payload["panels"][-1]
    assert "in part" not in last["answer"]["score"] and WORDS[best(last)]
    spans = [panel["spans"] for panel in payload["panels"]]
    app.selectbox(key="part").set_value(2).run()
    again = maps(sound(app))
    assert "part 2 of" in again["above"]["aside"] and [panel["spans"] for panel in again["panels"]] == spans
    assert again["axes"]["query"]["start"][0] > 0 and "--part 2" in command(app)
    assert again["panels"][-1]["answer"]["score"] != "in part 2"
    for terms, score in map(terms_of, blocks(app)):
        assert not terms or score == pytest.approx(sum(terms), abs=1e-5)


@pytest.mark.parametrize("units", [{}, {"passage-as": "sentences", "question-as": "phrases"}])
def test_the_command_that_is_printed_runs_for_every_part(units: dict, tmp_path: Path, monkeypatch, capsys) -> None:
    app = sound(opened("similarity", quantity="centred", **units))
    app.toggle(key="edit").set_value(True).run()
    app.text_area(key="write-passage").set_value(WORDS).run()
    example = questions.Example(WORDS, app.text_input(key="write-question").value)
    (tmp_path / "row.json").write_text(json.dumps(questions.row(example)), "utf-8")
    monkeypatch.chdir(tmp_path)
    parts = app.selectbox(key="part").options[1:]
    for part in [int(one) for one in parts][:: len(parts) // 2]:
        asked = command(sound(app.selectbox(key="part").set_value(part).run()))
        assert f"--part {part}" in asked and main(shlex.split(asked)[1:]) in (0, None)
        *_, (_, score) = map(terms_of, blocks(app))
        output = capsys.readouterr().out
        assert f"traced: part {part} of {len(parts)}\n" in output
        assert float(output.partition("  score of ")[0].splitlines()[-1]) == pytest.approx(score, rel=1e-4)


def test_there_is_a_checkpoint_of_every_function() -> None:
    app = sound(opened("similarity"))
    assert len(app.multiselect(key="functions").options) == len(NAMES) + 1


@pytest.mark.parametrize("page", PAGES)
def test_each_page_says_once_what_the_answer_layer_reads(page: str) -> None:
    assert visible_text(sound(opened(page))).count("product: [h; u~; h * u~].") == 1
