"""Names, spans and words of tokens: what a reader sees, whatever the tokenizer's offsets and special tokens are."""

from __future__ import annotations

import random

import pytest
import torch

from tests.support import small_tokenizers
from tests.support.tiny_transformers import make, word_pieces
from triattn_core.importers.token_coords import NO_OFFSETS, encode, token_coords
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
        (transformers.ByT5Tokenizer(), "a é\n", ["a", "␣", "Ã", "©", "↵"]),
        (transformers.CanineTokenizer(), "caté", ["c", "a", "t", "é"]),
        (transformers.ByT5Tokenizer(), "猫", None),
    ):
        tokens = encode(tokenizer, text, None, 64)[1]
        own = [name for name, special in zip(tokens.tokens, tokens.special) if not special]
        assert NO_OFFSETS in tokens.notes and set(tokens.texts) == {""} and all(own)
        assert expected is None or own == expected, own
        assert set(token_coords(tokens)["key_word"][1]) >= {-1, 1} or "[CLS]" not in tokens.tokens


def test_names_of_a_vocabulary_are_visible_and_unique():
    cases = (("Ġcat", " cat", " cat"), ("Ċ", "\n", "↵"), ("ðŁ", "\ufffd", r"\xf0\x9f"), ("Ļ", "\ufffd", r"\x99"))
    for piece, decoded, name in (*cases, ("<0xF0>", "\ufffd", "<0xF0>"), ("\x07", "\x07", r"\u0007"), ("▁", "", "▁")):
        assert name_piece(piece, decoded) == name
    assert unique_names(["a", "b", "a"], [5, 6, 7]) == ["a (token 5)", "b", "a (token 7)"]
    assert visible("a b") == "a b" and visible("a\r\n") == "a␍↵"
