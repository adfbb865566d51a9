"""The claims of the guided studies: for the input that is shown and for its paraphrases, with the shipped models."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from triattn_core.__main__ import main
from triattn_core.attention.fixed_weights import replacement
from triattn_core.attention.weight_override import replacing
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import laboratory_checkpoints
from triattn_core.inference.explain import explain
from triattn_core.results import operand_runs
from triattn_core.results.laboratory import laboratory_records, step_rows
from triattn_core.studies import run, studies, which_word_is_read_with
from triattn_core.views.lib.number_format import half_up


@pytest.mark.slow
@pytest.mark.parametrize("name", studies())
def test_the_claim_holds(name):
    study = studies()[name]
    assert len(study.examples) >= 4  # the one that is shown, and three paraphrases
    bundles = [load(checkpoint) for checkpoint in study.checkpoints]
    findings = run(study, bundles)
    assert all(finding.holds for finding in findings), [(finding.value, finding.untrained) for finding in findings]
    assert findings[0].value == pytest.approx(study.reported_value, rel=0.02)
    assert "{" not in study.finding
    if study.maps is not None:
        for array in study.maps(bundles, study.examples[0]).values():
            assert set(array.dims) == {"query", "key"}
    if study.margin is not None:  # a twin that fails: untrained models do not keep the claim
        assert not any(one.holds for one in run(study, [bundle.untrained() for bundle in bundles]))


def test_of_the_dialogue_the_attention_counts_and_its_third_order_does_not():
    study = studies()["earlier-turn"]
    bundles = [load(name) for name in study.checkpoints]
    falls = {}
    for weights in ("even", "product_of_marginals"):
        with replacing(replacement(weights)):
            falls[weights] = study.measure(bundles, study.examples[0])
        assert f"{falls[weights]:.0f}" in study.finding
    assert falls["even"] < study.reported_value - 20 and abs(falls["product_of_marginals"] - study.reported_value) < 2


def test_the_command_repeats_them(capsys):
    assert main(["studies", "negation-by-feature", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert [result["holds"] for result in results] == [True] * 4 and results[0]["value"] == pytest.approx(
        28.8, rel=0.02
    )
    assert main(["studies", "negation-by-features"]) == 1
    assert "negation-by-feature" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "holds"), [("negation-by-feature", False), ("context-term-of-coin", True)])
def test_a_change_does_what_is_said_of_it(name, holds):
    study = studies()[name]
    (finding,) = run(study, [load(checkpoint) for checkpoint in study.checkpoints], [study.edited])
    assert finding.holds == holds and ("fails there" in study.change) != holds


def test_the_response_falls_with_another_thing_and_not_with_a_wired_one():
    study = studies()["earlier-turn"]
    bundles, turns = [load(name) for name in study.checkpoints], study.examples[0].history
    wired = replace(study.examples[0], history=(turns[0].replace("wireless", "wired"), *turns[1:]))
    assert (
        study.measure(bundles, wired)
        > study.reported_value - 5
        > study.reported_value / 2
        > study.measure(bundles, study.edited)
    )


def test_of_how_many_bits_the_context_word_tells_and_where_the_question_mark_looks():
    study = studies()["which-word-is-read-with"]
    bundle, example = load(study.checkpoints[0]), study.examples[0]
    cube = which_word_is_read_with.cube(bundle, example)
    weights = cube.isel(head=int(which_word_is_read_with.bits(cube).argmax())).sum("context").values
    entropy = -(weights * np.log2(weights)).sum(-1).mean()
    assert f"of the {entropy:.1f} bits" in study.finding
    maps = study.maps([bundle], example)
    looks = [
        str(array["key_token"].values[array.transpose("query", "key").values[-1].argmax()]) for array in maps.values()
    ]
    assert looks == ["?", "Which"] and "“?” attends to “?” or to “Which”" in study.finding
    for array in maps.values():
        np.testing.assert_allclose(array.sum("key").values, 1, atol=1e-6)


def test_what_a_laptop_costs_and_with_which_printer_the_wireless_card_is_still_the_answer():
    study = studies()["earlier-turn"]
    (bundle,), example = [load(name) for name in study.checkpoints], study.examples[0]

    def prediction(first: str):
        return explain(bundle, replace(example, history=(first, *example.history[1:])), lambda site: False)[0]

    right, kept = example.label, explain(bundle, example, lambda site: False)[0].probabilities[example.label]
    laptop, printer = (
        prediction(f"my {thing} does not connect any more since the upgrade") for thing in ("laptop", "printer")
    )
    assert f"costs only {100 * (kept - laptop.probabilities[right]):.1f} points" in study.limits
    assert printer.best == right and 100 * (kept - printer.probabilities[right]) > 20


def test_what_the_context_term_adds_to_the_opposite():
    study = studies()["context-term-of-coin"]
    opposite = replace(study.examples[0], text_a="She did not remember to lock the door.")
    added = study.measure([load(name) for name in study.checkpoints], opposite)
    assert f"it adds {added:.1f} points" in study.limits


PRAISE = "good great funny clever convincing original interesting moving charming brilliant".split()
SUBJECTS = "film ending story plot".split()


@pytest.mark.slow
def test_which_words_lead_no_further_than_untrained_and_that_praise_does():
    study = studies()["negation-by-feature"]
    bundles = [load(name) for name in study.checkpoints]
    untrained = [[bundle.untrained(seed) for bundle in bundles] for seed in range(1, 6)]

    def leads(subject: str, word: str) -> tuple[float, list[float]]:
        example = replace(study.edited, text=f"The {subject} is not {word}.")
        return study.measure(bundles, example), [study.measure(each, example) for each in untrained]

    lead, others = leads("film", "good")
    assert f"by {min(others):.0f} to {max(others):.0f} points in five untrained models" in study.limits
    for word, text in (
        ("bad", "“bad” ({:.0f} points, untrained {:.0f})"),
        ("boring", "“boring” ({:.0f}, untrained {:.0f})"),
    ):
        lead, others = leads("film", word)
        assert lead < others[0] and text.format(lead, np.mean(others)) in study.limits
    assert f"falls to {leads('film', 'bad')[0]:.0f} points" in study.change
    above = [lead > np.mean(others) for lead, others in (leads(noun, word) for noun in SUBJECTS for word in PRAISE)]
    assert len(above) == 40 and all(above)
    assert f"all of {len(above)} sentences (ten words of praise, four subjects) are above" in study.limits


def accuracy_by_steps(name: str) -> pd.DataFrame:
    """What a laboratory checkpoint reached on test: a row a seed, `x` the steps it was trained for."""
    (entry,) = (entry for entry in laboratory_checkpoints() if entry.name == name)
    rows = step_rows({name: ("bi", entry)}, laboratory_records())
    return rows[rows.measure == "accuracy"]


def test_one_threshold_covers_all_runs_of_one_layer_of_two_way_attention():
    study, runs = studies()["false-friends"], accuracy_by_steps("false-friends-bi-joint-1")
    assert runs.x.max() == 30 * 1000 and "up to thirty times the steps" in study.refuted
    threshold = float(re.search(r"more than (\d+) % of 4,000 rows", study.refuted)[1])
    assert runs.value.max() < threshold and f"The most so far is {runs.value.max():.1f} %" in study.refuted
    assert f"with thirty times one layer gets {runs.value.max():.0f} %" in study.limits


def test_how_much_c_bi_finds_in_ten_times_the_steps():
    runs = accuracy_by_steps("false-friends-cbi")
    scores = runs[runs.x == 10 * 1000].value
    assert len(scores) == 3
    assert f"C-Bi gets {scores.min():.0f} to {scores.max():.0f} % of rows right" in studies()["false-friends"].limits


def test_of_word_problems_the_scores_are_those_on_record():
    study, scores = studies()["which-two-numbers"], {}
    for entry in operand_runs.runs():
        if entry.config["training"]["told"] == "pair":
            tests = [seed["test"]["right_pair"] for seed in entry.metrics["each_seed"]]
            scores[operand_runs.form(entry.config)] = half_up(sum(tests) / len(tests), 1)
    one, two = scores["two-way, one layer"], scores["two-way, two layers"]
    assert f"the annotated one in {scores['Tri']} %" in study.claim
    assert f"scores in {scores['pairwise scores']}, of one and two layers of two-way" in study.claim
    assert f"attention in {one} and {two}" in study.claim
    after = "pairwise scores after a two-way layer"
    assert (
        f"find {scores[after]} %, and in ten times the steps {scores[after + ', 10 times the steps']} %" in study.limits
    )
    assert f"trained as long it gets {scores['Tri, 10 times the steps']} %" in study.limits
    even = load("gsm8k-tri").metrics["test"]["even_fit"]
    assert f"is right in {half_up(even, 1)} %" in study.limits
