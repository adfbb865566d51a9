"""The pages MTSA and The tensor: what they open on, what a link does, and what bad input says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.test_pages import ODD, SAYS, opened, payloads, sound, texts, visible_text
from tests.support.checkpoint_fixtures import checkpoint_fixtures
from tests.support.figure_arrays import sent_array
from tests.support.sentence_checkpoints import MODEL, make_checkpoints
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.tasks import inference, sentences

PAGES = ("mtsa", "tensor")
SIZE = MODEL["out"] // MODEL["heads"]
LONG = "a ? " * 400


checkpoint_folder, use_checkpoints = checkpoint_fixtures(make_checkpoints)


def maps(app: AppTest) -> dict:
    """What the canvas of several maps draws."""
    return next(payload for payload in payloads(app) if "panels" in payload and "inspector" not in payload)


def answers(app: AppTest) -> list[dict]:
    """What the page tells its canvases of the chosen cell."""
    components = [json.loads(element.proto.json) for element in app.get("bidi_component") if element.proto.json]
    return [component for component in components if "cell" in component]


def cube(app: AppTest) -> dict:
    return next(payload for payload in payloads(app) if "inspector" in payload)


@pytest.mark.parametrize("page", PAGES)
def test_another_language_is_said(page: str) -> None:
    app = sound(opened(page, text="Как мне туда попасть?"))
    assert re.search(r"The text looks Cyrillic: \S+ reads English\.", visible_text(app))


@pytest.mark.parametrize("page", PAGES)
def test_without_a_checkpoint_there_is_one_line(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(make_checkpoints(tmp_path, ())))
    app = sound(opened(page))
    assert "No MTSA checkpoint is here yet" in visible_text(app) and not payloads(app)


def test_mtsa_opens_on_forward_beside_backward() -> None:
    app = sound(opened("mtsa"))
    first = sentences.examples()[0]
    assert app.text_area(key="text").value == first.text and SAYS in visible_text(app)
    payload = maps(app)
    assert [panel["title"] for panel in payload["panels"]] == ["Head 1, forward", "Head 3, backward", "Source2token"]
    assert all(sorted(sent_array(payload, i, "order")) == list(range(1, SIZE + 1)) for i in range(2))
    assert "".join(payload["axes"]["query"]["label"]) == first.text.replace(" ", "")


def test_all_heads_are_one_grid() -> None:
    app = sound(opened("mtsa", heads="all 4"))
    assert len(maps(app)["panels"]) == 4 and "order" not in maps(app)["panels"][3]["arrays"]
    app = sound(opened("mtsa", heads="2 and 4", quantity="relevance"))
    assert [panel["title"] for panel in maps(app)["panels"]] == ["Head 2, forward", "Head 4, backward", "Source2token"]
    assert maps(app)["scales"]["main"]["kind"] == "signed"


@pytest.mark.parametrize("page", PAGES)
def test_premise_and_hypothesis_each_have_their_maps(page: str) -> None:
    app, first = sound(opened(page, checkpoint="snli-mtsa")), inference.examples()[0]
    assert [app.text_area(key=name).value for name in ("premise", "hypothesis")] == [first.premise, first.hypothesis]
    assert "gold: contradiction" in visible_text(app)
    pair_texts = {first.premise.replace(" ", ""), first.hypothesis.replace(" ", "")}
    for text, wanted in zip(("premise", "hypothesis"), (first.premise, first.hypothesis)):
        sound(app.segmented_control(key="of").set_value(text).run())
        drawn = {"".join(payload["axes"]["key"]["label"]) for payload in payloads(app) if "axes" in payload}
        assert drawn & pair_texts == {wanted.replace(" ", "")}


@pytest.mark.parametrize("page", PAGES)
def test_layers_and_heads_without_masks(page: str) -> None:
    app = sound(opened(page, checkpoint="stacked-mtsa", layer="2"))
    assert app.segmented_control(key="layer").value == 2
    if page == "mtsa":
        panels = maps(app)["panels"]
        assert [panel["title"] for panel in panels] == ["Head 1, none", "Source2token"]
        assert "masked" not in panels[0]["arrays"]
    else:
        assert "layer 2" in cube(app)["caption"] and "masked" not in cube(app)["panels"][0]["arrays"]


def test_the_tensor_is_that_of_the_head_in_the_link() -> None:
    app = sound(opened("tensor", head="3", clusters="3", text="The red car is not small.", cell="2.4.5"))
    payload = cube(app)
    assert list(payload["axes"]) == ["query", "key", "feature"] and "head 3 (backward)" in payload["caption"]
    assert len(maps(app)["panels"]) == 3 and len(payload["axes"]["feature"]["label"]) == SIZE
    page_text = visible_text(app)
    parts = dict(re.findall(r"<td>(?:<b>)?([a-z- ]+?)(?:</b>)?</td>.*?<td class=.r.>(?:<b>)?([^<]+)", page_text))
    score, whole, log = (float(parts[name].replace("−", "-")) for name in ("score", "log-sum-exp", "log probability"))
    assert score - whole == pytest.approx(log, abs=0.02)
    assert "What made this weight" in page_text and "feature 6 of" in page_text and "Do the features agree" in page_text
    assert f"clusters of {SIZE} features explain" in page_text


def test_a_masked_pair_is_said() -> None:
    app = sound(opened("tensor", head="1", text="The red car is not small.", cell="1.4.0"))
    assert "forward: left out" in visible_text(app) and "−∞" in visible_text(app)
    assert "every feature gives it 0" in visible_text(app)


@pytest.mark.parametrize("page", PAGES)
def test_odd_text_gives_a_result_or_one_message(page: str) -> None:
    app = opened(page, heads="1 and 3")
    for kind in ("emoji", "right to left", "markup", "one token", "another language", "100,000 characters"):
        app.text_area(key="text").set_value(ODD[kind]).run()
        assert not app.exception, kind
        assert len(app.error) + (SAYS in texts(app)) == 1, kind
        assert "<script>" not in texts(app), kind
        assert ("any other would say the same" in texts(app)) == (kind == "one token"), kind
    app.text_area(key="text").set_value("  ").run()
    assert [error.value.startswith("The sentence is empty") for error in app.error] == [True]


@pytest.mark.parametrize("page", PAGES)
def test_too_many_tokens_are_one_line_after_the_prediction(page: str) -> None:
    app = opened(page, checkpoint="long-mtsa", text=LONG)
    assert not app.exception and SAYS in texts(app)
    wanted = {"mtsa": "Maps of 800 tokens are not drawn", "tensor": "The tensor of 800 tokens has 800 × 800 × 7"}
    assert [wanted[page] in error.value.replace("\\", "") for error in app.error] == [True]


@pytest.mark.parametrize("page", PAGES)
def test_bad_values_in_the_link_are_each_said(page: str) -> None:
    query = {"mtsa": {"heads": "7 and 9"}, "tensor": {"head": "99", "clusters": "many"}}[page]
    app = sound(opened(page, checkpoint="no-such-one", cell="x.y", **query))
    assert len(app.info) == 2 + len(query)


@pytest.mark.parametrize("page, cells", [("mtsa", "1000.0.0.0 1.2.3"), ("tensor", "999.0.0 a.b.c 1.x.2.3")])
def test_a_cell_that_does_not_fit_is_said_once(page: str, cells: str) -> None:
    for cell in cells.split():
        app = sound(opened(page, text="The red car is not small.", cell=cell))
        (notice,) = (info.value.replace("\\", "") for info in app.info)
        assert notice.startswith(f"The link asks for cell '{cell}'; a cell here is") and "Shown instead: " in notice
    app.text_area(key="text").set_value("It is.").run()
    assert not sound(app).info


def test_the_cell_of_another_text_is_no_notice() -> None:
    app = sound(opened("tensor", text="The red car is not small.", cell="2.5.1"))
    assert not app.info
    app.text_area(key="text").set_value("It is.").run()
    assert not sound(app).info


def test_the_clusters_stand_at_the_pair_of_the_tensor() -> None:
    app = sound(opened("tensor", head="3", clusters="3", text="The red car is not small.", cell="2.4.5"))
    own, clusters = (data["cell"] for data in answers(app))
    cluster = cube(app)["axes"]["feature"]["text"][cube(app)["axes"]["feature"]["position"].index(5)]
    assert own == [2, 4, 5] and clusters == [2, 4, int(cluster.split()[1]) - 1, 0]


@pytest.mark.parametrize(("link", "stays"), [("5.2.1.0", True), ("5.2.99.0", False), ("1.é", False)])
def test_the_cell_of_the_clusters_is_in_the_link(link: str, stays: bool) -> None:
    app = sound(opened("tensor", **{"map-cell": link}))
    _, clusters = (data["cell"] for data in answers(app))
    assert (clusters == [5, 2, 1, 0]) == stays and ("map-cell" in app.query_params) == stays


def test_a_case_is_kept_and_opens_again(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TRIATTN_CASES", str(tmp_path / "cases.sqlite"))
    app = sound(opened("mtsa", text="Seven words to keep in the book."))
    next(button for button in app.button if button.label.startswith("Keep")).click().run()
    sound(app)
    book = sound(opened("case_book"))
    assert "Seven words to keep in the book." in visible_text(book)
