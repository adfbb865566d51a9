"""Decomposed text (NFD) under a normaliser that composes it: a letter keeps the marks that its token leaves out."""

from __future__ import annotations

import unicodedata

import pytest
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from triattn_core.importers.token_coords import encode

TEXTS = (
    "un café élégant, naïve",
    "Việt Ångström",
    "한국어 배우다",
    "ガギグ パス",
)  # Hangul and kana are taken apart too


def tokenizer_of(kind: str, normalizer: object) -> transformers.PreTrainedTokenizerFast:
    own = {
        "bytes": (
            models.BPE(),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
            trainers.BpeTrainer(vocab_size=300, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()),
        ),
        "pieces": (
            models.Unigram(),
            pre_tokenizers.Metaspace(),
            trainers.UnigramTrainer(vocab_size=80, special_tokens=["<unk>"], unk_token="<unk>"),
        ),
        "words": (
            models.WordPiece(unk_token="<unk>"),
            pre_tokenizers.BertPreTokenizer(),
            trainers.WordPieceTrainer(vocab_size=120, special_tokens=["<unk>"]),
        ),
    }
    model, before, trainer = own[kind]
    tokenizer = Tokenizer(model)
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, before
    tokenizer.train_from_iterator([unicodedata.normalize("NFC", text) for text in TEXTS] * 3, trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", model_max_length=64)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", ["bytes", "pieces", "words"])
@pytest.mark.parametrize("normalizer", [normalizers.NFC(), normalizers.NFKC()], ids=["NFC", "NFKC"])
def test_decomposed_text_has_the_names_and_words_of_the_composed_one(kind, normalizer, text):
    tokenizer = tokenizer_of(kind, normalizer)
    named = {}
    for form in ("NFC", "NFD"):
        _, tokens = encode(tokenizer, unicodedata.normalize(form, text), None, 64)
        names = [unicodedata.normalize("NFC", name) for name in tokens.tokens]
        named[form] = (names, tokens.words)
    assert named["NFD"] == named["NFC"]


def test_every_mark_is_in_a_token():
    for normalizer in (normalizers.NFC(), normalizers.BertNormalizer(), normalizers.StripAccents()):
        text = unicodedata.normalize("NFD", TEXTS[0])
        _, tokens = encode(tokenizer_of("words", normalizer), text, None, 64)
        covered = {place for start, end in tokens.spans for place in range(start, end)}
        assert [char for place, char in enumerate(text) if place not in covered and not char.isspace()] == []
