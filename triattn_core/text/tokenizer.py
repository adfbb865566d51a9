"""Text to tokens that still know where they stand in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tokenizers

from triattn_core.errors import CheckpointError

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
        found = self._tokenizer.encode_batch([text[: 50 * limit + 1000] for text in texts], add_special_tokens=False)
        return [self._tokens(text, one, limit) for text, one in zip(texts, found)]

    @staticmethod
    def _tokens(text: str, one: tokenizers.Encoding, limit: int) -> Tokens:
        spans = tuple(one.offsets[:limit])
        cut = len(text[spans[-1][1] :].strip()) if spans else len(text.strip())
        return Tokens(tuple(one.ids[:limit]), tuple(one.tokens[:limit]), spans, cut)
