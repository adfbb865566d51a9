"""Roles: which text plays query, key and context.  The hinge between tasks, which know no mechanism, and mechanisms,
which know no task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from triattn_core.text.tokenizer import Tokenizer, Tokens


@dataclass(frozen=True)
class Role:
    """A sequence of tokens that plays one role; all tuples have the same length.

    strings: the text each token stands for, as the reader wrote it; word pieces that go on begin with "##".
    texts, spans: the name of the source text and the character offsets into it; "" and (0, 0) for special tokens.
    positions: the place of each token in the context.  types: BERT's segment ids.
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


def joint(parts: Iterable[tuple[str, str, Tokens]], tokenizer: Tokenizer) -> Role:
    """`[CLS] part [SEP] part [SEP]` (Tri-Attention, Eq. 20) from (name, text, tokens) of each part."""
    rows: list[tuple[int, str, str, tuple[int, int], bool, int]] = []
    rows.append((tokenizer.special["cls"], "[CLS]", "", (0, 0), True, 0))
    for number, (name, text, tokens) in enumerate(parts):
        for id_, string, span in zip(tokens.ids, tokens.strings, tokens.spans):
            shown = ("##" if string.startswith("##") else "") + text[slice(*span)]
            rows.append((id_, shown, name, span, False, min(number, 1)))
        rows.append((tokenizer.special["sep"], "[SEP]", "", (0, 0), True, min(number, 1)))
    ids, strings, texts, spans, special, types = zip(*rows)
    return Role(ids, strings, texts, spans, special, tuple(range(len(rows))), types)


def tokens_notes(name: str, tokens: Tokens, tokenizer: Tokenizer) -> list[str]:
    """What a reader should know: what was cut, and what the model cannot read."""
    notes = []
    if tokens.cut:
        notes.append(f"{name} is cut after {len(tokens)} tokens: {tokens.cut:,} characters are left out.")
    unknown = tokens.ids.count(tokenizer.special["unk"])
    if unknown:
        blind = " It cannot read this text: what follows means little." if 2 * unknown > len(tokens) else ""
        share = f"{unknown} of {len(tokens)} tokens"
        notes.append(f"{name}: the model does not know {share} and sees them all alike.{blind}")
    return notes
