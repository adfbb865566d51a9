"""The page Laboratory: the truth is outlined and moves with the words, and wrong input is said plainly."""

from __future__ import annotations

import re
import time
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from pages.laboratory import answer_changes, live, model_maps
from tests.app.test_pages import opened, sound, texts
from triattn_core.checkpoint.registry import laboratory_checkpoints
from triattn_core.inference.jobs import JOBS
from triattn_core.tasks.laboratory import LABORATORY

pytestmark = pytest.mark.skipif(
    not any(entry.name == "false-friends-tri-scaled-dot" for entry in laboratory_checkpoints()), reason="not trained"
)
INSTRUMENTS = {"model", "as trained", "even", "shuffled", "product of marginals", "untrained"}
CARDS = {"false-friends-query": "dog", "false-friends-keys": "mira (blue), zuni (red), tolu (black)"}


def test_it_opens_on_false_friends_where_tri_is_right_and_bi_is_wrong():
    app = sound(opened("laboratory"))
    page_text = texts(app)
    assert (
        "<h1>Laboratory</h1>" in page_text and "Who has the" in page_text and "The one pair that fits is" in page_text
    )
    assert "Proved:" in page_text and "Only observed:" in page_text
    assert any("datum.true" in chart.proto.spec for chart in app.get("vega_lite_chart"))
    tri = page_text[page_text.index("Tri, scaled dot") :]
    assert "<b>right</b>" in tri[:200]
    two = page_text[
        page_text.index("<b>Bi-joint, 2 layers") :
    ]  # shown unasked: one layer alone would be an unfair rival
    assert "<b>wrong</b>" in two[:200] and "square-root scale" in page_text


def test_another_language_moves_the_truth():
    first = texts(sound(opened("laboratory", **CARDS, **{"false-friends-context": "Vesk, Sora"})))
    other = texts(sound(opened("laboratory", **CARDS, **{"false-friends-context": "Oran, Sora"})))
    assert "The one pair that fits is mira (blue) with Vesk: the answer is blue." in first
    assert "The one pair that fits is zuni (red) with Oran: the answer is red." in other


def test_no_true_pair_two_of_them_and_unknown_words_are_said_plainly():
    none = texts(opened("laboratory", **CARDS, **{"false-friends-context": "Tami, Sora"}))
    assert "there is no right answer. The models still give an answer." in none and "Tri, scaled dot" in none
    two = texts(opened("laboratory", **CARDS, **{"false-friends-context": "Vesk, Oran"}))
    assert "2 pairs fit" in two and "no one right answer" in two
    app = opened("laboratory", **CARDS, **{"false-friends-context": "Vesc"})
    assert not app.exception and "did you mean 'Vesk'?" in texts(app).replace("\\", "")
    assert "Over held-out rows" in texts(app) and "carries the answer" not in texts(app)
    assert "Train it here" in [button.label for button in app.button]


def training_of(app: AppTest) -> live.Training:
    """The run of the session."""
    return app.session_state[live.KEY]


def trained_here(app: AppTest, until, seconds: float = 60):
    """The page asked again and again, as a browser does, until its run is as it is waited for."""
    end = time.monotonic() + seconds
    while not until(app.session_state[live.KEY]):
        assert time.monotonic() < end
        time.sleep(0.2)
        app.run()
    return app.session_state[live.KEY]


def test_a_model_is_trained_on_the_page_and_cancel_stops_it_where_it_is():
    app = sound(opened("laboratory"))
    assert "minute" not in texts(app)[texts(app).index("Train it here") :]  # nothing that was not measured
    app.button(key="live-start").click().run()
    trained_here(app, lambda one: len(one.run.losses) >= 1)
    start = app.button(key="live-start")
    assert start.label == "Training" and start.disabled
    progress = app.run().get("progress")[0].proto.text.replace("\\", "")  # Markdown's
    assert re.search(r"1,000, [\d.]+ steps a second so far, about \d+ s left, loss \d", progress)
    app.button(key="live-cancel").click().run()
    training = trained_here(app, lambda one: one.is_done(), 20)
    done = training.run.done
    assert 20 <= done < training.run.steps
    page_text = texts(sound(app.run()))
    assert (
        f"Cancelled after {done:,} of 1,000 steps." in page_text and "of held-out rows right, chance 16.7" in page_text
    )
    time.sleep(0.5)
    assert app.button(key="live-start").label == "Train it again"
    assert training.run.done == done and not JOBS.scheduler("cpu").tasks
    app.button(key="live-go-on").click().run()
    trained_here(app, lambda one: one.run.done > done)
    training.run.stopped = True
    app.segmented_control(key="false-friends-steps").set_value(300).run()
    page_text = texts(sound(app))
    assert (
        "Below: Tri, scaled dot, 1,000 steps. “Train it here” replaces it with Tri, scaled dot, 300 steps." in page_text
    )


def test_trained_again_a_model_has_another_seed():
    app = sound(opened("laboratory", **{"false-friends-steps": "300"}))
    app.button(key="live-start").click().run()
    first = app.session_state[live.KEY].run
    app.button(key="live-cancel").click().run()
    trained_here(app, lambda one: one.is_done())
    app.run().button(key="live-start").click().run()
    again = app.session_state[live.KEY].run
    assert first.stopped and (first.seed, again.seed) == (1, 2)
    again.stopped = True


def test_a_run_that_nobody_watches_ends(monkeypatch):
    from triattn_core.training.laboratory import live as training

    monkeypatch.setattr(training, "ALONE", 0.0)
    (entry,) = (entry for entry in laboratory_checkpoints() if entry.name == "false-friends-tri-scaled-dot")
    run = training.LiveRun(entry.config, 40)
    run.train()
    assert run.done == 0 and sorted(run.snapshots) == [0]


def test_the_pace_is_that_of_the_steps_since_the_run_went_on(monkeypatch):
    from triattn_core.training.laboratory import live as training

    (entry,) = (entry for entry in laboratory_checkpoints() if entry.name == "false-friends-tri-scaled-dot")
    run, now = training.LiveRun(entry.config, 40), 100.0
    assert run.pace() is None
    monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=lambda: now))
    run.stopped, run.done = True, 20
    run.train()
    assert run.pace() is None  # no step since it went on
    run.done, now = 30, 105.0
    assert run.pace() == (2.0, 5.0)


def test_the_measures_and_the_instruments_are_shown():
    app = sound(opened("laboratory"))
    page_text = texts(app)
    assert "Which methods find the truth?" in page_text and "True pair found in Tri" in page_text
    assert "Right without looking" in page_text and "is right once in 12 rows (8.3 %)" in page_text
    tables = [set(table.value.columns) for table in app.dataframe]
    wanted = {"Over its even share", "Strongest cell true, %", "Area under precision–recall, %"}
    assert any(wanted <= names for names in tables) and INSTRUMENTS in tables


@pytest.mark.parametrize("task", ["Match3", "Two supporting facts", "planted-xor"])
def test_other_tasks_open_with_tri_and_their_numbers(task, monkeypatch):
    monkeypatch.setattr(model_maps, "reference_measures", None)  # they are recorded: no figure waits for them
    page_text = texts(sound(opened("laboratory", laboratory=task)))
    assert "Only observed:" in page_text and "Over held-out rows" in page_text and "Train it here" in page_text
    assert "<b>Tri, " in page_text and "Tri, untrained" in page_text
    assert ("Constructed" in page_text) == ("Counts of payloads" in page_text) == (task == "planted-xor")
    assert "agree" not in page_text  # a pair in both orders is one


def test_an_empty_field_is_said_and_numbers_stand_in_their_order():
    page_text = texts(opened("laboratory", task="match3", **{"match3-query": "", "match3-keys": "1, 2"}))
    assert "no number is given" in page_text and ": 0, 1, 2, 3, 4" in page_text


def test_a_link_may_name_the_task_plainly():
    assert "modulo 31" in texts(sound(opened("laboratory", task="match3")))
    assert "nothing" in texts(opened("laboratory", task="nothing"))  # what cannot be used is said


def test_a_change_says_who_followed_the_right_answer():
    app = sound(opened("laboratory", **CARDS, **{"false-friends-context": "Vesk, Sora"}))
    assert "Your change" not in texts(app)
    app.text_input(key="false-friends-context").set_value("Oran, Sora").run()
    page_text = texts(sound(app))
    assert "Your change moved the right answer from blue to red. Tri, scaled dot (blue → red) followed; " in page_text
    assert "C-Bi (" in page_text[page_text.index("followed; ") : page_text.index("did not")]
    app.text_input(key="false-friends-context").set_value("Tami, Sora").run()
    assert "Your change: there was one right answer, red, and now there is no right answer. " in texts(sound(app))


def test_a_change_from_two_pairs_to_one_is_not_a_change_from_none():
    task, answers = LABORATORY["false-friends"], {"Tri": "blue"}
    cards = ("mira (blue)", "zuni (red)", "tolu (black)")
    two, one, none = (
        answer_changes.AnsweredRow(task.solve("dog", cards, tonight), answers)
        for tonight in (("Vesk", "Oran"), ("Vesk", "Sora"), ("Tami", "Sora"))
    )
    said = "Your change: there was {}, and now there is {}."
    several, single = "no single right answer (2 pairs fit)", "one right answer, blue"
    assert said.format(several, single) in answer_changes.describe(two, one, task)
    assert said.format(single, several) in answer_changes.describe(one, two, task)
    assert said.format("no right answer", several) in answer_changes.describe(none, two, task)


def test_fresh_rows_are_what_the_command_measures(capsys):
    import json

    from triattn_core.__main__ import main

    app = sound(opened("laboratory"))
    app.button(key="fresh-rows").click().run()
    page_text = texts(sound(app))
    command = re.search(r"triattn (evaluate .* laboratory:false-friends --seed \d+ --rows 100)", page_text)[1]
    assert main([*command.split(), "--json"]) == 0
    for record in json.loads(capsys.readouterr().out)["checkpoints"]:
        assert f"<b>{record['metrics']['accuracy']:.0f} %</b>" in page_text
    assert "Tri, scaled dot <b>100 %</b> (96 to 100)" in page_text and "chance 16.7 %" in page_text
