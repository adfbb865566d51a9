"""Compare, and what side by side shows beside mechanisms: other tokenizers, seeds, two inputs, a user's own folder."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.compare import over_rows
from pages.shared import disagreements
from pages.shared.checkpoint_differences import differences_html
from pages.side_by_side import edited_input
from tests.app.test_cases_page import handed, stopped
from tests.app.test_choices import block, figure
from tests.app.test_pages import opened, ran, sound, visible_text
from tests.support import listed
from tests.support.choices_checkpoints import make_checkpoints
from tests.support.figure_arrays import sent_array
from tests.support.mined_checkpoints import rows
from tests.support.tiny import WORDS, make_checkpoint, make_encoder
from triattn_core.analysis.mining import agreement
from triattn_core.analysis.mining.case_table import open_cases
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import VARIABLE, Entry
from triattn_core.results.run_records import SHIPPED
from triattn_core.tasks import pairs

TRIO = [f"quora-{mechanism}-additive" for mechanism in ("bi", "cbi", "tri")]


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> tuple[Path, Path]:
    """The project's checkpoints, and a user's: another seed of one of ours, and an encoder that cuts words in two."""
    ours, mine = make_checkpoints(tmp_path_factory.mktemp("ours")), tmp_path_factory.mktemp("mine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(ours))
        config = json.loads((ours / TRIO[2] / "config.json").read_text())
        seed = config | {"training": config["training"] | {"seed": 2}}
        del seed["digest"]
        make_checkpoint(mine, "another-seed", "tri", 21, **seed)
        make_encoder(mine / "checkpoints" / "encoders" / "halves", words=[*WORDS, "which", "browsers", "can", "movies"])
        make_checkpoint(mine, "halves", "tri", 22, encoder="halves", max_tokens=24)
    return ours, mine / "checkpoints"


@pytest.fixture(autouse=True)
def use_checkpoints(folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, os.pathsep.join(map(str, folders)))
    monkeypatch.setenv("TRIATTN_DEVICE", "cpu")


def asked(page: str, names: list[str], **query: str) -> AppTest:
    return opened(page, checkpoints=names, **query)


def test_a_test_set_says_who_is_ahead_where_it_does() -> None:
    tables = {name: open_cases(SHIPPED / "cases" / f"{name}-published.parquet") for name in ("quora", "race")}
    assert over_rows.who_is_ahead(tables["quora"]) == "C-Bi is ahead of Bi (p = 0.0009)"
    assert over_rows.who_is_ahead(tables["race"]) == ""


def test_rows_of_slow_models_are_not_mined_before_it_is_asked_for(monkeypatch) -> None:
    monkeypatch.setattr("triattn_core.analysis.mining.runs.Run.step", lambda run: pytest.fail("it runs"))
    monkeypatch.setattr("triattn_core.trace.axes.TAN_MECHANISMS", ())
    app = sound(opened("compare"))
    assert (
        "48 rows" in visible_text(app)
        and "Not run yet" in visible_text(app)
        and "model.<wbr>mechanism" in visible_text(app)
    )


def test_the_hard_examples_are_a_set_of_their_own() -> None:
    app = sound(opened("compare", rows="our hard examples"))
    assert "48 of 48 rows have a label" in visible_text(app) and "pairs-hard.en.jsonl" in visible_text(app)


def test_compare_opens_on_what_our_own_examples_show() -> None:
    app = sound(opened("compare"))
    page_text = visible_text(app)
    assert "<h1>Compare</h1>" in page_text and "48 of 48 rows have a label" in page_text
    for two in ("Bi and C-Bi", "Bi and Tri", "C-Bi and Tri"):
        assert f"<td>{two}</td>" in page_text
    assert "model.<wbr>mechanism" in page_text and "No history is recorded" in page_text
    links = [link.proto.label for link in app.get("page_link")]
    assert any("side by side" in label for label in links)


@pytest.mark.parametrize("task", ["Dialogue", "Reading comprehension"])
def test_dialogues_and_passages_are_compared_too(task: str) -> None:
    app = sound(ran(opened("compare", task=task)))
    assert "Pairwise agreement" in visible_text(app) and "12 of 12 rows have a label" in visible_text(app)


def test_any_checkpoints_of_a_task_are_taken_whatever_their_encoder() -> None:
    app = sound(ran(asked("compare", [TRIO[0], "halves", "another-seed"])))
    page_text = visible_text(app)
    assert "48 of 48 rows have a label" in page_text and "<td>another-seed and halves</td>" in page_text
    assert "<td>minilm-en</td>" in page_text and "<td>halves</td>" in page_text  # their settings


def test_who_flips_are_the_rows_that_two_answer_differently() -> None:
    app = sound(ran(asked("compare", TRIO, between="Bi and Tri")))
    bundles = [load(TRIO[0]), load(TRIO[2])]
    from triattn_core.inference.predict import predict

    best = [[max((0, 1), key=one.__getitem__) for one in of] for of in predict(bundles, pairs.examples("en")[:48])]
    differing_rows = {i + 1 for i, (a, b) in enumerate(zip(*best)) if a != b}
    listed = set(app.dataframe[0].value["row"]) if app.dataframe else set()
    assert listed == differing_rows
    kappa = agreement.cohen_kappa(*best)
    assert f"{kappa:.3f}".replace("-", "−") in visible_text(app) or kappa != kappa


def test_a_file_of_rows_is_read() -> None:
    app = sound(handed("mine.jsonl", rows(20), "compare"))
    assert "20 of 20 rows have a label" in visible_text(app)


def test_what_was_asked_before_a_stop_is_compared_and_goes_on() -> None:
    app = stopped("compare", 39)  # 40 are mined for the page Cases, and kept
    assert "Stopped after 16 rows of 39 lines" in visible_text(app) and "16 of 16 rows have a label" in visible_text(
        app
    )
    app = sound(app.button(key="go-on").click().run())
    assert "39 of 39 rows have a label" in visible_text(app) and "Stopped after" not in visible_text(app)


def test_without_a_choice_it_says_what_to_do() -> None:
    app = sound(opened("compare"))
    app.multiselect(key="checkpoints").set_value([TRIO[0]]).run()
    assert "at least two" in visible_text(sound(app))
    app = sound(asked("compare", [TRIO[0], "nothing"]))
    assert "The link asks for nothing" in visible_text(app)


def test_seeds_grey_what_they_explain() -> None:
    app = sound(asked("side_by_side", [TRIO[0], TRIO[2]]))
    gap = figure(app, "side_by_side")["panels"][-1]
    assert gap["lines"][-1] == "grey: seeds differ as much (1 + 2)" or gap["lines"][-1].endswith("(2 + 1)")
    assert "within" in gap["arrays"]
    app = sound(asked("side_by_side", [TRIO[0], TRIO[1]]))
    gap = figure(app, "side_by_side")["panels"][-1]
    assert gap["lines"][-1] == "one seed each: it may be noise" and "within" not in gap["arrays"]
    app = sound(asked("side_by_side", [TRIO[2], "another-seed"]))
    assert figure(app, "side_by_side")["panels"][-1]["lines"][-1] == "two seeds of one model"


def test_other_tokenizers_are_compared_in_what_is_whole_in_both() -> None:
    app = sound(asked("side_by_side", [TRIO[2], "halves"], a="Which browsers can play it", b="Can movies play"))
    assert "compared in the parts that are whole in all" in visible_text(app)
    labels = figure(app, "side_by_side")["axes"]["query"]["label"]
    assert labels == ["Which", "browsers", "can", "play", "it"]
    app.segmented_control(key="quantity").set_value("relevance").run()
    assert not app.exception and len(app.error) == 1 and "choose weight" in app.error[0].value


def test_checkpoints_of_other_tasks_are_refused_in_one_line() -> None:
    app = sound(asked("side_by_side", [TRIO[0], "ubuntu-tri-additive", "dialogue-tri"]))
    assert "Shown instead" in visible_text(app) and len(app.info) == 1


def test_two_inputs_open_on_an_edit_and_follow_what_is_typed() -> None:
    app = sound(opened("side_by_side", compare="inputs", a="the red car", b="the blue car"))
    assert [app.text_area(key=key).value for key in ("a2", "b2")] == ["the red car", "the red car"]
    payload = figure(app, "side_by_side")
    assert [panel["title"] for panel in payload["panels"][:-1]] == ["Before", "Edited"]
    assert payload["axes"]["key"]["label"] == ["the", "−blue", "+red", "car"]
    assert "The edit moves the probability of" in visible_text(app)
    app.text_area(key="b2").set_value("a car").run()
    assert figure(sound(app), "side_by_side")["axes"]["key"]["label"] == ["−the", "−blue", "+a", "car"]
    app.text_area(key="a").set_value("the big car").run()  # what was typed stays
    assert app.text_area(key="b2").value == "a car" and app.text_area(key="a2").value == "the big car"
    app.button(key="as-above").click().run()
    gap = figure(sound(app), "side_by_side")
    assert not sent_array(gap, -1, "divergence").any() and app.text_area(key="b2").value == "the blue car"


@pytest.mark.parametrize(("text", "says"), [("", "Sentence B is empty"), ("\u200b", "Sentence B has no")])
def test_an_empty_edit_is_one_line(text: str, says: str) -> None:
    app = sound(opened("side_by_side", compare="inputs"))
    app.text_area(key="b2").set_value(text).run()
    assert not app.exception and len(app.error) == 1 and says in app.error[0].value


def test_a_dialogue_is_edited_by_its_turns() -> None:
    app = sound(opened("side_by_side", task="Dialogue", compare="inputs"))
    payload = figure(app, "side_by_side")
    assert [panel["title"] for panel in payload["panels"][:-1]] == ["Before", "Edited"]
    assert "The edit moves the probability of" in visible_text(app)
    dialogue_payload = block(app)  # the dialogue before the edit, with what the model says of that
    written = app.text_area(key="edited-turns").value.splitlines()
    shares = {len(row["shares"]) for row in listed.options(dialogue_payload)}
    assert shares == {1} and len(listed.read_texts(dialogue_payload)) == len(written) + 1
    area = app.text_area(key="edited-turns")
    area.set_value(area.value + " please").run()
    assert any(label.startswith("+") for label in figure(sound(app), "side_by_side")["axes"]["query"]["label"])


@pytest.mark.parametrize("language", pairs.LANGUAGES)
def test_the_edit_that_inputs_open_on_is_a_whole_sentence(language: str) -> None:
    for row in pairs.examples(language):
        assert edited_input.opening_edit(row.text_a, row.text_b) == row.text_a != row.text_b
    assert edited_input.opening_edit("the same", "the same") == "the"
    assert edited_input.opening_edit("the same?", "the same?") == "the same"
    assert edited_input.opening_edit("one", "one") == "one"


def test_a_folder_that_does_not_fit_is_one_line(folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from safetensors.torch import load_file, save_file

    bad = tmp_path / "bad" / "bad-tri"
    shutil.copytree(folders[0] / TRIO[2], bad)
    tensors = load_file(bad / "model.safetensors")
    first = min(tensors)
    renamed = {(one if one != first else one + "_old"): tensor for one, tensor in tensors.items()}
    save_file(renamed, bad / "model.safetensors")
    config = json.loads((bad / "config.json").read_text())
    del config["digest"]
    (bad / "config.json").write_text(json.dumps(config))
    monkeypatch.setenv(VARIABLE, os.pathsep.join([str(folders[0]), str(bad.parent)]))
    for page in ("side_by_side", "compare"):
        app = asked(page, [TRIO[0], "bad-tri"])
        app = ran(app) if page == "compare" else app
        assert not app.exception and len(app.error) == 1
        message = app.error[0].value.replace("\\", "")
        assert f"no tensor '{first}'" in message and f"{first}_old" in message and len(message.splitlines()) == 1


def test_why_curves_differ_in_length_is_said() -> None:
    def entry(last: int, epochs: int) -> Entry:
        metrics = {"history": [{"step": last, "train_loss": 0.5}], "epochs": epochs}
        return Entry("x", Path("x"), {"training": {"batch": 64}}, metrics, "", 0)

    same = disagreements.steps({"Bi": entry(437, 1), "Tri": entry(437, 1)})
    assert same == "Each ran 437 steps: 1 epoch in batches of 64."
    apart = disagreements.steps({"Bi": entry(437, 1), "Tri": entry(1748, 4)})
    assert apart.startswith("Bi ran 437 steps: 1 epoch") and "Tri ran 1,748 steps: 4 epochs in" in apart


def test_results_are_no_settings() -> None:
    metrics = {"best_step": 7, "seconds": 9}
    entries = [Entry(name, Path(name), {"model": {"mechanism": name}}, metrics, "", 0) for name in ("bi", "tri")]
    html, _ = differences_html(*entries)
    settings, results = html.split("Outcome")
    assert "model.<wbr>mechanism" in settings, "it breaks between its words"
    assert "best step" not in settings and "best step" in results
