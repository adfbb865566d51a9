"""Chinese and odd text under the real character tokenizer: whatever is typed stays whole and is shown as written."""

from __future__ import annotations

import unicodedata

import pytest
import tokenizers

from triattn_core.checkpoint.registry import encoder_root
from triattn_core.errors import InputError
from triattn_core.tasks import pairs
from triattn_core.text.roles import Limits
from triattn_core.text.tokenizer import LONGEST, SEEN, SPECIAL, Tokenizer, merge_characters

PATH = encoder_root() / "characters-zh" / "tokenizer.json"
PAPER = ("哪些浏览器可以看电影", "什么浏览器可以下电影")
TEXTS = {
    "the paper's case": PAPER[0],
    "traditional": "哪些瀏覽器可以看電影",
    "full width": "ＱＱ怎么登录？１２３",
    "mixed scripts": "Chrome浏览器可以看 movie 吗？",
    "never seen": "龘靐怎么读",
    "outside the basic plane": "𠮷野家在哪𠀀",
    "an emoji of three, a flag, a heart": "好👨\u200d👩\u200d👧看🇨🇳❤\ufe0f吗",
    "a tone of skin, a key cap": "好👍🏽1\ufe0f\u20e3",
    "accents apart from their letters": "cafe\u0301 好 nai\u0308ve",
    "one character that reads as several": "㎏ ½ ㍿ ﷺ ﬁ",
    "punctuation": "？！……，。——“”",
    "Japanese, accents apart": "は か\u3099",
    "Devanagari": "नमस्ते",
    "control characters": "看\x00电\u200b影\u202e\ufeff",
    "white space": " \u3000看\t电 影\n",
    "markup": "<b>看</b>&amp;",
    "accents alone": "\u0301\u0301",
}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    if not PATH.is_file():
        pytest.skip("no tokenizer of characters-zh: copy the folder checkpoints/")
    return Tokenizer(PATH)


def cut_by_tokens(tokenizer: Tokenizer, text: str, limit: int = 64) -> list[str]:
    """The text of each token as it was written."""
    (tokens,) = tokenizer.encode([text], limit)
    return [text[slice(*span)] for span in tokens.spans]


def notes(tokenizer: Tokenizer, a: str, b: str = "看") -> tuple[str, ...]:
    return pairs.roles([pairs.Example(a, b)], tokenizer, Limits(64))[0][0].notes


def test_the_papers_case_is_known_character_by_character(tokenizer) -> None:
    ((roles,),) = pairs.roles([pairs.Example(*PAPER)], tokenizer, Limits(64))
    assert roles.query.strings == tuple(PAPER[0]) and roles.key.strings == tuple(PAPER[1])
    assert roles.notes == ()
    assert tokenizer.special["unk"] not in roles.context.ids
    assert roles.context.strings == ("[CLS]", *PAPER[0], "[SEP]", *PAPER[1], "[SEP]")


@pytest.mark.parametrize("language", ["zh"])
def test_all_examples_can_be_read(tokenizer, language: str) -> None:
    for example in pairs.examples(language):
        assert pairs.roles([example], tokenizer, Limits(64))[0][0].notes == (), example.id


@pytest.mark.parametrize("name", TEXTS)
def test_tokens_are_whole_characters_in_order(tokenizer, name: str) -> None:
    text = TEXTS[name]
    (tokens,) = tokenizer.encode([text], 64)
    seen = [span for _, span in SEEN.pre_tokenize_str(text)]
    ends = {end for _, end in seen}
    before = (0, 0)
    for span in tokens.spans:
        assert span == before or span[0] >= before[1], "out of order"
        assert span[0] in {start for start, _ in seen} and span[1] in ends, "part of a character"
        before = span
    covered = {place for span in tokens.spans for place in range(*span)}
    lost = "".join(char for place, char in enumerate(text) if place not in covered)
    assert not [char for char in lost if unicodedata.category(char)[0] in "LNPSM"], lost
    for span in seen:
        unknown = [i for i, at in zip(tokens.ids, tokens.spans) if at == span and i == tokenizer.special["unk"]]
        assert len(unknown) <= 1, "one character is unknown twice"


def test_without_the_joining_a_character_falls_apart() -> None:
    """Twin of the above: what the library gives alone would not pass."""
    text = "👨\u200d👩\u200d👧e\u0301"
    raw = tokenizers.Tokenizer.from_file(str(PATH)).encode(text, add_special_tokens=False)
    rows = list(zip(raw.ids, raw.tokens, raw.offsets))
    assert len(rows) == 4 and rows[-1][2] == (5, 6)
    assert [span for *_, span in merge_characters(text, rows, raw.ids[0])] == [(0, 5), (5, 7)]


def test_full_width_reads_as_half_width_and_is_shown_as_written(tokenizer) -> None:
    wide, narrow = "ＱＱ怎么登录？１２３", "qq怎么登录?123"
    left, right = tokenizer.encode([wide, narrow], 64)
    assert left.ids == right.ids and tokenizer.special["unk"] not in left.ids
    assert cut_by_tokens(tokenizer, wide) == list(wide)


def test_accents_apart_or_not_read_alike(tokenizer) -> None:
    apart, composed = tokenizer.encode(["好 nai\u0308ve", "好 na\u00efve"], 64)
    assert apart.ids == composed.ids
    assert cut_by_tokens(tokenizer, "好 nai\u0308ve") == ["好", "n", "a", "i\u0308", "v", "e"]


def test_unknown_characters_are_named(tokenizer) -> None:
    assert notes(tokenizer, "龘靐怎么读呢") == ("Sentence A: the model does not know 龘, 靐 and sees them all alike.",)
    assert notes(tokenizer, "龘龘怎么读呢") == ("Sentence A: the model does not know 龘.",)
    assert notes(tokenizer, "看", "哪些瀏覽器可以看電影") == (
        "Sentence B: the model does not know 瀏, 覽, 電 and sees them all alike.",
    )
    assert notes(tokenizer, "cafe\u0301 café 怎么样") == ("Sentence A: the model does not know é.",)


def test_a_long_list_of_unknown_characters_is_cut(tokenizer) -> None:
    (note,) = notes(tokenizer, "龘靐龖𪚥齉爨鱻麤馫灪")
    assert "龘, 靐, 龖, 𪚥, 齉, 爨, 鱻, 麤, … (10 in all)" in note
    assert note.endswith("It cannot read this text: what follows means little.")


def test_what_has_no_shape_is_named_by_its_number(tokenizer) -> None:
    (note,) = notes(tokenizer, "\u0301看电影")
    assert "does not know U+0301." in note


def test_an_emoji_of_several_parts_is_one_token(tokenizer) -> None:
    text = TEXTS["an emoji of three, a flag, a heart"]
    assert cut_by_tokens(tokenizer, text) == ["好", "👨\u200d👩\u200d👧", "看", "🇨🇳", "❤\ufe0f", "吗"]
    (note,) = notes(tokenizer, text)
    assert note == "Sentence A: the model does not know 👨\u200d👩\u200d👧, 🇨🇳, ❤\ufe0f and sees them all alike."


def test_a_tower_of_accents_is_shown_in_part(tokenizer) -> None:
    text = "a" + "\u0301" * 3000
    (tokens,) = tokenizer.encode([text], 64)
    assert tokens.spans == ((0, LONGEST),) and tokens.cut == 0


def test_only_punctuation_is_read(tokenizer) -> None:
    ((roles,),) = pairs.roles([pairs.Example("？？？", "……。")], tokenizer, Limits(64))
    assert len(roles.query) == 3 and len(roles.key) >= 3
    assert "".join(roles.query.strings) == "？？？"


@pytest.mark.parametrize("text", ["浏" * 100_000, "龘" * 100_000, "👨\u200d👩\u200d👧" * 20_000, "e\u0301" * 50_000])
def test_a_hundred_thousand_characters_are_cut_and_said(tokenizer, text: str) -> None:
    (tokens,) = tokenizer.encode([text], 64)
    assert len(tokens) == 64 and tokens.cut == len(text) - tokens.spans[-1][1]
    assert f"cut after 64 tokens: {tokens.cut:,} characters" in notes(tokenizer, text)[0]


def test_what_is_typed_as_a_special_token_is_text(tokenizer) -> None:
    for name in SPECIAL.values():
        (tokens,) = tokenizer.encode([f"看{name}"], 64)
        assert not {tokenizer.special[kind] for kind in ("cls", "sep", "pad", "mask")} & set(tokens.ids)


def test_nothing_to_read_is_refused(tokenizer) -> None:
    with pytest.raises(InputError, match="Sentence A has no character that the model can read"):
        pairs.roles([pairs.Example("\u200b\u3000", "看")], tokenizer, Limits(64))
