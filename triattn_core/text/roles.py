"""Roles: which text plays query, key and context.  The hinge between tasks, which know no mechanism, and mechanisms,
which know no task."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, groupby
from types import MappingProxyType
from typing import TYPE_CHECKING

from triattn_core.cached import cached_property
from triattn_core.text.direction import isolate
from triattn_core.text.segmentation import Run, divide_into_cells, sentences
from triattn_core.text.token_names import SPACE
from triattn_core.text.tokenizer import LONGEST, Tokenizer, Tokens

if TYPE_CHECKING:
    from triattn_core.trace.site import Site

NAMED = 8  # unknown tokens that a note names
NO_TEXTS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Role:
    """A sequence of tokens that plays one role; all tuples except `cells` have the same length.

    strings: the original text of each token; word pieces that continue a word begin with "##", a space alone is ␣.
    texts, spans: the name of the source text and the character offsets into it; "" and (0, 0) for special tokens.
    positions: the position of each token in the context, -1 if it is not in it.  types: BERT's, see `segment_ids`.
    segments: the part of its text that each token belongs to, such as "turn 3"; "" for special tokens.
    cells: for long texts, the runs of tokens that the model averages; empty if each token is a cell.
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

    def pool(self, max_cells: int, texts: Mapping[str, str] = NO_TEXTS) -> Role:
        """The same tokens in at most `max_cells` cells; each special token is a cell of its own.

        No cell crosses the end of a segment, nor of a sentence of `texts` if there are enough cells for that.
        """
        sentence_starts = {name: [start for start, _ in sentences(text)] for name, text in texts.items()}
        sentence_numbers = [
            bisect_right(sentence_starts.get(name, ()), start) for name, (start, _) in zip(self.texts, self.spans)
        ]
        special_ids = [i if special else None for i, special in enumerate(self.special)]
        groups: list[tuple] = list(zip(special_ids, self.segments, sentence_numbers))
        if len(list(groupby(groups))) > max_cells:
            groups = list(zip(special_ids, self.segments))
        return replace(self, cells=divide_into_cells(groups, max_cells))

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs of tokens that the model reads as one: its cells, or single tokens."""
        return self.cells or tuple((i, i + 1) for i in range(len(self)))

    @property
    def begin_inside_word(self) -> tuple[bool, ...]:
        """Of each of `runs` whether it begins inside a word: cells have fixed numbers of tokens, which may part one."""
        return tuple(self.strings[start].startswith("##") for start, _ in self.runs)


@dataclass(frozen=True)
class Limits:
    """Limits on the input of a model.

    tokens: of each sentence of a pair; of the whole context in other tasks.
    cells: numbers of cells of query, key and context, for long texts.
    apart: whether each text is encoded separately, the context too: see `alone`.
    """

    tokens: int
    cells: tuple[int, int, int] | None = None
    apart: bool = False


@dataclass(frozen=True)
class Roles:
    """Query, key and context of an example; query and key are parts of the context, `[CLS] … [SEP] … [SEP]`.

    If texts are encoded separately, every `[CLS]` of the context begins another text, and query and key may be outside
    the context.
    """

    query: Role
    key: Role
    context: Role
    notes: tuple[str, ...] = ()

    @property
    def length(self) -> int:
        """Number of tokens of the joint sequence: the cost of a row of a batch."""
        return len(self.context)

    @property
    def tokens(self) -> int:
        """Number of tokens without special ones."""
        return len(self.context) - sum(self.context.special)

    def axes(self, site: Site) -> dict[str, Role]:
        """The role of each axis of a site: swapped in `b_over_a`; in `a_over_a` query and key are both a."""
        sides = {"a": self.query, "b": self.key}
        query, key = site.sides or ("b", "a")
        return {"query": sides[query], "key": sides[key], "context": self.context}


ROLES = tuple(field.name for field in fields(Roles) if field.type == "Role")  # the names of its texts, queries first


@dataclass(frozen=True)
class Part:
    """One text of a joint sequence.

    segments: one segment name for all tokens, or one per token.  type: BERT's segment id of the text; types: of each
    token, if they differ.
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
        """The columns ids, strings, texts, spans, special, types and segments, including the final [SEP]."""
        tokens, text, size = self.tokens, self.text, len(self.tokens)
        pieces = ["##" if string.startswith("##") else "" for string in tokens.strings]
        strings = [piece + text[start:end] or SPACE for piece, (start, end) in zip(pieces, tokens.spans)]
        types = self.types or [self.type] * size
        segments = [self.segments] * size if isinstance(self.segments, str) else self.segments
        separator = (None, "[SEP]", "", (0, 0), True, self.type, "")
        columns: tuple[Sequence, ...] = (
            tokens.ids,
            strings,
            [self.name] * size,
            tokens.spans,
            [False] * size,
            types,
            segments,
        )
        return tuple([*column, value] for column, value in zip(columns, separator))


def joint(parts: Iterable[Part], tokenizer: Tokenizer) -> Role:
    """`[CLS] part [SEP] part [SEP]` (Tri-Attention, Eq. 20)."""
    all_columns = [part.columns for part in parts]
    start = (tokenizer.special["cls"], "[CLS]", "", (0, 0), True, 0, "")
    columns = [(first, *chain.from_iterable(one[i] for one in all_columns)) for i, first in enumerate(start)]
    ids = tuple(tokenizer.special["sep"] if id_ is None else id_ for id_ in columns[0])
    strings, texts, spans, special, types, segments = columns[1:]
    return Role(ids, strings, texts, spans, special, tuple(range(len(ids))), types, segments)


def encode_groups(groups: Iterable[Sequence[Part]], tokenizer: Tokenizer) -> Role:
    """`[CLS] part [SEP] … [CLS] part [SEP]`: only the parts of one group are encoded together."""
    roles = [joint(group, tokenizer) for group in groups]
    columns = (chain.from_iterable(getattr(role, field.name) for role in roles) for field in fields(Role)[:-1])
    role_ = Role(*map(tuple, columns))
    return replace(role_, positions=tuple(range(len(role_))))


def role_outside_context(part: Part, tokenizer: Tokenizer) -> Role:
    """The tokens of a text that is not part of the context."""
    role = joint([part], tokenizer).take(part.name)
    return replace(role, positions=(-1,) * len(role))


def segment_ids(a: Sequence[int], b: Sequence[int], tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """BERT's segment ids of two texts from their token ids: 0 for the first and 1 for the second.

    If the encoder distinguishes matches, 2 and 3 for tokens that also occur in the other text: the exact-match feature
    of Chen et al. 2017 (Reading Wikipedia, section 3.2), passed as BERT's segment ids.
    """
    shared = (set(a) & set(b)) - {tokenizer.special["unk"]} if tokenizer.match else set()
    return [2 * (token in shared) for token in a], [1 + 2 * (token in shared) for token in b]


def tokens_notes(name: str, text: str, tokens: Tokens, tokenizer: Tokenizer) -> list[str]:
    """Notes for the user: how much of a text was cut, and which tokens the model does not know."""
    notes = []
    size = f"{len(tokens)} token{'s' * (len(tokens) != 1)}"
    if tokens.skipped:
        notes.append(
            f"{name} is long: the model reads the {size} nearest to the question and leaves out {tokens.skipped:,} "
            f"characters before them and {tokens.cut:,} after."
        )
    elif tokens.cut:
        notes.append(f"{name} is cut after {size}: {tokens.cut:,} characters are left out.")
    unknown = [text[slice(*span)] for id_, span in zip(tokens.ids, tokens.spans) if id_ == tokenizer.special["unk"]]
    if unknown:
        names = [isolate(token) for token in dict.fromkeys(map(_visible, unknown))]
        total_text = f", … ({len(names)} in all)" if len(names) > NAMED else ""
        indistinct = " and sees them all alike" if len(names) > 1 else ""
        warning = " It cannot read this text: what follows means little." if 2 * len(unknown) > len(tokens) else ""
        notes.append(f"{name}: the model does not know {', '.join(names[:NAMED])}{total_text}{indistinct}.{warning}")
    return notes


def _visible(text: str) -> str:
    """An unknown token as notes show it: shortened, and as a code point if it has no visible shape."""
    text = unicodedata.normalize("NFC", text)
    if all(unicodedata.category(char)[0] in "CMZ" for char in text):
        return " ".join(f"U+{ord(char):04X}" for char in text[:2])
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"
