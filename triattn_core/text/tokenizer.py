"""Text to tokens that still know where they stand in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tokenizers

from triattn_core.errors import CheckpointError

HALVES = re.compile("[\ud800-\udfff]")  # of characters, alone: broken text has them, and no encoder takes them
SPECIAL = {"cls": "[CLS]", "sep": "[SEP]", "pad": "[PAD]", "unk": "[UNK]", "mask": "[MASK]"}


@dataclass(frozen=True)
class Tokens:
    """Tokens of one text, without special tokens; `spans` are character offsets into that text.

    `cut` is the number of characters after the last token kept: 0 when nothing was cut.
    """

    ids: tuple[int, ...]
    strings: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    cut: int = 0

    def __len__(self) -> int:
        return len(self.ids)


class Tokenizer:
    """A Hugging Face tokenizer read from one file, with BERT's special tokens."""

    def __init__(self, path: Path):
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:
            raise CheckpointError(f"{path}: not a tokenizer file ({error}); copy it anew") from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # "[SEP]" in a sentence is five characters of text
        self.special: dict[str, int] = {}
        for name, string in SPECIAL.items():
            number = self._tokenizer.token_to_id(string)
            if number is None:
                raise CheckpointError(f"{path}: the tokenizer has no {string}; a BERT tokenizer was expected")
            self.special[name] = number

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def encode(self, texts: Sequence[str], limit: int) -> list[Tokens]:
        """Tokens of each text, at most `limit` each, without special tokens."""
        # A word piece has at least one character, but white space has none: cut generously before tokenizing.
        window = 50 * limit + 1000
        read = [HALVES.sub("\ufffd", text[:window]) for text in texts]
        found = self._tokenizer.encode_batch(read, add_special_tokens=False)
        return [self._tokens(text, one, limit, len(text) > window) for text, one in zip(texts, found)]

    @staticmethod
    def _tokens(text: str, one: tokenizers.Encoding, limit: int, longer: bool) -> Tokens:
        spans = tuple(one.offsets[:limit])
        # What stands after the last token may have none of its own (a joiner, a control character): that is not cut.
        rest = text[spans[-1][1] if spans else 0 :] if longer or len(one.ids) > limit else ""
        cut = len(rest.strip())
        return Tokens(tuple(one.ids[:limit]), tuple(one.tokens[:limit]), spans, cut)
