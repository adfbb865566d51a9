"""Tokenizers with a vocabulary from the training texts: single characters, for Chinese, or words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from triattn_core.text.tokenizer import SPECIAL


def character_tokenizer(texts: Sequence[str], least: int = 1) -> Tokenizer:
    """A tokenizer with a token for each character that occurs at least `least` times, most frequent first.

    Full-width and half-width forms are one character (Unicode NFKC), as are upper and lower case; white space is not a
    token.  Spans still refer to the original text.
    """
    tokenizer = Tokenizer(models.WordLevel(unk_token=SPECIAL["unk"]))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.BertNormalizer(handle_chinese_chars=False, strip_accents=False)]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex("."), "isolated")]
    )
    counts = Counter(char for text in texts for char in tokenizer.normalizer.normalize_str(text) if not char.isspace())
    return _build(tokenizer, counts, least)


def word_tokenizer(texts: Sequence[str], least: int = 1) -> Tokenizer:
    """A tokenizer with a token for each word or mark that occurs at least `least` times, most frequent first.

    Case and accents are ignored, as in BERT's normaliser.
    """
    tokenizer = Tokenizer(models.WordLevel(unk_token=SPECIAL["unk"]))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    split = tokenizer.pre_tokenizer.pre_tokenize_str
    counts = Counter(word for text in texts for word, _ in split(tokenizer.normalizer.normalize_str(text)))
    return _build(tokenizer, counts, least)


def _build(tokenizer: Tokenizer, counts: Counter[str], least: int) -> Tokenizer:
    by_frequency = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    vocabulary = [*SPECIAL.values(), *(token for token, count in by_frequency if count >= least)]
    tokenizer.model = models.WordLevel({token: id_ for id_, token in enumerate(vocabulary)}, SPECIAL["unk"])
    tokenizer.add_special_tokens(list(SPECIAL.values()))
    return tokenizer


TOKENIZERS = {"characters": character_tokenizer, "words": word_tokenizer}
