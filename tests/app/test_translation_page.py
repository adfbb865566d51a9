"""Translation on the page MTSA: candidates, the decoder over its source, the encoder's heads, and bad input."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pages.mtsa import alignment_table, role_spans, translations
from tests.app.test_mtsa_pages import maps
from tests.app.test_pages import opened, sound, visible_text
from tests.support.checkpoint_fixtures import checkpoint_fixtures
from tests.support.translation_checkpoints import make_checkpoints
from triattn_core.analysis.maps.word_links import WordLink
from triattn_core.checkpoint.registry import Entry
from triattn_core.inference.predictions import Candidate
from triattn_core.tasks import translation

MODELS = ("translation-mtsa", "translation-multi-head")

checkpoint_folder, use_checkpoints = checkpoint_fixtures(make_checkpoints)


def test_it_opens_on_the_last_layer_of_target_over_source() -> None:
    app = sound(opened("mtsa", checkpoint=MODELS[0]))
    assert app.text_area(key="source").value == translation.examples()[0].source
    payload, text = maps(app), visible_text(app)
    assert "another target piece up and down, another source piece left" in payload["keys"]
    assert "cross, layer.1" in payload["caption"]
    assert "Hatched" not in payload["keys"] and "mask" not in payload["keys"]  # every source piece is open
    assert [panel["title"] for panel in payload["panels"]] == ["Head 1", "Head 2", "Head 3", "Head 4"]
    names = payload["axes"]["key"]["label"]
    assert "".join(names).replace("##", "").replace("␣", "") == "Thebakergaveherneighbourawarmloaf."
    assert all(name.removeprefix("##") for name in names + payload["axes"]["query"]["label"])
    assert "score" in text and text.count("<td lang") == 4


@pytest.mark.parametrize("name, title", list(zip(MODELS, ("Head 1, forward", "Head 1"))))
def test_the_heads_of_the_encoder_have_their_direction(name: str, title: str) -> None:
    app = sound(opened("mtsa", checkpoint=name, of="source", layer="1"))
    payload = maps(app)
    assert payload["panels"][0]["title"] == title
    assert payload["axes"]["query"]["label"] == payload["axes"]["key"]["label"]


def test_the_decoders_own_attention_has_its_mask() -> None:
    payload = maps(sound(opened("mtsa", checkpoint=MODELS[0], of="target")))
    assert all("masked" in panel["arrays"] for panel in payload["panels"]) and "Hatched" in payload["keys"]
    keys, queries = (payload["axes"][axis]["label"] for axis in ("key", "query"))
    assert (keys[0], queries[-1]) == ("[START]", "[END]")  # its vocabulary has no names of its own for them
    assert keys[1:] == queries[:-1]


def test_pieces_are_read_as_words() -> None:
    payload = maps(sound(opened("mtsa", checkpoint=MODELS[0], **{"tokens-as": "words"})))
    assert payload["axes"]["key"]["label"][:3] == ["The", "baker", "gave"]


def test_the_alignment_error_stands_beside_its_baselines() -> None:
    text = visible_text(sound(opened("mtsa", checkpoint=MODELS[0])))
    assert "Does it align?" in text and "<b>50.0</b>" in text and "gold/en-de, 70 sentences" in text
    assert all(number in text for number in ("Diagonal", "66.5", "Even", "92.2", "Gradients", "71.1"))
    assert "Layer 1, head 1: −16.5 points from the diagonal (95 % −20.0 to −12.2), it finds words by" in text
    assert "layer 1, head 1, which has the smallest error below" in text
    text = visible_text(sound(opened("mtsa", checkpoint=MODELS[1])))
    assert "Does it align?" in text and "layer 2, mean of heads, whose error is not measured" in text


def test_rows_of_other_text_than_training_are_described() -> None:
    entry = Entry("a", Path(), {"data": {"train": ["a/train"]}}, {}, "", 0)
    measured = {"set": "gold/en-de", "words": 14.8, "lower_case": True}
    says = "other text than it was trained on: 14.8 words and marks a sentence, in lower case."
    assert says in alignment_table.other_text(entry, measured)
    assert alignment_table.other_text(entry, measured | {"lower_case": False}).endswith("a sentence.")
    assert not alignment_table.other_text(entry, measured | {"set": "a/dev"})
    assert not alignment_table.other_text(entry, {"set": "gold/en-de"})


def test_what_the_model_reaches_on_other_text_stands_beside_its_score() -> None:
    scores = {"test": {"set": "a/test", "bleu": 30.11}, "elsewhere": [{"set": "b/long", "bleu": 2.01, "n": 100}]}
    entry = Entry("a", Path(), {"kind": "translation"}, {"dev": {"bleu": 30.6}} | scores, "", 0)
    assert role_spans.measured(entry) == "BLEU 30.1 on a/test, 2.0 on b/long, other text"
    assert role_spans.measured(replace(entry, metrics={"dev": {"bleu": 30.6}})) == ""


def test_it_says_what_even_weights_cost_and_where() -> None:
    text = visible_text(sound(opened("mtsa", checkpoint=MODELS[0])))
    assert "And if all weights were even?" in text and "in points, on 90 rows of a/dev: in the encoder 12.3 " in text
    assert "in the encoder 12.3 (95 % 10.0 to 14.5) and in the cross-attention 25.5 (95 % 24.0 to 27.0)." in text
    assert "And if all weights" not in visible_text(sound(opened("mtsa", checkpoint=MODELS[1])))


@pytest.mark.parametrize(
    "interval, says", [([-3.3, -6.7, 0.1], "not told apart"), ([4.0, 1.0, 7.0], "behind the diag")]
)
def test_a_head_is_above_the_diagonal_only_beyond_chance(interval: list[float], says: str) -> None:
    rows = [{"layer": 1, "head": head, "aer": 63.0, "less_diagonal": interval} for head in (0, None)]
    assert alignment_table.beside_diagonal(rows).count(says) == 2


ICH = WordLink("Ich", (("I", 0.84),))


def test_links_have_their_weights_and_diffuse_ones_are_grey() -> None:
    links = [WordLink("Bruder", (("brother", 0.84),)), WordLink("das", (("the", 0.22), ("my", 0.15)))]
    sure, diffuse = alignment_table.looks(links, [], "de", "layer 2").split(" · ")
    assert '>Bruder</span> <span>← brother <span class="t-muted t-num">0.84</span>' in sure
    assert '>das</span> <span class="t-muted">← the <span class="t-muted t-num">0.22</span>, my ' in diffuse
    assert "0.15</span>" in diffuse and "Grey: none has half of the weight." in diffuse


def test_words_that_none_looks_at_are_listed() -> None:
    links = [ICH, WordLink("<lese>", (("read", 0.5),))]
    html = alignment_table.looks(links, ["in", "the"], "de", "layer 2, head 1")
    assert '<span lang="de">&lt;lese&gt;</span> <span>← read' in html and "No word looks most at “in”, “the”." in html
    assert "Each source word is" in alignment_table.looks([ICH], [], "de", "layer 2, head 1")


def test_of_many_words_that_none_looks_at_the_count_is_said() -> None:
    html = alignment_table.looks([ICH], ["the"] * 119, "de", "layer 2, head 1")
    assert html.count("“the”") == alignment_table.LISTED == 12 and "“the” and 107 more." in html
    html = alignment_table.looks([WordLink("gestern", (("أمس", 0.4),))], ["باع"], "de", "layer 2, head 1")
    assert "← \u2068أمس\u2069" in html and "“\u2068باع\u2069”." in html


def test_a_translation_whose_probability_rounds_to_0_has_its_logarithm() -> None:
    long = Candidate("die " * 300, -901.5, -60.25, (5,) * 300)
    assert long.probability == 0
    assert '<td class="r">−901.50</td><td class="r">−60.25</td>' in translations.table([long], "de")


def test_a_long_translation_is_folded_and_its_cut_is_said_and_all_but_its_maps_is_shown() -> None:
    app = opened("mtsa", checkpoint=MODELS[0], source="the " * 300)
    text = visible_text(app)
    assert not app.exception and "The sentence is cut after 40 tokens" in text
    assert "The translation stopped at 90 tokens, the most that the model writes for this source: the end is" in text
    assert not app.error and maps(app)  # 90 tokens are drawn
    parts = ("Where it looks most", "Does it align?", "66.5", "And if all weights were even?")
    assert all(part in text for part in parts)


def test_a_text_too_long_for_maps_shows_its_other_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triattn_core.views.attention_maps.maps.MOST", 7)
    app = opened("mtsa", checkpoint=MODELS[0], source="The old cat sat on the mat in the big house.")
    says = [error.value.replace("\\", "") for error in app.error]
    assert not app.exception and ["(at most 7), nor are their pairs listed" in error for error in says] == [True]
    text = visible_text(app)
    assert all(part in text for part in ("Where it looks most", "Does it align?", "66.5", "And if all weights were"))


@pytest.mark.parametrize("form, sentence", [("source", " "), ("source", "...")], ids=("empty", "punctuation"))
def test_what_was_measured_is_shown_without_a_sentence(form: str, sentence: str) -> None:
    app = opened("mtsa", checkpoint=MODELS[0], **{form: sentence})
    text = visible_text(app)
    assert len(app.error) == 1 and "Does it align?" in text and "66.5" in text and "Where it looks" not in text


def test_long_candidates_are_folded_and_one_that_stopped_at_the_limit_has_an_ellipsis() -> None:
    short, long = (Candidate("die " * count, -1.5, -0.25, (5,) * count, count < 9) for count in (2, 200))
    assert "<details" not in translations.candidates([short, short], "de")
    html = translations.candidates([short, long], "de")
    assert "<summary>2 candidates, scores −0.25 to −0.25</summary>" in html and html.count("…</td>") == 1


def test_many_links_scroll() -> None:
    links = [ICH] * alignment_table.LONG
    assert "t-scrolled" not in alignment_table.looks(links, [], "de", "layer 2")
    assert 't-scrolled" tabindex="0"' in alignment_table.looks([*links, links[0]], [], "de", "layer 2")


def test_a_source_of_one_token_is_read_alone() -> None:
    text = visible_text(sound(opened("mtsa", checkpoint=MODELS[0], source="I")))
    assert "which no mask lets attend to itself: the model reads the token alone." in text


def test_bad_input_is_one_line() -> None:
    app = opened("mtsa", checkpoint=MODELS[0], source="   ")
    assert not app.exception and ["is empty" in error.value for error in app.error] == [True]
    app = opened("mtsa", checkpoint=MODELS[0], source="... ?!")
    assert not app.exception and ["has no word" in error.value for error in app.error] == [True]
    app = sound(opened("mtsa", checkpoint=MODELS[0], source="Как мне туда попасть?"))
    assert "The text looks Cyrillic" in visible_text(app)
