"""Characters as tokens: which there are, in what order, and where each stands in the text as it was written."""

from __future__ import annotations

import random
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from triattn_core.text.characters import character_tokenizer
from triattn_core.text.tokenizer import SPECIAL, Tokenizer

TEXTS = {
    "Chinese": "什么浏览器可以看电影？",
    "traditional": "什麼瀏覽器可以看電影",
    "mixed scripts": "用Chrome看Movie吗",
    "full-width": "ＡＢＣ１２３，看！",
    "half-width": "ｶﾅ看",
    "one that becomes two": "房子90㎡，½ⅷ",
    "a ligature": "oﬃce ﬁlm",
    "outside the basic plane": "𠀀看𝒻𠮷",
    "accents in their letters": "café naïve",
    "accents apart from their letters": "cafe\u0301 nai\u0308ve",
    "marks that no letter takes": "看\u0301影\u20dd",
    "many kinds of white space": "看\u3000电\t影\u00a0\u2009好\r\n吗",
    "white space alone around": "  看  ",
    "control characters": "看\x00电\x07影\u200b",
    "capitals with two letters": "ǅ ẞ Ω",
    "emoji": "看👍🏽电影😀",
}


def saved(tmp_path: Path, texts: list[str], least: int = 1) -> Tokenizer:
    """The tokenizer as the models read it: from its file."""
    character_tokenizer(texts, least).save(str(tmp_path / "tokenizer.json"))
    return Tokenizer(tmp_path / "tokenizer.json")


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory) -> Tokenizer:
    return saved(tmp_path_factory.mktemp("characters"), list(TEXTS.values()))


def folded(text: str) -> str:
    """What the model reads of a text: NFKC, lower case, nothing that cannot be seen."""
    seen = (char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) not in ("Cc", "Cf"))
    return "".join("".join(seen).lower().split())


@pytest.mark.parametrize("name", TEXTS)
def test_every_character_is_a_token_and_points_at_the_text_as_written(tokenizer, name):
    text = TEXTS[name]
    (tokens,) = tokenizer.encode([text], 64)
    assert "".join(tokens.strings) == folded(text)
    assert all(len(string) == 1 for string in tokens.strings)
    last = (0, 0)
    for string, (start, end) in zip(tokens.strings, tokens.spans):
        assert string in folded(text[start:end])
        assert last[1] <= start < end <= len(text) or (start, end) == last  # one character that became two tokens
        last = (start, end)
    covered = {place for span in tokens.spans for place in range(*span)}
    assert not folded("".join(char for place, char in enumerate(text) if place not in covered))
    assert tokens.cut == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ＡＢ 看", [("a", "Ａ"), ("b", "Ｂ"), ("看", "看")]),
        ("看㎡，", [("看", "看"), ("m", "㎡"), ("2", "㎡"), (",", "，")]),
        ("oﬃce", [("o", "o"), ("f", "ﬃ"), ("f", "ﬃ"), ("i", "ﬃ"), ("c", "c"), ("e", "e")]),
        ("𠀀看𠮷", [("𠀀", "𠀀"), ("看", "看"), ("𠮷", "𠮷")]),
        ("e\u0301看\u0301", [("é", "e\u0301"), ("看", "看\u0301")]),
        ("\u3000看\n影 ", [("看", "看"), ("影", "影")]),
    ],
    ids=["full-width", "square metres", "ligature", "astral", "combining", "white space"],
)
def test_tokens_and_what_they_stand_for(tmp_path, text, expected):
    known = [string for string, _ in expected]
    (tokens,) = saved(tmp_path, known).encode([text], 64)
    assert [(string, text[slice(*span)]) for string, span in zip(tokens.strings, tokens.spans)] == expected


def test_an_unknown_character_is_unknown_where_it_stands(tmp_path):
    tokenizer = saved(tmp_path, ["看电影"])
    text = "看驫𠀀 电 Ｑ👩‍🚀影"
    (tokens,) = tokenizer.encode([text], 64)
    unknown = SPECIAL["unk"]
    assert list(tokens.strings) == ["看", unknown, unknown, "电", unknown, unknown, "影"]
    assert [text[slice(*span)] for span in tokens.spans] == ["看", "驫", "𠀀", "电", "Ｑ", "👩‍🚀", "影"]
    assert [id_ == tokenizer.special["unk"] for id_ in tokens.ids] == [string == unknown for string in tokens.strings]


@pytest.mark.parametrize("least", [1, 2, 3, 9])
def test_rare_characters_are_left_out(tmp_path, least):
    texts = ["看看看电影", "电Ａ", "ａA 影"]
    counts = Counter("看看看电影电aaa影")
    known = {char for char, count in counts.items() if count >= least}
    tokenizer = saved(tmp_path, texts, least)
    assert len(tokenizer) == len(SPECIAL) + len(known)
    for char in counts:
        assert (tokenizer.encode([char], 4)[0].strings == (char,)) == (char in known)


def test_the_frequent_ones_come_first_and_equals_by_code_point():
    vocabulary = character_tokenizer(["电影 电影院", "影 b a Ａ"]).get_vocab()
    assert sorted(vocabulary, key=vocabulary.get) == [*SPECIAL.values(), "影", "a", "电", "b", "院"]
    assert sorted(vocabulary.values()) == list(range(len(vocabulary)))


def test_no_white_space_and_nothing_invisible_is_a_token():
    blank = [chr(code) for code in range(0x11000) if chr(code).isspace() or unicodedata.category(chr(code)) == "Cc"]
    assert len(blank) > 60
    assert set(character_tokenizer(["看".join(blank)]).get_vocab()) == {*SPECIAL.values(), "看"}


def test_the_same_texts_in_any_order_give_the_same_file(tmp_path):
    texts = [text * (1 + number % 3) for number, text in enumerate(TEXTS.values())]
    other = random.Random(3).sample(texts, len(texts))
    assert texts != other
    saved(tmp_path, texts)
    first = (tmp_path / "tokenizer.json").read_bytes()
    saved(tmp_path, other)
    assert (tmp_path / "tokenizer.json").read_bytes() == first
    saved(tmp_path, [*texts, "新"])
    assert (tmp_path / "tokenizer.json").read_bytes() != first


@pytest.mark.parametrize("name", SPECIAL.values())
def test_a_special_token_that_is_typed_is_only_text(tokenizer, name):
    (tokens,) = tokenizer.encode([f"看{name}影"], 64)
    assert len(tokens) == 2 + len(name)
    assert not {tokenizer.special[kind] for kind in ("cls", "sep", "pad", "mask")} & set(tokens.ids)


def test_a_long_text_is_cut_and_counted(tokenizer):
    (tokens,) = tokenizer.encode(["看 电影㎡ " * 20_000], 5)
    assert tokens.strings == ("看", "电", "影", "m", "2")
    assert tokens.spans[-1] == (4, 5)
    assert tokens.cut == len(("看 电影㎡ " * 20_000)[5:].strip())
