"""Start without a browser: its one sentence, its numbers, its doors, and what its link holds."""

from __future__ import annotations

import re
from statistics import mean

import pytest

from pages.start import evidence
from tests.app.test_pages import opened, payloads, sound, texts, visible_text
from triattn_core.checkpoint.registry import OPERANDS, laboratory_checkpoints, list_checkpoints, root
from triattn_core.results.first_screen import SCALE, first_screen
from triattn_core.results.laboratory import laboratory_records, seed_tests
from triattn_core.results.run_records import read_records, record_files
from triattn_core.views.start.figure import describe, named_card


def test_it_opens_on_the_end_of_training_with_three_doors():
    app = sound(opened("start"))
    screen = first_screen()
    (payload,) = payloads(app)
    assert payload["at"] == [0, len(screen["tri"]["frames"]) - 1]
    plain = re.sub("<[^>]+>", "", texts(app))
    assert plain.count("Which card is the fish? It depends on the language.") == 1
    assert "dictionary is learned, not in the input" in plain
    assert [link.proto.label for link in app.get("page_link")] == [
        "Type your pair",
        "Open your model",
        "Read the studies",
    ]


def test_its_link_restores_language_and_step():
    screen = first_screen()
    app = sound(opened("start", spoken=screen["languages"][2], step="200"))
    (payload,) = payloads(app)
    assert payload["at"] == [2, [frame["step"] for frame in screen["tri"]["frames"]].index(200)]
    assert not app.info


@pytest.mark.parametrize("link", [{"spoken": "Dutch"}, {"step": "7"}, {"step": "²"}])
def test_a_link_that_asks_for_what_is_not_there_says_so(link):
    app = sound(opened("start", **link))
    assert len(app.info) == 1 and f"{next(iter(link.values()))!r}" in visible_text(app)


def test_three_way_attention_is_right_and_two_way_wrong_in_each_language():
    screen = first_screen()
    right = [screen["cards"][i][0] for i in screen["right"]]
    assert len(set(right)) == 3
    for language, card in enumerate(right):
        answers = [named_card(screen, screen[name]["frames"][-1]["answers"][language]) for name in ("tri", "two_way")]
        assert answers[0] == card != answers[1]
        assert f"the fish is {card}" in describe(screen, language, -1)


def test_the_smear_barely_stirs_while_the_cell_moves():
    last = [first_screen()[name]["frames"][-1]["weights"] for name in ("tri", "two_way")]
    moved = [max(abs(a - b) for rows in zip(*weights) for a in rows for b in rows) / SCALE for weights in last]
    assert moved[0] > 0.9 and moved[1] < 0.05


def test_the_line_on_two_layers_has_the_numbers_on_record():
    name = "false-friends-bi-joint-2"
    entry = next((entry for entry in laboratory_checkpoints() if entry.name == name), None)
    if entry is None:
        pytest.skip("not trained")
    evidence.of_layers.clear()
    sentence, tests = evidence.of_layers(), seed_tests(entry, laboratory_records())
    assert f"{mean(test['accuracy'] for test in tests.values()):.0f} %" in sentence
    assert "4,000 rows, three seeds" in sentence and "31 to 100 %" in sentence and len(tests) == 3


def test_the_line_on_real_text_has_the_numbers_of_the_shipped_models():
    shipped = {entry.name: entry for entry in list_checkpoints(root() / OPERANDS)}
    if not {"gsm8k-tri", "gsm8k-strassen"} <= set(shipped):
        pytest.skip("not trained")
    evidence.sentence.clear()
    sentence = evidence.sentence()
    for name in ("gsm8k-tri", "gsm8k-strassen"):
        scores = [seed["test"]["right_pair"] for seed in shipped[name].metrics["each_seed"]]
        assert f"{mean(scores):.0f} %" in sentence
    assert "no lead shown" in sentence


def test_the_line_on_real_text_does_not_mix_models_and_lengths_of_training():
    """Each number is of one form and length: Tri, pairwise scores, and these after a layer of two-way attention."""
    records = [record.entry for file in record_files("operands.jsonl") for record in read_records(file)[0]]
    runs = [run for run in (*list_checkpoints(root() / OPERANDS), *records) if evidence.is_compared(run)]
    means = {
        (run.config["model"]["similarity"], run.config["model"]["before"], run.config["training"]["epochs"]): mean(
            seed["test"]["right_pair"] for seed in run.metrics["each_seed"]
        )
        for run in runs
    }
    forms = (
        ("scaled_dot", 0, 18),
        ("scaled_dot", 0, 180),
        ("strassen", 0, 18),
        ("strassen", 1, 18),
        ("strassen", 1, 180),
    )
    if not set(forms) <= set(means):
        pytest.skip("not trained")
    evidence.sentence.clear()
    tri, tri_longer, pairwise, layered, layered_longer = (f"{means[form]:.0f} %" for form in forms)
    sentence = evidence.sentence()
    assert f"Three at once {tri} (longer: {tri_longer})" in sentence
    assert f"two at a time {pairwise}, above a two-way layer {layered} (longer: {layered_longer})" in sentence
