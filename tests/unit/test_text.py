"""Tokens that know where they stand in the text, and files of rows that say what is wrong with them."""

from __future__ import annotations

import gzip
import json
import unicodedata

import pytest
import tokenizers
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from triattn_core.errors import CheckpointError, DataError, InputError
from triattn_core.shelf import encoders
from triattn_core.tasks import pairs
from triattn_core.text import rows
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
    made = tokenizers.Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = BertNormalizer(lowercase=True)
    made.pre_tokenizer = BertPreTokenizer()
    made.add_special_tokens(list(SPECIAL.values()))
    made.enable_truncation(3)  # what a file may carry is switched off
    made.enable_padding(length=9)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    made.save(str(path))
    return path


@pytest.fixture(scope="module", params=["made here", "minilm-en"])
def tokenizer(request, tokenizer_file):
    if request.param == "made here":
        return Tokenizer(tokenizer_file)
    path = encoders() / request.param / "tokenizer.json"
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


# --- files of rows ---

ROW = {"text_a": "Which browser?", "text_b": "什么浏览器", "label": 1}


def write(path, lines: list[str]):
    content = "\n".join(lines).encode("utf-8")
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_rows_come_with_file_and_line(tmp_path, name):
    path = write(tmp_path / name, [json.dumps(ROW), "", "  ", json.dumps(ROW, ensure_ascii=False)])
    assert list(rows.read_json_lines(path)) == [(f"{path}:1", ROW), (f"{path}:4", ROW)]


BAD_LINES = {
    "cut short": '{"text_a": "x"',
    "not JSON": "text_a,text_b",
    "a list": "[1, 2]",
    "a number": "3",
    "nothing": "null",
    "two objects": "{} {}",
    "too deep": "[" * 100_000,
    "a number of too many digits": '{"label": ' + "1" * 10_000 + "}",
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_is_named(tmp_path, line):
    path = write(tmp_path / "rows.jsonl", [json.dumps(ROW), line])
    with pytest.raises(DataError, match=r"rows\.jsonl:2: ") as caught:
        list(rows.read_json_lines(path))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "LINE_LIMIT", 1000)
    path = write(tmp_path / "rows.jsonl.gz", [json.dumps(ROW), " " * 1_000_000])
    with pytest.raises(DataError, match=r"rows\.jsonl\.gz:2: a line of over 1,000 characters"):
        list(rows.read_json_lines(path))


def damaged() -> dict[str, tuple[str, bytes]]:
    whole = gzip.compress(b"".join(json.dumps({"text_a": str(n) * 9}).encode() + b"\n" for n in range(5000)))
    middle = len(whole) // 2
    return {
        "not UTF-8": ("rows.jsonl", b'{"text_a": "\xff\xfe"}'),
        "UTF-16": ("rows.jsonl", json.dumps(ROW).encode("utf-16")),
        "not gzip": ("rows.jsonl.gz", json.dumps(ROW).encode()),
        "gzip cut short": ("rows.jsonl.gz", whole[:middle]),
        "gzip with a hole": ("rows.jsonl.gz", whole[:middle] + b"\0" * 64 + whole[middle + 64 :]),
        "gzip with no deflate in it": ("rows.jsonl.gz", whole[:10] + b"\x07" * 99),
    }


@pytest.mark.parametrize("kind", damaged())
def test_a_damaged_file_is_refused_in_one_line(tmp_path, kind):
    name, content = damaged()[kind]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=name) as caught:
        list(rows.read_json_lines(tmp_path / name))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["none.jsonl", "."])
def test_a_file_that_is_not_there_is_named(tmp_path, name):
    with pytest.raises(DataError, match="no such file"):
        list(rows.read_json_lines(tmp_path / name))


# --- rows of sentence pairs ---


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text_a": None}, "field 'text_a' must be text, got None"),
        ({"text_b": ["x"]}, "field 'text_b' must be text"),
        ({"text_b": "x" * 9, "text_a": 3}, "field 'text_a' must be text, got 3"),
        ({"label": 2}, "field 'label' must be 0 or 1, got 2"),
        ({"label": True}, "field 'label' must be 0 or 1, got True"),
        ({"label": "1"}, "field 'label' must be 0 or 1, got '1'"),
        ({"label": 1.0}, "field 'label' must be 0 or 1, got 1.0"),
        ({"label": [1]}, "field 'label' must be 0 or 1"),
    ],
)
def test_a_field_that_does_not_fit_is_named(tmp_path, change, message):
    path = write(tmp_path / "rows.jsonl", [json.dumps(ROW), json.dumps(ROW | change)])
    with pytest.raises(DataError, match=r"rows\.jsonl:2: ") as caught:
        list(pairs.read(path))
    assert message in str(caught.value)


def test_a_missing_label_is_nobodys_judgement(tmp_path):
    row = {"text_a": "the", "text_b": "movie"}
    found = list(pairs.read(write(tmp_path / "rows.jsonl", [json.dumps(row), json.dumps(row | {"label": 0})])))
    assert [one.label for one in found] == [None, 0]


@pytest.mark.parametrize(
    ("spaced", "natural"),
    [
        ("Why ca n't I do it ?", "Why can't I do it?"),
        ("What 's the `` best '' film , really ?", 'What\'s the "best" film, really?'),
        ("It is ( not ) good .", "It is (not) good."),
        ("Costs $ 10,000 %", "Costs $10,000%"),
        ("Why can't I do it?", "Why can't I do it?"),
        ("什么浏览器 可以", "什么浏览器 可以"),
    ],
)
def test_treebank_spacing_becomes_natural_text(spaced, natural):
    assert pairs.natural(spaced) == natural
    assert pairs.natural(natural) == natural


@pytest.mark.parametrize("blank", ["", " \n\t", "\u3000"])
def test_a_blank_sentence_is_refused(blank):
    with pytest.raises(InputError, match="Sentence B is empty"):
        pairs.Example("the", blank).check()


def test_roles_cut_from_the_joint_sequence(tokenizer):
    """Query and key stand in the context where their positions say, and point at their own sentence."""
    example = pairs.Example("The movie 😀 the", "浏览器 can")
    (roles,) = pairs.roles([example], tokenizer, 64)
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
    (roles,) = pairs.roles([long], tokenizer, 64)
    assert len(roles.query) == 64
    assert any(note.startswith("Sentence A is cut after 64 tokens") for note in roles.notes)
    assert any(note.startswith("Sentence B: the model does not know") for note in roles.notes)
    with pytest.raises(InputError, match="Sentence B has no character that the model can read"):
        pairs.roles([pairs.Example("the", "\x00")], tokenizer, 64)
