"""Names, spans and words of tokens: what a reader sees, whatever the tokenizer's offsets and special tokens are."""

from __future__ import annotations

import random

import pytest
import torch

from tests.support import small_tokenizers
from tests.support.tiny_transformers import make, word_pieces
from triattn_core.importers.token_coords import NO_OFFSETS, encode, name_ids
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_trace import trace_transformer
from triattn_core.text.token_names import name_piece, name_tokens, unique_names, visible
from triattn_core.trace.aggregation import continues_word
from triattn_core.trace.text_units import fold_axis
from triattn_core.views.lib.strongest import labels, words


def named(tokenizer, text: str, pair: str | None = None):
    """The tokens of a text without those around it."""
    tokens = encode(tokenizer, text, pair, 64)[1]
    own = [i for i, special in enumerate(tokens.special) if not special]
    return [tokens.tokens[i] for i in own], [tokens.words[i] for i in own]


def grouped(tokenizer, text: str) -> list[list[str]]:
    """The names of the tokens, by word."""
    names, numbers = named(tokenizer, text)
    return [[name for name, number in zip(names, numbers) if number == word] for word in dict.fromkeys(numbers)]


MAKERS = {
    "llama": small_tokenizers.llama,
    "t5": small_tokenizers.t5,
    "gpt2": small_tokenizers.gpt2,
    "bert": word_pieces,
}
WORDS = {
    ("llama", "12-5=7 and"): [["␣", "1", "2"], ["-"], ["5"], ["="], ["7"], ["a", "n", "d"]],
    ("llama", "cat, mat."): [["cat"], [","], ["␣", "mat"], ["."]],
    ("llama", "don't-do a"): [["␣", "d", "o", "n"], ["'"], ["t"], ["-"], ["d", "o"], ["a"]],
    ("llama", "a 🙂 cat"): [["a"], ["␣", "🙂 1/4", "🙂 2/4", "🙂 3/4", "🙂 4/4"], ["cat"]],
    ("t5", "a test"): [["␣", "a"], ["test"]],
    ("t5", "b the cab."): [["␣", "b"], ["the"], ["␣", "c", "a", "b"], ["."]],
    ("gpt2", "naïve cat"): [["na", "ï 1/2", "ï 2/2", "ve"], ["cat"]],
    ("gpt2", "x\n\ny  cat"): [["x"], ["↵"], ["↵"], ["y"], ["␣"], ["cat"]],
    ("gpt2", "🙂🙂"): [[f"🙂 {i}/4" for i in range(1, 5)], [f"🙂 {i}/4" for i in range(1, 5)]],
    ("gpt2", "\t7\u2028"): [["⇥"], ["7"], ["↵ 1/3", "↵ 2/3", "↵ 3/3"]],
}


@pytest.mark.parametrize("kind, text", [key for key, words in WORDS.items() if words])
def test_pieces_are_joined_as_a_reader_would(kind, text):
    assert grouped(MAKERS[kind](), text) == WORDS[kind, text]


def test_names_of_drawn_offsets_cover_what_they_stand_for():
    """Overlapping, empty and repeated offsets: each token has a name, and words are runs."""
    draw = random.Random(3)
    for _ in range(300):
        text = "".join(draw.choice("ab 1-.é🙂猫\n") for _ in range(draw.randrange(1, 12)))
        offsets, start = [], 0
        while start < len(text):
            end = draw.randrange(start, len(text) + 1)
            offsets += [(start, end)] * draw.choice([1, 1, 2])
            start = max(start, end - draw.randrange(2)) if end > start else start + draw.randrange(2)
        offsets = offsets[:40] or [(0, len(text))]
        tokens = name_tokens(text, ["x"] * len(offsets), offsets)
        assert all(name and name == name.strip() for name in tokens.names), (text, offsets, tokens.names)
        assert all(0 <= first <= last <= len(text) for first, last in tokens.spans)
        assert tokens.words == sorted(tokens.words) and tokens.words[0] == 0
        for i in range(1, len(offsets)):
            (before_start, before_end), (after_start, _) = tokens.spans[i - 1 : i + 1]
            if before_start < before_end and after_start < before_end:  # they share a character
                assert tokens.words[i] == tokens.words[i - 1]


def test_a_trace_draws_the_names_and_folds_to_the_words(tmp_path):
    make("gpt2", tmp_path, head=False)
    model = load_transformer(str(tmp_path))
    text = "naïve\n12-5 🙂"
    trace = trace_transformer(model, text)
    site = trace.site("layer.0/attention/weight")
    names = words(site, trace.texts, "key")
    assert "↵" in names and "-" in names and "ï 1/2" in names and "🙂 4/4" in names
    assert "-" in labels(site, trace.texts, "key") and not any(
        label.startswith("-") and label != "-" for label in names
    )
    assert continues_word(site, "key")[names.index("ï 2/2")]
    folded = fold_axis(trace, "words", "key").site("layer.0/attention/weight")
    assert folded["key_token"].values.tolist() == ["naïve", "↵", "12", "-", "5", "🙂"]
    torch.testing.assert_close(torch.from_numpy(folded.sum("key").values), torch.ones(4, site.sizes["query"]))


def chat():
    return small_tokenizers.gpt2(("<|im_start|>", "<|im_end|>"))


SPECIAL = [
    (word_pieces, "unhappy [SEP] cats [SEP] sat", 2, "[SEP]"),
    (word_pieces, "[MASK] cats [CLS]", 2, "[MASK], [CLS]"),
    (chat, "<|im_start|>cat<|im_end|> cat", 2, "<|im_start|>, <|im_end|>"),
    (small_tokenizers.llama, "a</s> cat", 1, "</s>"),
]  # fmt: skip


@pytest.mark.parametrize("make_tokenizer, text, typed, names", SPECIAL)
def test_typed_special_tokens_are_special_and_said(make_tokenizer, text, typed, names):
    tokenizer = make_tokenizer()
    tokens = encode(tokenizer, text, None, 64)[1]
    pieces = tokenizer.convert_ids_to_tokens(tokenizer(text)["input_ids"])
    expected = [piece in tokenizer.all_special_tokens + names.split(", ") for piece in pieces]
    assert tokens.special == [int(special and piece != "[UNK]") for special, piece in zip(expected, pieces)]
    is_are = "special tokens are" if typed > 1 else "special token is"
    note = f"{typed} {is_are} in the text itself ({names}): {sum(tokens.special)} of {len(pieces)} tokens are special."
    assert note in tokens.notes
    assert not any("in the text itself" in note for note in encode(tokenizer, "cat", None, 64)[1].notes)


def test_unknown_words_are_no_special_tokens():
    tokens = encode(word_pieces(), "cats ☃ 猫", None, 64)[1]
    assert tokens.special == [1, *[0] * (len(tokens.tokens) - 2), 1]


def test_tokenizers_without_offsets_have_their_tokens_apart_from_the_text():
    import transformers

    for tokenizer, text, expected in (
        (transformers.ByT5Tokenizer(), "a é\n", ["a", "␣", "é 1/2", "é 2/2", "↵"]),
        (transformers.CanineTokenizer(), "caté", ["c", "a", "t", "é"]),
        (transformers.ByT5Tokenizer(), "猫🙂", [f"猫 {i}/3" for i in (1, 2, 3)] + [f"🙂 {i}/4" for i in (1, 2, 3, 4)]),
        (transformers.ByT5Tokenizer(), "\xa0ß", ["␣ 1/2", "␣ 2/2", "ß 1/2", "ß 2/2"]),
    ):
        tokens = encode(tokenizer, text, None, 64)[1]
        own = [name for name, special in zip(tokens.tokens, tokens.special) if not special]
        assert NO_OFFSETS in tokens.notes and set(tokens.texts) == {""}
        assert own == expected, own
        shared = {word for name, word in zip(tokens.tokens, tokens.words) if word >= 0 and "/" in name}
        assert len(shared) == sum(name.startswith("1/", -3) for name in own)  # the bytes of a character: one word
    canine = encode(transformers.CanineTokenizer(), "cat", "a", 64)[1]
    assert [name for name, flag in zip(canine.tokens, canine.special) if flag] == ["[CLS]", "[SEP]", "[SEP]"]


def test_bytes_that_make_no_character_keep_their_names():
    import transformers

    ids = [0xC3 + 3, 0xC3 + 3, 0xA9 + 3, 0x41 + 3, 0xF0 + 3]  # a half "é" before a whole one, and the start of an emoji
    assert name_ids(transformers.ByT5Tokenizer(), ids).tokens == [r"\xc3", "é 1/2", "é 2/2", "A", r"\xf0"]


UNSEEN = {
    "\u200b": "\\u200b",
    "\u202eabc": "\\u202eabc",
    "\u202e": "\\u202e",
    "\u2066 \u200f": "\\u2066␣\\u200f",
    "\ue000": "\\ue000",
    "\ufe0f": "\\ufe0f",
    "\u00ad \u200d": "\\u00ad␣\\u200d",
    "\u0301": "◌\u0301",
    "ि": "◌ि",
    "👩\u200d👧": "👩\u200d👧",
    "می\u200cخواهم": "می\u200cخواهم",
    "❤\ufe0f": "❤\ufe0f",
}


def test_what_has_no_shape_has_a_visible_name():
    for text, name in UNSEEN.items():
        assert visible(text) == name, (text, name)
    names, _ = named(small_tokenizers.gpt2(), "e\u0301\u200b")
    assert names == ["e", "◌\u0301 1/2", "◌\u0301 2/2", *(f"\\u200b {i}/3" for i in (1, 2, 3))]


def test_names_of_a_vocabulary_are_visible_and_unique():
    cases = (("Ġcat", " cat", " cat"), ("Ċ", "\n", "↵"), ("ðŁ", "\ufffd", r"\xf0\x9f"), ("Ļ", "\ufffd", r"\x99"))
    for piece, decoded, name in (*cases, ("<0xF0>", "\ufffd", "<0xF0>"), ("\x07", "\x07", r"\u0007"), ("▁", "", "▁")):
        assert name_piece(piece, decoded) == name
    assert unique_names(["a", "b", "a"], [5, 6, 7]) == ["a (token 5)", "b", "a (token 7)"]
    assert visible("a b") == "a b" and visible("a\r\n") == "a␍↵"


def with_word_ends():
    """As CLIP and the first GPT have it: a mark after a word."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = [*"abcdehmnstv1257-=.,'", *(f"{letter}</w>" for letter in "abcdehmnstv1257-=.,'")]
    ids = {piece: i for i, piece in enumerate(["<unk>", *letters, "cat</w>"])}
    merges = [("c", "a"), ("ca", "t</w>")]
    ids["ca"] = len(ids)
    tokenizer = Tokenizer(models.BPE(ids, merges, unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


def of_whole_words():
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    ids = {word: i for i, word in enumerate(["<unk>", "cat", "the", "a", "mat", "."])}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


WRITTEN = [
    *((small_tokenizers.llama, text) for text in ("12-5=7 and", "cat, mat.", "don't-do a", "a 🙂 cat", "naïve cat")),
    *((small_tokenizers.t5, text) for text in ("a test", "b the cab.", "the the a")),
    *((small_tokenizers.gpt2, text) for text in ("naïve cat", "x\n\ny  cat", "🙂🙂 cat", "a Ŀ cat", "\t7\u2028")),
    *((word_pieces, text) for text in ("unhappy cats sat", "can play a movie?", "cats sat?")),
    *((with_word_ends, text) for text in ("cat 12-5=7 cat", "a cat, a mat.")),
    (of_whole_words, "the cat a mat."),
]


def firsts(words: list[int]) -> list[int]:
    """Where a word begins."""
    return [i for i in range(len(words)) if not i or words[i] != words[i - 1]]


@pytest.mark.parametrize("make_tokenizer, text", WRITTEN)
def test_what_a_model_writes_has_the_names_and_words_of_what_it_reads(make_tokenizer, text):
    tokenizer = make_tokenizer()
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert tokenizer.unk_token_id is None or tokenizer.unk_token_id not in ids
    read, written = encode(tokenizer, text, None, 64)[1], name_ids(tokenizer, ids)
    own = [i for i, special in enumerate(read.special) if not special]
    assert written.tokens == [read.tokens[i] for i in own]
    assert firsts(written.words) == firsts(named(tokenizer, text)[1])


@pytest.mark.parametrize("kind", ["ByT5Tokenizer", "CanineTokenizer", "PerceiverTokenizer"])
def test_bytes_and_characters_make_words(kind):
    import transformers

    tokenizer = getattr(transformers, kind)()
    text = "a naïve cat"
    read = ["".join(dict.fromkeys(name[0] for name in word)) for word in grouped(tokenizer, text)]
    assert read == ["a", "␣", "naïve", "␣", "cat"]
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert name_ids(tokenizer, ids).tokens == named(tokenizer, text)[0]


def test_a_byte_that_begins_an_emoji_may_stand_with_the_space_before_it():
    """As in GPT-2's own vocabulary."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("Ġ", "ð"), ("Ġð", "Ł")]
    ids = {piece: i for i, piece in enumerate([*letters, *(first + second for first, second in merges)])}
    tokenizer = Tokenizer(models.BPE(ids, merges))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    ids = fast("a 🙂")["input_ids"]
    assert len(ids) == 4 and name_ids(fast, ids).tokens == ["a", "🙂 1/3", "🙂 2/3", "🙂 3/3"]
    assert name_ids(fast, ids[:2]).tokens == ["a", r"\xf0\x9f"]
    assert name_ids(fast, [*ids[:1], 999, *ids[:1]]).words == [0, 1, 2]
