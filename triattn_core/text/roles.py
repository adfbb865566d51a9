"""Roles: which text plays query, key and context.  The hinge between tasks, which know no mechanism, and mechanisms,
which know no task."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from triattn_core.text.tokenizer import LONGEST, Tokenizer, Tokens

NAMED = 8  # unknown tokens that a note names


@dataclass(frozen=True)
class Role:
    """A sequence of tokens that plays one role; all tuples have the same length.

    strings: the text each token stands for, as the reader wrote it; word pieces that go on begin with "##".
    texts, spans: the name of the source text and the character offsets into it; "" and (0, 0) for special tokens.
    positions: the place of each token in the context.  types: BERT's segment ids, see `segments`.
    """

    ids: tuple[int, ...]
    strings: tuple[str, ...]
    texts: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    special: tuple[bool, ...]
    positions: tuple[int, ...]
    types: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, text: str) -> Role:
        """The tokens that come from one text."""
        rows = [i for i, name in enumerate(self.texts) if name == text]
        fields = (self.ids, self.strings, self.texts, self.spans, self.special, self.positions, self.types)
        return Role(*(tuple(field[i] for i in rows) for field in fields))


@dataclass(frozen=True)
class Roles:
    """Query and key are cut from the context, the joint sequence `[CLS] … [SEP] … [SEP]`."""

    query: Role
    key: Role
    context: Role
    notes: tuple[str, ...] = ()


def segments(a: Sequence[int], b: Sequence[int], tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """BERT's segment ids of two texts from their token ids: 0 for the first and 1 for the second.

    Where the encoder tells matches apart, 2 and 3 for a token that stands in the other text too: the exact-match
    feature of Chen et al. 2017 (Reading Wikipedia, section 3.2), given where BERT takes features of a token.
    """
    shared = (set(a) & set(b)) - {tokenizer.special["unk"]} if tokenizer.match else set()
    return [2 * (one in shared) for one in a], [1 + 2 * (one in shared) for one in b]


def joint(parts: Iterable[tuple[str, str, Tokens]], tokenizer: Tokenizer) -> Role:
    """`[CLS] part [SEP] part [SEP]` (Tri-Attention, Eq. 20) from (name, text, tokens) of each part."""
    parts = list(parts)
    types = [[min(number, 1)] * len(tokens) for number, (_, _, tokens) in enumerate(parts)]
    if len(parts) == 2:
        types = segments(parts[0][2].ids, parts[1][2].ids, tokenizer)
    rows: list[tuple[int, str, str, tuple[int, int], bool, int]] = []
    rows.append((tokenizer.special["cls"], "[CLS]", "", (0, 0), True, 0))
    for number, (name, text, tokens) in enumerate(parts):
        for id_, string, span, segment in zip(tokens.ids, tokens.strings, tokens.spans, types[number]):
            shown = ("##" if string.startswith("##") else "") + text[slice(*span)]
            rows.append((id_, shown, name, span, False, segment))
        rows.append((tokenizer.special["sep"], "[SEP]", "", (0, 0), True, min(number, 1)))
    ids, strings, texts, spans, special, segment_ids = zip(*rows)
    return Role(ids, strings, texts, spans, special, tuple(range(len(rows))), segment_ids)


def tokens_notes(name: str, text: str, tokens: Tokens, tokenizer: Tokenizer) -> list[str]:
    """What a reader should know: what was cut, and what the model cannot read."""
    notes = []
    if tokens.cut:
        kept = f"{len(tokens)} token{'s' * (len(tokens) != 1)}"
        notes.append(f"{name} is cut after {kept}: {tokens.cut:,} characters are left out.")
    unknown = [text[slice(*span)] for id_, span in zip(tokens.ids, tokens.spans) if id_ == tokenizer.special["unk"]]
    if unknown:
        names = list(dict.fromkeys(map(_visible, unknown)))
        more = f", … ({len(names)} in all)" if len(names) > NAMED else ""
        alike = " and sees them all alike" if len(names) > 1 else ""
        blind = " It cannot read this text: what follows means little." if 2 * len(unknown) > len(tokens) else ""
        notes.append(f"{name}: the model does not know {', '.join(names[:NAMED])}{more}{alike}.{blind}")
    return notes


def _visible(text: str) -> str:
    """An unknown token as a note can show it: not long, and by its number where it has no shape of its own."""
    text = unicodedata.normalize("NFC", text)
    if all(unicodedata.category(char)[0] in "CMZ" for char in text):
        return " ".join(f"U+{ord(char):04X}" for char in text[:2])
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"
