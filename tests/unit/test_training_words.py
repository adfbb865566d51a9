"""Words and lengths of training sentences, and what they say of a text that is asked about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from triattn_core.__main__ import main
from triattn_core.checkpoint.registry import SHIPPED
from triattn_core.tasks import training_words
from triattn_core.tasks.training_words import split_words

GERMAN = "Meine Großmutter verkaufte das alte Haus an einen Fremden."
FRENCH = "Ma grand-mère a vendu la vieille maison à un étranger."
ENGLISH = "My grandmother sold the old house to a stranger on Friday."
TEXTS = {
    "Don’t go, it's 10 o'clock!": ["don't", "go", "it's", "o'clock"],
    "Où est-il? 我喜欢你。": ["où", "est", "il"],
    "Я люблю тебя": ["я", "люблю", "тебя"],
    "日本語です ไทย": [],
}


@pytest.mark.parametrize("text, words", list(TEXTS.items()), ids=("English", "French", "Russian", "no spaces"))
def test_words_are_letters_between_spaces(text: str, words: list[str]) -> None:
    assert split_words(text) == words


def test_what_is_counted_is_read_again(tmp_path: Path) -> None:
    sources = training_words.count_sources(["A dog."] * 98 + ["The dog barks.", "The dogs of the house bark loudly."])
    assert sources.words == set("a dog the barks dogs of house bark loudly".split())
    assert (sources.mean, sources.longest) == (2.1, 3)  # 206 words; one sentence in a hundred is longer
    assert training_words.read_sources(tmp_path) is None
    (tmp_path / training_words.FILE).write_text(training_words.sources_text(sources), "utf-8")
    assert training_words.read_sources(tmp_path) == sources


@pytest.mark.parametrize(
    "text, says",
    [
        ("der Hund schläft", "2 of 3 words never occur in the English of its training: is the text English?"),
        ("der Hund a dog in", ""),
        ("Großmutter", ""),
    ],
    ids=("half and more", "fewer", "one"),
)
def test_half_of_the_words_are_unknown(text: str, says: str) -> None:
    known = {"der", "a", "dog", "in"}
    assert training_words.unknown_words(split_words(text), known, "never occur", "English") == says
    assert not training_words.unknown_words(split_words(text), set(), "never occur", "English")


def test_a_longer_text_is_one_beyond_almost_every_training_sentence() -> None:
    sources = training_words.Sources(frozenset(("a",)), 6.4, 15)
    assert training_words.longer_text(["a"] * 15, sources) == ""
    says = "The text has 16 words, 99 % of the training sentences at most 15 (6.4 on average)."
    assert training_words.longer_text(["a"] * 16, sources) == says


@pytest.mark.parametrize("text, unknown", [(GERMAN, "8 of 9"), (FRENCH, " of 11"), (ENGLISH, "")])
@pytest.mark.parametrize("name", ["tatoeba/tatoeba-mtsa", "roles/roles-mtsa"])
def test_explain_says_that_a_text_is_in_another_language(
    name: str, text: str, unknown: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row, occur = {"source": text}, "never occur"
    if name.startswith("roles"):
        row, occur = {"text": text, "predicate": 2}, "occur fewer than 5 times"
    (tmp_path / "row.json").write_text(json.dumps(row), "utf-8")
    assert main(["explain", str(SHIPPED / name), str(tmp_path / "row.json")]) == 0
    says = f"{unknown} words {occur} in the English of its training: is the text English?"
    assert (says in capsys.readouterr().out) is bool(unknown)


def test_explain_says_of_a_single_word_that_it_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, unknown in (("Bonjour!", True), ("Hello!", False)):
        (tmp_path / "row.json").write_text(json.dumps({"source": text}), "utf-8")
        assert main(["explain", str(SHIPPED / "tatoeba/tatoeba-mtsa"), str(tmp_path / "row.json")]) == 0
        printed = capsys.readouterr().out
        assert ("“bonjour” never occurs in the English of its training." in printed) is unknown


def test_explain_says_that_a_text_is_longer_than_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "row.json").write_text(json.dumps({"source": f"{ENGLISH[:-1]} and {ENGLISH}"}), "utf-8")
    assert main(["explain", str(SHIPPED / "tatoeba/tatoeba-mtsa"), str(tmp_path / "row.json")]) == 0
    says = "The text has 23 words, 99 % of the training sentences at most 15 (6.4 on average). BLEU is 2.0 on "
    assert says + "alignments_gold/en-de_bicici, 14.8 words a sentence." in capsys.readouterr().out
