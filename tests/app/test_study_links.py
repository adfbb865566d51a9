"""The links of the guided studies: each opens the page just so, and says what is claimed and what an edit does."""

from __future__ import annotations

import re
from html import escape

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.test_pages import opened, sound, visible_text
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import laboratory_checkpoints, list_checkpoints, operands_checkpoints
from triattn_core.studies import studies

AFTER = "with your input"
NUMBER = re.compile(r"t-before\">([\d.]+)<")
ROW = re.compile(r"t-before\">([\d.−]+).*?t-after\">([\d.−]+)", re.DOTALL)


def open_study(name: str, **more: str) -> AppTest:
    study = studies()[name]
    known = (*list_checkpoints(), *laboratory_checkpoints(), *operands_checkpoints())
    here = {entry.name for entry in known if entry.problem is None}
    if not {*study.checkpoints} <= here:
        pytest.skip("not trained")
    return sound(opened(study.page, wait=300, **{**study.opens, "study": name, **more}))


@pytest.mark.parametrize("name", list(studies()))
def test_a_link_opens_just_so_and_the_claim_stands_on_the_page(name):
    study, page_text = studies()[name], visible_text(open_study(name))
    assert (
        "The link asks for" not in page_text and "The link says" not in page_text and "Shown instead" not in page_text
    )
    for sentence in (study.title, study.result, study.refuted, study.change):
        assert escape(sentence) in page_text
    assert AFTER not in page_text
    assert float(NUMBER.search(page_text)[1]) == pytest.approx(study.reported_value, rel=0.02)
    assert page_text.count('class="r t-answer"') == len(study.checkpoints)


def edit(app: AppTest, name: str) -> AppTest:
    """The change that a study suggests, typed on its page."""
    study = studies()[name]
    if name == "earlier-turn":
        app.toggle(key="edit").set_value(True).run()
        return app.text_area(key="write-turns").set_value("\n".join(study.edited.history)).run()
    if name == "which-two-numbers":
        return app.text_area(key="problem").set_value(study.edited.text).run()
    if name == "false-friends":
        return app.text_input(key="false-friends-context").set_value(", ".join(study.edited.context)).run()
    if name == "reader-without-its-map":
        app.toggle(key="edit").set_value(True).run()
        return app.text_area(key="write-passage").set_value(study.edited.passage).run()
    if name == "similarity-functions":
        return app.text_input(key="write-question").set_value(study.edited.question).run()
    for key, text in zip(("a", "b"), study.show(study.edited)):
        key = "text" if study.page == "tensor" else key
        if app.text_area(key=key).value != text:
            app.text_area(key=key).set_value(text).run()
    return app


@pytest.mark.parametrize("name", list(studies()))
def test_an_edit_shows_number_and_answers_before_and_after(name):
    study, app = studies()[name], open_study(name)
    page_text = visible_text(sound(edit(app, name)))
    before, after = map(float, ROW.search(page_text).groups())
    assert before == pytest.approx(study.reported_value, rel=0.02)
    measured = study.measure([load(checkpoint) for checkpoint in study.checkpoints], study.edited)
    assert after == pytest.approx(measured, rel=0.01)
    if name == "negation-by-feature":
        assert f"falls to {after:.0f} points" in study.change
    assert page_text.count('class="r t-answer"') == 2 * len(study.checkpoints)


@pytest.mark.parametrize("name", [name for name, study in studies().items() if study.control])
def test_key_and_context_are_taken_apart_at_the_top_of_the_page(name):
    opens = studies()[name].control
    if opens["checkpoint"] not in {entry.name for entry in list_checkpoints()}:
        pytest.skip("not trained")
    asked = visible_text(sound(opened("intervene", wait=300, **opens, null="product of marginals")))
    assert asked.index("Is this map signal") < asked.index("One by one")
    plain = visible_text(sound(opened("intervene", wait=300, **opens)))
    assert plain.index("Is this map signal") > plain.index("One by one")
