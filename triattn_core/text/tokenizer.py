"""Tokenization of texts, with the character span of each token."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tokenizers
from tokenizers.pre_tokenizers import Split

from triattn_core.errors import CheckpointError

HALVES = re.compile("[\ud800-\udfff]")  # lone surrogates, as in broken text; no encoder accepts them
# Grapheme clusters (Unicode UAX #29), such as a letter with its accents or an emoji of several parts.
SEEN = Split(tokenizers.Regex(r"\X"), "isolated")
LONGEST = 12  # most code points of a cluster to show together
SPECIAL = {"cls": "[CLS]", "sep": "[SEP]", "pad": "[PAD]", "unk": "[UNK]", "mask": "[MASK]"}


@dataclass(frozen=True)
class Tokens:
    """Tokens of one text, without special tokens; `spans` are character offsets into that text.

    `cut`: the number of characters after the last token kept, 0 if nothing was cut; `skipped`: of those before the
    first.
    """

    ids: tuple[int, ...]
    strings: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    cut: int = 0
    skipped: int = 0

    def __len__(self) -> int:
        return len(self.ids)

    def run(self, start: int, max_tokens: int, text: str) -> Tokens:
        """At most `max_tokens` tokens of `text`, from token `start`."""
        if not start and len(self) <= max_tokens:
            return self
        part = slice(start, start + max_tokens)
        spans = self.spans[part]
        before, after = text[: spans[0][0]].strip(), text[spans[-1][1] :].strip()
        return Tokens(self.ids[part], self.strings[part], spans, len(after), len(before))


class Tokenizer:
    """A Hugging Face tokenizer, read from one file, with BERT's special tokens.

    match: whether the encoder has segment ids for tokens that occur in both texts; see `roles.segment_ids`.
    """

    def __init__(self, path: Path, match: bool = False):
        self.match = match
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:
            raise CheckpointError(f"{path}: not a tokenizer file ({error}); copy it again") from None
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
        valid = [HALVES.sub("\ufffd", text[:window]) for text in texts]
        encodings = self._tokenizer.encode_batch(valid, add_special_tokens=False)
        return [self._tokens(text, encoding, limit, len(text) > window) for text, encoding in zip(texts, encodings)]

    def _tokens(self, text: str, encoding: tokenizers.Encoding, limit: int, longer: bool) -> Tokens:
        rows = list(zip(encoding.ids, encoding.tokens, encoding.offsets))
        has_marks = not text.isascii() and any(map(is_combining, text))
        if has_marks or self.special["unk"] in encoding.ids:
            rows = merge_characters(text, rows, self.special["unk"])
        ids, strings, spans = zip(*rows[:limit]) if rows else ((), (), ())
        # Characters after the last token may have none of their own (a joiner, a control character): these are not cut.
        tail = text[spans[-1][1] if spans else 0 :] if longer or len(rows) > limit else ""
        return Tokens(ids, strings, spans, len(tail.strip()))


def is_combining(char: str) -> bool:
    """Whether a character may combine with the previous one: accents, voiced kana marks, parts of Hangul."""
    return unicodedata.category(char)[0] == "M" or char in "\uff9e\uff9f" or "\u1160" <= char <= "\u11ff"


Row = tuple[int, str, tuple[int, int]]  # id, string, span


def merge_characters(text: str, rows: Sequence[Row], unknown: int) -> list[Row]:
    """The tokens with spans extended to whole grapheme clusters.

    A letter's span includes what the tokenizer removed from it, such as its accent; an unknown token is dropped if its
    cluster already has a token, so that an emoji of several parts is unknown only once.
    """
    character_of = [span for _, span in SEEN.pre_tokenize_str(text) for _ in range(*span)]
    rows_kept: list[Row] = []
    for row in rows:
        if row[0] == unknown and rows_kept and character_of[rows_kept[-1][2][0]] == character_of[row[2][0]]:
            continue
        rows_kept.append(row)
    starts = [span[0] for *_, span in rows_kept[1:]] + [len(text)]
    merged = []
    for (id_, string, (start, end)), next_start in zip(rows_kept, starts):
        character_end = min(character_of[end - 1][1], start + LONGEST, next_start)
        merged.append((id_, string, (start, max(end, character_end))))
    return merged
