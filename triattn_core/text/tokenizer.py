"""Text to tokens that still know where they stand in the text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tokenizers
from tokenizers.pre_tokenizers import Split

from triattn_core.errors import CheckpointError

HALVES = re.compile("[\ud800-\udfff]")  # of characters, alone: broken text has them, and no encoder takes them
# A letter with its accents, an emoji of several parts: what a reader sees as one character (Unicode UAX #29).
SEEN = Split(tokenizers.Regex(r"\X"), "isolated")
LONGEST = 12  # code points of one that are shown together: a tower of accents is no letter
SPECIAL = {"cls": "[CLS]", "sep": "[SEP]", "pad": "[PAD]", "unk": "[UNK]", "mask": "[MASK]"}


@dataclass(frozen=True)
class Tokens:
    """Tokens of one text, without special tokens; `spans` are character offsets into that text.

    `cut` is the number of characters after the last token kept: 0 when nothing was cut; `skipped` of those before the
    first.
    """

    ids: tuple[int, ...]
    strings: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    cut: int = 0
    skipped: int = 0

    def __len__(self) -> int:
        return len(self.ids)

    def run(self, start: int, most: int, text: str) -> Tokens:
        """The tokens of `text` from `start` on, at most so many."""
        if not start and len(self) <= most:
            return self
        part = slice(start, start + most)
        spans = self.spans[part]
        before, rest = text[: spans[0][0]].strip(), text[spans[-1][1] :].strip()
        return Tokens(self.ids[part], self.strings[part], spans, len(rest), len(before))


class Tokenizer:
    """A Hugging Face tokenizer read from one file, with BERT's special tokens.

    `match`: whether the encoder tells tokens apart that stand in both texts; see `roles.segments`.
    """

    def __init__(self, path: Path, match: bool = False):
        self.match = match
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

    def _tokens(self, text: str, one: tokenizers.Encoding, limit: int, longer: bool) -> Tokens:
        rows = list(zip(one.ids, one.tokens, one.offsets))
        marked = not text.isascii() and any(map(joins, text))
        if marked or self.special["unk"] in one.ids:
            rows = whole(text, rows, self.special["unk"])
        ids, strings, spans = zip(*rows[:limit]) if rows else ((), (), ())
        # What stands after the last token may have none of its own (a joiner, a control character): that is not cut.
        rest = text[spans[-1][1] if spans else 0 :] if longer or len(rows) > limit else ""
        return Tokens(ids, strings, spans, len(rest.strip()))


def joins(char: str) -> bool:
    """Whether a character may become one with the one before it: accents, voiced kana marks, parts of Hangul."""
    return unicodedata.category(char)[0] == "M" or char in "\uff9e\uff9f" or "\u1160" <= char <= "\u11ff"


Row = tuple[int, str, tuple[int, int]]  # id, string, span


def whole(text: str, rows: Sequence[Row], unknown: int) -> list[Row]:
    """The tokens, none of which ends inside of what a reader sees as one character.

    What the tokenizer took from a letter, such as its accent, belongs to the letter's span again; an unknown token is
    left out where its character has a token already, so that an emoji of several parts is unknown once.
    """
    seen = [span for _, span in SEEN.pre_tokenize_str(text) for _ in range(*span)]
    kept: list[Row] = []
    for row in rows:
        if row[0] == unknown and kept and seen[kept[-1][2][0]] == seen[row[2][0]]:
            continue
        kept.append(row)
    starts = [span[0] for *_, span in kept[1:]] + [len(text)]
    found = []
    for (number, string, (start, end)), after in zip(kept, starts):
        far = min(seen[end - 1][1], start + LONGEST, after)
        found.append((number, string, (start, max(end, far))))
    return found
