"""Tokens that know where they stand in the text, and the roles cut from them."""

from __future__ import annotations

import unicodedata

import pytest
import tokenizers
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from triattn_core.checkpoint.registry import encoder_root
from triattn_core.errors import CheckpointError, InputError
from triattn_core.tasks import pairs
from triattn_core.text.roles import Limits
from triattn_core.text.tokenizer import SPECIAL, Tokenizer

WORDS = "the movie film watch can which browser browse ##r ##s not good bad cafe naive 10 000 . , ? ! ' - < > / ( )"
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789浏览器可以看电影什么שלוםעבי😀👩🚀❤"

TEXTS = {
    "English": "Which browser can watch movies?",
    "capitals and accents": "The NAÏVE Café isn't (not) good",
    "accents apart from their letters": "nai\u0308ve cafe\u0301 movie",
    "Chinese": "哪些浏览器可以看电影",
    "Chinese and English": "Chrome浏览器can看movie。",
    "emoji": "good 😀😀 movie 👩‍🚀 bad 👍🏽!",
    "emoji with a variation selector in between": "I ❤️ the movie",
    "right to left": "שלום עולם",
    "right to left and left to right": "watch שלום movie 10,000 مرحبا",
    "outside the basic plane": "𝒻𝒾𝓁𝓂 𠀀 movie 🇩🇪",
    "HTML": "<script>alert('the')</script> <b>good</b>",
    "control characters": "the\x00 mo\x07vie\u200b\u202e good\ufeff can",
    "white space": " \t the \u3000 movie\u00a0\u00a0good \r\n ",
    "one token": "the",
}


@pytest.fixture(scope="module")
def tokenizer_file(tmp_path_factory):
    """A small tokenizer with the parts of BERT's: its normaliser, its pre-tokeniser, word pieces."""
    words = [*SPECIAL.values(), *WORDS.split(), *LETTERS, *("##" + letter for letter in LETTERS)]
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(words))}
    word_piece = tokenizers.Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    word_piece.normalizer = BertNormalizer(lowercase=True)
    word_piece.pre_tokenizer = BertPreTokenizer()
    word_piece.add_special_tokens(list(SPECIAL.values()))
    word_piece.enable_truncation(3)  # what a file may carry is switched off
    word_piece.enable_padding(length=9)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    word_piece.save(str(path))
    return path


@pytest.fixture(scope="module", params=["made here", "minilm-en"])
def tokenizer(request, tokenizer_file):
    if request.param == "made here":
        return Tokenizer(tokenizer_file)
    path = encoder_root() / request.param / "tokenizer.json"
    if not path.is_file():
        pytest.skip(f"no {path.name} of {request.param}")
    return Tokenizer(path)


def folded(text: str) -> str:
    """Text as BERT's normaliser leaves it: no control characters, no accents, lower case."""
    kept = "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cf", "Cn", "Co"))
    return "".join(c for c in unicodedata.normalize("NFD", kept) if unicodedata.category(c) != "Mn").lower()


@pytest.mark.parametrize("name", TEXTS)
def test_offsets_point_at_the_exact_text(tokenizer, name):
    text = TEXTS[name]
    (tokens,) = tokenizer.encode([text], 64)
    assert len(tokens) == len(tokens.ids) == len(tokens.strings) == len(tokens.spans) > 0
    end_before = 0
    for string, (start, end) in zip(tokens.strings, tokens.spans):
        assert end_before <= start < end <= len(text)
        end_before = end
        # Each token's own piece of text, folded, is the token; an unknown one stands for any text but blank.
        if string == SPECIAL["unk"]:
            assert folded(text[start:end]).strip()
        else:
            assert folded(text[start:end]) == string.removeprefix("##")
    # No visible character is lost between the tokens.
    covered = {place for start, end in tokens.spans for place in range(start, end)}
    lost = "".join(c for place, c in enumerate(text) if place not in covered)
    assert not folded(lost).strip(), lost


def test_a_shifted_span_is_seen(tokenizer):
    """Twin of the above: offsets in bytes or UTF-16 units, as other libraries give them, would not pass."""
    text = TEXTS["emoji"]
    (tokens,) = tokenizer.encode([text], 64)
    units = [len(text[:end].encode("utf-16-le")) // 2 for _, end in tokens.spans]
    assert units != [end for _, end in tokens.spans]


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_is_cut_where_there_is_room(tokenizer, name):
    assert tokenizer.encode([TEXTS[name]], 64)[0].cut == 0


@pytest.mark.parametrize("tail", ["\u200d", "\ufe0f", " \x07", "\u0301", "\u202e \n"])
def test_what_no_token_stands_for_is_not_cut(tokenizer, tail):
    """Joiners, selectors, accents and control characters at the end have no token of their own."""
    assert tokenizer.encode(["the movie" + tail], 64)[0].cut == 0


def test_what_is_cut_is_counted(tokenizer):
    text = "the movie can not " * 20
    (tokens,) = tokenizer.encode([text], 7)
    assert len(tokens) == 7
    assert tokens.cut == len(text[tokens.spans[-1][1] :].strip()) > 0
    assert tokenizer.encode(["the movie can not"], 4)[0].cut == 0
    assert tokenizer.encode(["the movie can not the"], 4)[0].cut == 3


@pytest.mark.parametrize("text", ["the " * 25_000, "a" * 100_000, "😀" * 100_000, " " * 99_999 + "a", "浏" * 100_000])
def test_a_hundred_thousand_characters_are_read_at_once_and_cut(tokenizer, text):
    (tokens,) = tokenizer.encode([text], 64)
    assert len(tokens) <= 64
    last = tokens.spans[-1][1] if tokens.spans else 0
    assert tokens.cut == len(text[last:].strip())


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\x00\x01", "\u200b"])
def test_nothing_visible_is_no_token(tokenizer, text):
    assert len(tokenizer.encode([text], 64)[0]) == 0


def test_texts_do_not_disturb_each_other(tokenizer):
    texts = [*TEXTS.values(), "", "\x00"]
    assert tokenizer.encode(texts, 64) == [tokenizer.encode([text], 64)[0] for text in texts]


@pytest.mark.parametrize("name", SPECIAL.values())
def test_a_special_token_that_is_typed_is_only_text(tokenizer, name):
    """Whoever writes "[SEP]" in a sentence does not end the sentence."""
    (tokens,) = tokenizer.encode([f"the {name} movie"], 64)
    assert not {tokenizer.special[kind] for kind in ("cls", "sep", "pad", "mask")} & set(tokens.ids)


def test_half_a_character_is_read_as_unknown_text(tokenizer):
    """A lone surrogate, as broken JSON has it, is not an encodable string."""
    (tokens,) = tokenizer.encode(["the \ud83d movie"], 64)
    assert tokens.strings[0] == "the"
    assert tokens.spans[-1] == (6, 11)


def test_a_tokenizer_file_that_is_none_is_refused(tmp_path, tokenizer_file):
    (tmp_path / "broken.json").write_text("{", "utf-8")
    with pytest.raises(CheckpointError, match="broken.json: not a tokenizer file"):
        Tokenizer(tmp_path / "broken.json")
    with pytest.raises(CheckpointError, match="none.json"):
        Tokenizer(tmp_path / "none.json")
    text = tokenizer_file.read_text("utf-8").replace("[MASK]", "[MAKS]")
    (tmp_path / "other.json").write_text(text, "utf-8")
    with pytest.raises(CheckpointError, match=r"has no \[MASK\]; a BERT tokenizer was expected"):
        Tokenizer(tmp_path / "other.json")


def test_roles_cut_from_the_joint_sequence(tokenizer):
    """Query and key stand in the context where their positions say, and point at their own sentence."""
    example = pairs.Example("The movie 😀 the", "浏览器 can")
    ((roles,),) = pairs.roles([example], tokenizer, Limits(64))
    texts = pairs.texts(example)
    context = roles.context
    assert [bool(flag) for flag in context.special].count(True) == 3
    assert context.strings[0] == "[CLS]"
    assert context.strings[-1] == context.strings[len(roles.query) + 1] == "[SEP]"
    assert list(context.positions) == list(range(len(context)))
    for role, name in ((roles.query, "a"), (roles.key, "b")):
        assert len(role) > 0
        assert set(role.texts) == {name}
        for at, place in enumerate(role.positions):
            assert context.ids[place] == role.ids[at]
            assert context.spans[place] == role.spans[at]
            start, end = role.spans[at]
            assert role.strings[at].removeprefix("##") == texts[name][start:end]


def test_roles_say_what_was_cut_and_what_is_unknown(tokenizer):
    long = pairs.Example("the movie " * 100, "ⴰⵣⵓⵍ the")
    ((roles,),) = pairs.roles([long], tokenizer, Limits(64))
    assert len(roles.query) == 64
    assert any(note.startswith("Sentence A is cut after 64 tokens") for note in roles.notes)
    assert any(note.startswith("Sentence B: the model does not know") for note in roles.notes)
    with pytest.raises(InputError, match="Sentence B has no character that the model can read"):
        pairs.roles([pairs.Example("the", "\x00")], tokenizer, Limits(64))
