"""A tokenizer whose tokens are single characters, for Chinese: its vocabulary is what the training text holds."""

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
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    known = [*SPECIAL.values(), *(char for char, count in ordered if count >= least)]
    tokenizer.model = models.WordLevel({char: number for number, char in enumerate(known)}, SPECIAL["unk"])
    tokenizer.add_special_tokens(list(SPECIAL.values()))
    return tokenizer
