"""Roles: which text plays query, key and context.  The hinge between tasks, which know no mechanism, and mechanisms,
which know no task."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain, groupby
from types import MappingProxyType

from triattn_core.text.cells import Run, cells, sentences
from triattn_core.text.tokenizer import LONGEST, Tokenizer, Tokens

NAMED = 8  # unknown tokens that a note names
NO_TEXTS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Role:
    """A sequence of tokens that plays one role; all tuples have the same length.

    strings: the text each token stands for, as the reader wrote it; word pieces that go on begin with "##".
    texts, spans: the name of the source text and the character offsets into it; "" and (0, 0) for special tokens.
    positions: the place of each token in the context, -1 outside of it.  types: BERT's, see `segment_ids`.
    segments: what of its text each token belongs to, such as "turn 3"; "" for special tokens.
    cells: the runs of tokens that the model averages, of a long text; empty where each token is its own.
    """

    ids: tuple[int, ...]
    strings: tuple[str, ...]
    texts: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    special: tuple[bool, ...]
    positions: tuple[int, ...]
    types: tuple[int, ...]
    segments: tuple[str, ...]
    cells: tuple[Run, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, text: str) -> Role:
        """The tokens that come from one text, each its own cell."""
        rows = [i for i, name in enumerate(self.texts) if name == text]
        columns = [getattr(self, field.name) for field in fields(self) if field.name != "cells"]
        return Role(*(tuple(column[i] for i in rows) for column in columns))

    def pooled(self, most: int, texts: Mapping[str, str] = NO_TEXTS) -> Role:
        """The same tokens in at most `most` cells; each special token is one.

        No cell crosses the end of a segment, nor of a sentence of `texts` where so many cells are enough for that.
        """
        begins = {name: [start for start, _ in sentences(text)] for name, text in texts.items()}
        within = [bisect_right(begins.get(name, ()), start) for name, (start, _) in zip(self.texts, self.spans)]
        alone = [i if special else None for i, special in enumerate(self.special)]
        groups = list(zip(alone, self.segments, within))
        if len(list(groupby(groups))) > most:
            groups = list(zip(alone, self.segments))
        return replace(self, cells=cells(groups, most))

    @property
    def runs(self) -> tuple[Run, ...]:
        """What the model sees as one: its cells, or its tokens."""
        return self.cells or tuple((i, i + 1) for i in range(len(self)))


@dataclass(frozen=True)
class Limits:
    """How much a model reads.

    tokens: of a sentence of a pair; of the whole context of the other tasks.
    cells: of query, key and context, where long texts are filtered.
    apart: whether each text is encoded alone, and the context with it: see `alone`.
    """

    tokens: int
    cells: tuple[int, int, int] | None = None
    apart: bool = False


@dataclass(frozen=True)
class Roles:
    """Query and key are cut from the context, the joint sequence `[CLS] … [SEP] … [SEP]`.

    Of texts that are encoded apart, every `[CLS]` of the context begins another; query and key may stand outside of it.
    """

    query: Role
    key: Role
    context: Role
    notes: tuple[str, ...] = ()

    @property
    def length(self) -> int:
        """Tokens of the joint sequence: what a row of a batch costs."""
        return len(self.context)

    @property
    def tokens(self) -> int:
        """The same without special tokens."""
        return len(self.context) - sum(self.context.special)

    def axes(self, site: str) -> dict[str, Role]:
        """Whose tokens stand along the axes of a site: in `b_over_a` they change places, `a_over_a` is a's alone."""
        sides = {"a": self.query, "b": self.key}
        query, key = next(((q, k) for q in "ab" for k in "ab" if f"{q}_over_{k}" in site), ("b", "a"))
        return {"query": sides[query], "key": sides[key], "context": self.context}


@dataclass(frozen=True)
class Part:
    """One text of a joint sequence.

    segments: what each token belongs to, one name for all or one a token.  type: BERT's segment id of the text;
    types: of each token, where they differ.
    """

    name: str
    text: str
    tokens: Tokens
    segments: str | Sequence[str]
    type: int = 0
    types: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def columns(self) -> tuple[Sequence, ...]:
        """ids, strings, texts, spans, special, types, segments, with the [SEP] after them."""
        tokens, text, size = self.tokens, self.text, len(self.tokens)
        pieces = ["##" if string.startswith("##") else "" for string in tokens.strings]
        shown = [piece + text[start:end] for piece, (start, end) in zip(pieces, tokens.spans)]
        types = self.types or [self.type] * size
        segments = [self.segments] * size if isinstance(self.segments, str) else self.segments
        after = (None, "[SEP]", "", (0, 0), True, self.type, "")
        columns = (tokens.ids, shown, [self.name] * size, tokens.spans, [False] * size, types, segments)
        return tuple([*column, last] for column, last in zip(columns, after))


def joint(parts: Iterable[Part], tokenizer: Tokenizer) -> Role:
    """`[CLS] part [SEP] part [SEP]` (Tri-Attention, Eq. 20)."""
    columns = zip(*(part.columns for part in parts))
    before = (tokenizer.special["cls"], "[CLS]", "", (0, 0), True, 0, "")
    found = [(first, *chain.from_iterable(column)) for first, column in zip(before, columns)]
    ids = tuple(tokenizer.special["sep"] if one is None else one for one in found[0])
    *rest, types, segments = found[1:]
    return Role(ids, *rest, tuple(range(len(ids))), types, segments)


def alone(groups: Iterable[Sequence[Part]], tokenizer: Tokenizer) -> Role:
    """`[CLS] part [SEP] … [CLS] part [SEP]`: the parts of each group are encoded together, and no others with them."""
    roles = [joint(group, tokenizer) for group in groups]
    columns = (chain.from_iterable(getattr(role, field.name) for role in roles) for field in fields(Role)[:-1])
    found = Role(*map(tuple, columns))
    return replace(found, positions=tuple(range(len(found))))


def outside(part: Part, tokenizer: Tokenizer) -> Role:
    """The tokens of a text that is no part of the context."""
    role = joint([part], tokenizer).take(part.name)
    return replace(role, positions=(-1,) * len(role))


def segment_ids(a: Sequence[int], b: Sequence[int], tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """BERT's segment ids of two texts from their token ids: 0 for the first and 1 for the second.

    Where the encoder tells matches apart, 2 and 3 for a token that stands in the other text too: the exact-match
    feature of Chen et al. 2017 (Reading Wikipedia, section 3.2), given where BERT takes features of a token.
    """
    shared = (set(a) & set(b)) - {tokenizer.special["unk"]} if tokenizer.match else set()
    return [2 * (one in shared) for one in a], [1 + 2 * (one in shared) for one in b]


def tokens_notes(name: str, text: str, tokens: Tokens, tokenizer: Tokenizer) -> list[str]:
    """What a reader should know: what was cut, and what the model cannot read."""
    notes = []
    kept = f"{len(tokens)} token{'s' * (len(tokens) != 1)}"
    if tokens.skipped:
        notes.append(
            f"{name} is long: the model reads the {kept} nearest to what is asked and leaves out {tokens.skipped:,} "
            f"characters before them and {tokens.cut:,} after."
        )
    elif tokens.cut:
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
