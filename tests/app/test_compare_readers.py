"""Compare with readers, from app.py: what each answers, who flips with both answers, SQuAD's own file, and bad rows."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.test_pages import opened, ran, sound, visible_text
from tests.support.choices_checkpoints import make_checkpoints as make_choices
from tests.support.reader_checkpoints import make_checkpoints, make_system
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.inference.predict import predict
from triattn_core.tasks import answer_match, questions

NAMES = ["squad-dot", "squad-cosine"]


@pytest.fixture(scope="module")
def checkpoint_folder(tmp_path_factory) -> Path:
    return make_checkpoints(tmp_path_factory.mktemp("checkpoints"), ("cosine", "dot"))


@pytest.fixture(autouse=True)
def use_checkpoints(checkpoint_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(checkpoint_folder))
    monkeypatch.setenv("TRIATTN_DEVICE", "cpu")


def squad(count: int, known: str = NAMES[0]) -> bytes:
    """A file as SQuAD's, in which one reader is always right and the last question has no answer."""
    asked = []
    for i, example in enumerate(questions.examples()[:count], 1):
        start, end, *_ = predict([load(known)], [example])[0][0][0]
        answers = [{"text": example.passage[start:end], "answer_start": start}] if i < count else []
        asked.append(
            {"context": example.passage, "qas": [{"id": str(i), "question": example.question, "answers": answers}]}
        )
    return json.dumps({"data": [{"paragraphs": asked}]}).encode()


def handed(content: bytes) -> AppTest:
    app = sound(opened("compare", task="Questions", checkpoints=NAMES, rows="a file of yours"))
    return app.file_uploader(key="file").upload("dev.json", content).run()


def test_it_opens_on_our_own_questions() -> None:
    app = sound(ran(opened("compare", task="Questions", checkpoints=NAMES)))
    page_text = visible_text(app)
    assert "30 of 30 rows have an answer; right: exact match" in page_text and "F1, %" in page_text
    assert "<td>squad-dot and squad-cosine</td>" in page_text and "over right and wrong" in page_text
    assert not [button for button in app.button if button.key == "stop"]
    assert "model.<wbr>similarity" in page_text  # their settings


def test_it_opens_on_two_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a function has readers of two mechanisms, of which none is in the order of presets."""
    make_system(make_checkpoints(tmp_path, ("cosine", "dot")), "dcn", "dot")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    app = sound(opened("compare", task="Questions"))
    assert len(app.multiselect(key="checkpoints").value) == 2 and "Choose at least two" not in visible_text(app)


def test_who_flips_stands_with_both_answers_and_opens_in_similarity() -> None:
    app = sound(handed(squad(7)))
    assert "6 of 7 rows have an answer" in visible_text(app)
    frame, bundles = app.dataframe[0].value, [load(name) for name in NAMES]
    some = questions.examples()[:7]
    answer_texts = [[one.passage[a[0].start : a[0].end] for one, a in zip(some, of)] for of in predict(bundles, some)]
    flips = [i for i in range(6) if not answer_match.exact(answer_texts[0][i], answer_texts[1][i])]
    assert sorted(frame["row"]) == [i + 1 for i in flips] and flips
    for _, row in frame.iterrows():
        at = row["row"] - 1
        assert [row[f"{name} answers"] for name in NAMES] == [of[at] for of in answer_texts]
        assert (row["question"], row["known answer"]) == (some[at].question, answer_texts[0][at])
    (link,) = [one for one in app.get("page_link") if one.proto.label == "Open in Similarity"]
    assert "functions=squad-dot&functions=squad-cosine" in link.proto.query_string
    assert 't-wide"><span class="t-muted">passage<' in visible_text(app)
    assert "wrong, F1 " in visible_text(app) and "right, F1 1.00" in visible_text(app)


def test_bad_files_are_one_line() -> None:
    for content in (b"{", b'{"data": [{"paragraphs": 3}]}'):
        app = handed(content)
        assert not app.exception and len(app.error) == 1
        assert app.error[0].value.replace("\\", "").startswith("dev.json: ")
        assert not [button for button in app.button if button.key == "stop"]


def test_a_page_that_takes_no_readers_says_so(
    checkpoint_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, os.pathsep.join(map(str, (make_choices(tmp_path, ("pairs",)), checkpoint_folder))))
    page_text = visible_text(sound(opened("attribute", checkpoint="squad-dot")))
    assert "checkpoint 'squad-dot'; squad-dot cannot give gradients. Shown instead: quora-tri-additive." in page_text
    assert "did you mean" in visible_text(sound(opened("attribute", checkpoint="quora-tri-addtive")))
