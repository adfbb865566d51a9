"""Maps read as a person, page by page: what folds, what does not, what is hidden, and that it is said."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.app.test_coin_page import figure as blocks
from tests.app.test_mtsa_pages import maps, sound
from tests.app.test_pages import opened, texts
from tests.app.test_similarity_pages import blocks as sent_blocks
from tests.app.test_similarity_pages import command, quantity, terms_of
from tests.oracles import aggregation as oracle
from tests.support import coin_checkpoints, reader_checkpoints
from tests.support.figure_arrays import group_arrays, sent_array
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.inference.explain import explain
from triattn_core.tasks import pairs
from triattn_core.trace import text_units

PAIR = {"a": "Which browsers, if any, can unplay movies?", "b": "Which browser downloads movies, please?"}
SIDE = {**PAIR, "language": "English", "checkpoints": ["quora-bi-published", "quora-tri-published"]}
FOLDED = {**SIDE, "query-as": "words", "key-as": "phrases"}


def hidden_keys(drawn: dict) -> int:
    """How many keys a row of the first map has beside those that are drawn."""
    return int(sent_array(drawn, 0, "keys")[0]) - len(drawn["axes"]["key"]["name"])


def test_side_by_side_shows_the_folded_weights_of_each_model() -> None:
    drawn = maps(sound(opened("side_by_side", **FOLDED)))
    words = ["Which", "browsers", ",", "if", "any", ",", "can", "unplay", "movies", "?"]
    assert drawn["axes"]["query"]["name"] == words
    assert drawn["axes"]["key"]["name"] == ["Which browser downloads movies,", "please?"]
    trace = explain(load("quora-tri-published"), pairs.Example(PAIR["a"], PAIR["b"]))[1]
    site = trace.site("layer.0/a_over_b/weight")
    groups = []
    for axis, unit in (("query", "words"), ("key", "phrases")):
        names = text_units.unit_groups(site, axis, trace.texts, unit)
        groups.append([list(dict.fromkeys(names)).index(name) for name in names])
    cubes = [oracle.folded(one, *groups, [0] * one.shape[2])[..., 0] for one in site.values.astype(float)]
    np.testing.assert_allclose(sent_array(drawn, 1, "weights"), np.mean(cubes, axis=0), rtol=1e-5)
    assert "over query averaged, mass before 1.000000 and after 1.000000" in drawn["notes"]


def test_what_is_hidden_side_by_side_is_said_with_its_mass() -> None:
    drawn = maps(sound(opened("side_by_side", **SIDE, hide="true", sinks="1.5 × even")))
    assert hidden_keys(drawn) > 0 and drawn["notes"].startswith("Hidden: “") and "% in Tri." in drawn["notes"]
    none = maps(sound(opened("side_by_side", **SIDE, hide="true", sinks="5 × even")))
    assert hidden_keys(none) == 0 and "no token receives more than 5 times" in none["notes"]


def test_two_inputs_are_read_in_words_and_phrases_are_not_offered() -> None:
    app = sound(opened("side_by_side", **PAIR, language="English", compare="inputs", **{"query-as": "words"}))
    drawn = maps(app)
    assert (
        drawn["readout"]["corner"] == "input"
        and "is folded" in drawn["notes"]
        and "unplay" in drawn["axes"]["query"]["name"]
    )
    assert app.selectbox(key="query-as").options == ["tokens", "words"]
    assert not [toggle for toggle in app.toggle if toggle.key == "hide"]
    assert any("each input has sinks of its own" in caption.value for caption in app.caption)
    app = sound(opened("side_by_side", **PAIR, language="English", compare="inputs", **{"query-as": "phrases"}))
    assert "'phrases'" in texts(app) and not maps(app)["notes"]


def test_two_options_fold_by_query_and_hide_the_special_tokens() -> None:
    query = {"task": "Dialogue", "compare": "options", "query-as": "phrases", "hide": "true"}
    drawn = maps(sound(opened("side_by_side", checkpoint="ubuntu-tri-published", **query)))  # reads special tokens
    assert "[CLS] [SEP]" not in drawn["axes"]["key"]["name"] and hidden_keys(drawn) == 1
    assert "Query is folded" in drawn["notes"] and "“[CLS] [SEP]” as context" in drawn["notes"]


def test_mtsa_folds_its_weights_and_offers_no_scores() -> None:
    text = "What is the capital, if any, of unplayland?"
    app = sound(opened("mtsa", text=text, **{"tokens-as": "phrases", "quantity": "relevance"}))
    drawn = maps(app)
    assert drawn["axes"]["query"]["name"] == ["What is the capital,", "if any,", "of unplayland?"]
    assert drawn["scales"]["main"]["kind"] == "log" and "scores" not in drawn["panels"][0]["arrays"]
    assert "'relevance'" in texts(app)
    even = sent_array(drawn, 0, "even")
    assert even[0, 1] == 0 and 0 < even[1, 1] < even[1, 0] < 1  # the first head looks at earlier tokens
    assert any("joined they would not be the scores of joined weights" in caption.value for caption in app.caption)


def on(checkpoint_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages show these checkpoints."""
    monkeypatch.setenv(VARIABLE, str(checkpoint_folder))
    monkeypatch.setenv("TRIATTN_DEVICE", "cpu")


def test_coin_folds_its_alignments_and_its_gate_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(coin_checkpoints.make_checkpoints(tmp_path / "checkpoints", ("quora-coin",)), monkeypatch)
    pair = {"a": "Can cats, if any, eat fish?", "b": "Can a dog, too, eat?"}
    app = sound(opened("coin", **pair, **{"tokens-as": "phrases", "phrases": "eat fish"}))
    drawn = blocks(app)
    assert drawn["axes"]["query"]["name"] == ["Can", "cats", ",", "if", "any", ",", "eat fish", "?"]
    block, whole = group_arrays(drawn, 1), explain(load("quora-coin"), pairs.Example(pair["a"], pair["b"]))[1]
    groups = ([0, 1, 2, 3, 4, 5, 6, 6, 7], list(range(7)))
    for name, shown in (("a_over_b/weight", block["weight"]), ("a_over_b/without_context/weight", block["plain"])):
        weights = whole.site(f"layer.1/{name}").values[:, :, None]
        expected = oracle.folded(weights, groups[0], range(weights.shape[1]), [0])[..., 0]
        np.testing.assert_allclose(shown, expected, rtol=1e-5, atol=1e-7)
    own = whole.site("layer.1/a_over_a/weight").values[:, :, None]
    expected = oracle.folded(own, groups[0], groups[0], [0])[..., 0]
    np.testing.assert_allclose(block["own_query"], expected, rtol=1e-5, atol=1e-7)
    assert "gate" not in block and drawn["notes"].endswith("so neither is grouped: both are shown for tokens only.")
    assert "--group-by query=phrases key=phrases --phrases 'eat fish'" in drawn["readout"]["command"][0]
    assert "gate" in group_arrays(blocks(sound(opened("coin", **pair))), 1)


def test_similarity_folds_and_shows_the_terms_of_a_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(reader_checkpoints.make_checkpoints(tmp_path / "checkpoints", ("t_trilinear", "dot")), monkeypatch)
    text, asks = "The red boat left. The blue boat stayed, they say.", "Which boat stayed?"
    app = sound(opened("similarity", passage=text, question=asks, **{"passage-as": "sentences"}))
    drawn, sent = maps(app), sent_blocks(app)
    assert drawn["axes"]["query"]["name"] == ["sentence 1", "sentence 2"]
    assert quantity(app) == "relevance, centred per row"
    ends = sent_array(drawn, 0, "start")
    assert ends.sum() == pytest.approx(1, abs=1e-5) and "added up over the passage" in drawn["notes"]
    for terms, score in map(terms_of, sent):
        assert not terms or score == pytest.approx(sum(terms), abs=1e-5)
    row, key, panel = drawn["cell"]
    assert all(word in words for word, words in zip(sent[panel]["pair"].split(" × "), (text, asks)))
    asked = rf"--terms \d+\.{key} --group-by query=sentences --cell attention/weight {row},{key}"
    assert re.search(asked, command(app))
    plain = maps(sound(opened("similarity", passage=text, question=asks)))
    assert plain["notes"].startswith("Centred: ") and "added up" not in plain["notes"]
