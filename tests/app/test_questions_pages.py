"""The pages Context, Intervene and Attribute: what they open on, what a click does, and what bad input says."""

from __future__ import annotations

import json
import re
from functools import partial
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.test_pages import ODD, SAYS, opened, ran, sound, texts
from tests.support.checkpoint_fixtures import checkpoint_fixtures
from tests.support.choices_checkpoints import make_checkpoints
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.errors import InputError
from triattn_core.scenes import intervene_parts

FIGURES = {
    "context": {"parts": "Parts of the relevance", "residual": "Three-way residual", "over": "Over many rows"},
    "intervene": {
        "singly": "One by one",
        "singly-moved": "One by one, attention",
        "maps": "before and after",
        "null": "Is this map signal",
    },
    "attribute": {"marks": "Which tokens", "ranks": "Do they agree", "curves": "Faithfulness"},
}
CHARTS = {"context": 4, "intervene": 6, "attribute": 2}
SHORT = {"a": "Which browsers play movies?", "b": "Which browser can?"}


checkpoint_folder, use_checkpoints = checkpoint_fixtures(make_checkpoints)


opened = partial(opened, wait=400)  # a model is asked many times over, and a machine may be busy


def visible_text(app: AppTest) -> str:
    return unescape(texts(app)).replace("\\", "").replace("−", "-")


def alts(app: AppTest) -> list[str]:
    return [chart.proto.alt for chart in app.get("vega_lite_chart")]


@pytest.mark.parametrize("page", FIGURES)
def test_it_opens_on_a_worked_example_with_everything_drawn(page: str) -> None:
    app = sound(opened(page))
    if page == "context":  # over many rows it draws when asked
        assert len(alts(app)) == CHARTS[page] - 1 and "Not run yet" in visible_text(app)
        app = sound(ran(app))
    page_text = visible_text(app)
    assert SAYS in page_text and all(title in page_text for title in FIGURES[page].values())
    alt_texts = alts(app)
    assert len(alt_texts) == CHARTS[page] and all(alt_texts)
    for alt in set(alt_texts):  # the figure's text is the sentence that stands below it
        assert alt.replace("−", "-") in page_text


@pytest.mark.parametrize("page", FIGURES)
@pytest.mark.parametrize("task", ["Dialogue", "Reading comprehension"])
def test_dialogues_and_passages(page: str, task: str) -> None:
    sound(opened(page, task=task))


@pytest.mark.parametrize("page", FIGURES)
def test_odd_text_gives_a_result_or_one_message(page: str) -> None:
    app = opened(page, **SHORT)
    for kind in ("emoji", "markup", "one token", "another language"):
        app.text_area(key="a").set_value(ODD[kind]).run()
        assert not app.exception, kind
        assert len(app.error) + (SAYS in texts(app)) == 1, kind
        assert "<script>" not in texts(app), kind
    app.text_area(key="a").set_value(" ").run()
    assert [error.value.startswith("Sentence A is empty") for error in app.error] == [True]


@pytest.mark.parametrize("page", FIGURES)
def test_without_checkpoints_there_is_one_line(page: str, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    app = opened(page)
    assert not app.exception and not app.error and len(app.info) == 1


def test_context_in_another_layer_and_head() -> None:
    app = sound(opened("context", **SHORT, layer="2", head="2", direction="B over A", by="context"))
    assert "In layer 2, head 2, context redirects" in visible_text(app)
    assert "Over 12 rows" in visible_text(app)
    sound(app.selectbox(key="at").select_index(4).run())
    words = [alt for alt in alts(app) if alt.startswith("With “")]
    assert len(words) == 1


def pills(app: AppTest):
    return next(group for group in app.button_group if group.label.startswith("Context: click"))


def test_units_are_clicked_removed_and_the_context_emptied() -> None:
    app = sound(opened("intervene", **SHORT))
    assert "Without “" in visible_text(app) and "Most is changed by" in visible_text(app)
    assert "Attention is moved most by" in visible_text(app)
    units = pills(app)
    first, second = units.options[:2]
    sound(units.set_value(["token 1", "token 2"]).run())
    assert f"Without “{first}” and “{second}”" in visible_text(app) and "The 2 separate changes sum to" in visible_text(
        app
    )
    assert "Random baseline, 20 draws of as many units" in visible_text(app)
    sound(app.segmented_control(key="unit").set_value("sentences").run())
    sound(pills(app).set_value(["sentence A", "sentence B"]).run())
    assert "The context is empty: Tri-Attention falls back to Bi-Attention." in visible_text(app)
    sound(pills(app).set_value([]).run())
    assert "Click at least one unit" in visible_text(app)


def test_the_map_before_stands_while_the_rest_is_computed(monkeypatch) -> None:
    def refuse(*_):
        raise InputError("nothing is computed here")

    monkeypatch.setattr(intervene_parts, "leave_one_out", refuse)
    app = opened("intervene", **SHORT)
    assert [error.value for error in app.error] == ["nothing is computed here"]
    assert [alt[:17] for alt in alts(app)] == ["Attention before "]


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ("mask", "masked in attention (the encoder still reads it), the log-odds"),
        ("replace", "replaced by [MASK] the log-odds"),
        ("reorder", "With the context in another order"),
        ("swap", "With another example's context"),
    ],
)
@pytest.mark.parametrize("task", ["Sentence pairs", "Dialogue"])
def test_each_way_to_intervene(how: str, wanted: str, task: str) -> None:
    app = sound(opened("intervene", how=how, task=task))
    moves = "Attention does not move" if how == "reorder" else "Attention moves by"  # places count in the encoder alone
    assert wanted in visible_text(app) and moves in visible_text(app)


def test_a_replacement_is_typed_and_too_long_a_one_is_one_line() -> None:
    app = sound(opened("intervene", how="replace", **SHORT))
    sound(app.text_input(key="with").set_value("cats").run())
    assert "replaced by “cats”" in visible_text(app)
    app.text_input(key="with").set_value("cats " * 500).run()
    assert not app.exception and ["too long" in error.value for error in app.error] == [True]


def test_links_restore_units_and_say_what_is_not_there() -> None:
    app = sound(opened("intervene", **SHORT, unit="sentences", units="sentence B"))
    assert "Without “sentence B" in visible_text(app) and not app.info
    app = sound(opened("intervene", **SHORT, unit="sentences", units="sentence Z"))
    assert any("units that are not in this context" in info.value for info in app.info)


@pytest.mark.parametrize("how", ["uniform", "shuffled", "untrained"])
def test_attention_is_replaced(how: str) -> None:
    app = sound(opened("intervene", **SHORT, null=how, along="context", draws="20"))
    name = "averaged" if how == "uniform" else how
    assert f"With {name} attention along contexts" in visible_text(app)
    assert ("over 20 draws" in visible_text(app)) == (how != "uniform")


def test_attributions_without_context_and_as_pieces() -> None:
    app = sound(opened("attribute", **SHORT, checkpoint="quora-bi-additive", fold="word pieces", steps="16"))
    assert "not read by attention" in visible_text(app)
    sound(app.segmented_control(key="method").set_value("occlusion").run())
    assert "Area over the perturbation curve of occlusion" in visible_text(app)
    sound(app.segmented_control(key="ranks").set_value("query").run())
    count = re.search(r"Over (\d+) tokens (?:less than|that is)", visible_text(app))
    assert count and int(count[1]) < 10  # of the query alone; 18 in all


def test_a_file_of_rows_is_asked_of_all_three() -> None:
    app = sound(opened("attribute", **SHORT, method="attention"))
    assert (
        "Not run yet: attention, 12 rows, quora-bi-additive, quora-cbi-additive, quora-tri-additive."
        in visible_text(app)
    )
    next(button for button in app.button if button.label == "Run").click()
    sound(app.run(timeout=300))
    assert "Better than random over 12 rows" in visible_text(app) and len(alts(app)) == 4
    spec = json.loads(app.get("vega_lite_chart")[2].proto.spec)
    assert {one["field"] for layer in spec["layer"] for one in layer["encoding"].values() if "field" in one} >= {"mean"}
