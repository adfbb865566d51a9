"""What the tokens of any tokenizer are called, where each stands in the text, and which make up a word.

Made from the text, the tokenizer's own pieces and their offsets alone.  Offsets are taken as they come: they may
include the space before a word, be empty, or be the same for several pieces, as for the bytes of an emoji.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass

SPACE_MARKS = "▁Ġ"  # of SentencePiece and of byte-level BPE: the space before a word
VISIBLE = {"\n": "↵", "\r": "␍", "\t": "⇥", " ": "␣", "\u00a0": "␣", "\u3000": "␣", "\u2028": "↵", "\u2029": "↵"}
CIRCLE = "\u25cc"  # on which a mark is written that no letter takes
NO_WORD = -1  # the word of a special token
START, END = "[START]", "[END]"  # of a text that a decoder writes, where the vocabulary calls them otherwise


@dataclass(frozen=True)
class TokenNames:
    """Of each token: what it is called, its characters in the text, and the number of its word."""

    names: list[str]
    spans: list[tuple[int, int]]
    words: list[int]


def name_tokens(text: str, pieces: Sequence[str], offsets: Sequence[tuple[int, int]]) -> TokenNames:
    """The names, spans and words of the tokens of one text, in its order.

    A token is called by its characters in the text, without the space before them.  White space, line breaks and
    control characters have visible names; of several tokens within the same characters each says which it is, "🙂 2/4".
    Two tokens belong to one word if their spans overlap, or if they touch between two letters or digits; letters of
    scripts that are written without spaces are words of their own.  A mark of a space belongs to the word after it.
    What a letter takes after it, an accent or a part of a syllable, is a part of its token, if none begins there.
    """
    spans = _with_marks(text, [_trim(text, piece, span) for piece, span in zip(pieces, offsets)])
    names = [
        visible(text[start:end].strip() or text[start:end]) or visible(piece.strip(SPACE_MARKS)) or SPACE
        for piece, (start, end) in zip(pieces, spans)
    ]
    for first, last in _shared(spans):
        for i in range(first, last):
            names[i] = f"{names[i]} {i - first + 1}/{last - first}"
    words: list[int] = []
    for i, span in enumerate(spans):
        words.append(words[-1] if i and _is_one_word(text, spans[i - 1], span) else i)
    return TokenNames(names, spans, words)


SPACE = VISIBLE[" "]


def visible(text: str) -> str:
    """The text with visible signs for line breaks, control characters and changes of direction; for white space and
    characters without a shape where it is nothing but these; and with a circle under a mark that no letter takes."""
    blank = all(char.isspace() or _has_no_shape(char) for char in text)
    name = "".join(_sign(char, blank) for char in text)
    return CIRCLE + name if name and unicodedata.category(name[0])[0] == "M" else name


def _sign(char: str, blank: bool) -> str:
    """What stands for a character in a name; blank: the name holds nothing that can be seen."""
    if char.isspace() and not blank and char not in "\n\r\t\u2028\u2029":
        return char
    if char in VISIBLE or char.isspace():
        return VISIBLE.get(char, SPACE)
    if "\udc80" <= char <= "\udcff":  # a byte that is a part of no character, as `surrogateescape` has it
        return f"\\x{ord(char) - 0xDC00:02x}"
    turns = "\u200e" <= char <= "\u200f" or "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069"
    escaped = turns or unicodedata.category(char) in ("Cc", "Co", "Cs") or (blank and _has_no_shape(char))
    return f"\\u{ord(char):04x}" if escaped else char


def _has_no_shape(char: str) -> bool:
    """Whether a character joins, parts or varies others and is not seen itself, as U+200B and U+FE0F."""
    return unicodedata.category(char) == "Cf" or "\ufe00" <= char <= "\ufe0f"


def _trim(text: str, piece: str, span: tuple[int, int]) -> tuple[int, int]:
    """The span without the space before its word; of a mark of one space alone an empty one before what follows."""
    start, end = span
    if len(piece) == 1 and piece in SPACE_MARKS:
        return (start, start) if text[start:end].strip() else (end, end)
    first = start
    while first < end and text[first].isspace():
        first += 1
    return (first, end) if first < end else span


def _with_marks(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans with the marks after them at which no token begins: a tokenizer that composes decomposed text counts
    the letter alone."""
    begins = {start for start, end in spans if start < end}
    longer = []
    for start, end in spans:
        letter, last = end - 1, end
        while start < end and last < len(text) and last not in begins and _takes(text[letter:last], text[last]):
            last += 1
        longer.append((start, last))
    return longer


def _takes(letter: str, char: str) -> bool:
    """Whether a letter and the marks that it has take one more, by category or by composition."""
    composed = unicodedata.normalize("NFKC", letter + char)
    return unicodedata.category(char)[0] == "M" or len(composed) <= len(unicodedata.normalize("NFKC", letter))


def _shared(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """(first, one past the last) of the runs of several tokens with the same characters."""
    runs, first = [], 0
    for i in range(1, len(spans) + 1):
        if i == len(spans) or spans[i] != spans[first] or spans[i][0] == spans[i][1]:
            runs += [(first, i)] if i - first > 1 else []
            first = i
    return runs


def _is_one_word(text: str, before: tuple[int, int], after: tuple[int, int]) -> bool:
    if before[0] == before[1]:  # a mark of the space before a word
        return before[1] == after[0] and after[1] > after[0] and not text[after[0]].isspace()
    if after[0] < before[1]:
        return True
    return after[0] == before[1] and after[1] > after[0] and all(map(_joins, (text[before[1] - 1], text[after[0]])))


def _joins(char: str) -> bool:
    """Whether a character is a part of words that go on beside it."""
    if unicodedata.category(char)[0] not in "LNM":
        return False
    return not any(first <= ord(char) <= last for first, last in UNSPACED)


# Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, kana, and Chinese characters.
UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),
)  # fmt: skip


def name_piece(piece: str | None, decoded: str) -> str:
    """What a token of a vocabulary is called without a text: its characters, or its bytes where they make none; one
    that the tokenizer does not know, as models have more rows than their tokenizers tokens, unnamed.

    decoded: what the tokenizer makes of this token alone; it has � where the bytes are no whole character.
    """
    if piece is None:
        return "unnamed"
    if "\ufffd" not in decoded:
        return visible(decoded) or visible(piece)
    codes = [BYTES.get(char) for char in piece]
    if None in codes:
        return piece
    return "".join(chr(code) if 32 <= code < 127 else f"\\x{code:02x}" for code in codes if code is not None)


def unique_names(names: Sequence[str], ids: Sequence[int]) -> list[str]:
    """The names, with the id of the token after each that is unnamed or not the only one of its kind."""
    return [
        f"{name} (token {id_})" if names.count(name) > 1 or name == "unnamed" else name for name, id_ in zip(names, ids)
    ]


def _byte_letters() -> dict[str, int]:
    """The byte that each letter of a byte-level vocabulary stands for: printable ones themselves, the others by letters
    from U+0100 on (Radford et al. 2019, in the code of GPT-2)."""
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in own]
    return {chr(byte): byte for byte in own} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


BYTES = _byte_letters()


def special_flags(ids: Sequence[int], special_ids: Collection[int], template: Sequence[int]) -> tuple[list[int], int]:
    """1 for each special token, and how many of them the text itself holds.

    special_ids: all that the tokenizer declares special, but the one for unknown words.  template: 1 for those that the
    tokenizer has added around the text.
    """
    flags = [int(bool(added) or id_ in special_ids) for id_, added in zip(ids, template)]
    return flags, sum(flags) - sum(map(bool, template))
