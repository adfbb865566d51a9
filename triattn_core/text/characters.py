"""Tokenizers whose vocabulary is what the training text holds: single characters for Chinese, or words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from triattn_core.text.tokenizer import SPECIAL


def character_tokenizer(texts: Sequence[str], least: int = 1) -> Tokenizer:
    """A token for each character that stands at least `least` times in the texts, the frequent ones first.

    Full-width and half-width forms are one character (Unicode NFKC), and so are capital and small letters; white space
    is no token.  Spans still point into the text as it was written.
    """
    tokenizer = Tokenizer(models.WordLevel(unk_token=SPECIAL["unk"]))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.BertNormalizer(handle_chinese_chars=False, strip_accents=False)]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex("."), "isolated")]
    )
    counts = Counter(char for text in texts for char in tokenizer.normalizer.normalize_str(text) if not char.isspace())
    return _of(tokenizer, counts, least)


def word_tokenizer(texts: Sequence[str], least: int = 1) -> Tokenizer:
    """A token for each word or punctuation mark that stands at least `least` times, the frequent ones first.

    Case and accents are left out of account, as by BERT's own pre-tokenizer.
    """
    tokenizer = Tokenizer(models.WordLevel(unk_token=SPECIAL["unk"]))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    split = tokenizer.pre_tokenizer.pre_tokenize_str
    counts = Counter(word for text in texts for word, _ in split(tokenizer.normalizer.normalize_str(text)))
    return _of(tokenizer, counts, least)


def _of(tokenizer: Tokenizer, counts: Counter[str], least: int) -> Tokenizer:
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    known = [*SPECIAL.values(), *(one for one, count in ordered if count >= least)]
    tokenizer.model = models.WordLevel({one: number for number, one in enumerate(known)}, SPECIAL["unk"])
    tokenizer.add_special_tokens(list(SPECIAL.values()))
    return tokenizer


TOKENIZERS = {"characters": character_tokenizer, "words": word_tokenizer}
