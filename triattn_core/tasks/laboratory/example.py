"""A row of a laboratory task, its tokens, and the roles that they take.

A row is one query, some keys and some context tokens.  The truth is part of it: the (key, context) cells that carry
the answer.  A token is a short text that stands for some words: the card `mira (blue)` for *mira* and *blue*.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from triattn_core.cached import cached_property
from triattn_core.errors import DataError, InputError, choices, quote
from triattn_core.text.roles import Role, Roles
from triattn_core.text.row_fields import field, number, texts_field
from triattn_core.trace.site import Site

Cell = tuple[int, int]
ROLES = ("query", "keys", "context")
NAMES = ("query", "key", "context token")
MOST = 64  # keys, or context tokens, of a row
SEPARATOR = ", "


@dataclass(frozen=True)
class Example:
    """A query, keys and context tokens; `label` is an index into the task's LABELS.

    truth: the (key, context) positions, from 0, that carry the answer.
    """

    query: str
    keys: tuple[str, ...]
    context: tuple[str, ...]
    label: int | None = None
    truth: tuple[Cell, ...] = ()
    id: str = ""

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """From `{"query", "keys", "context", "label"?, "truth"?, "id"?}`. Raises DataError naming the field."""
        query, keys, context = field(row, "query", where), *(texts_field(row, name, where) for name in ROLES[1:])
        truth = row.get("truth", [])
        sizes = len(keys), len(context)
        if not isinstance(truth, list) or not all(_is_cell(cell, sizes) for cell in truth):
            raise DataError(f"{where}: field 'truth' must be a list of [key, context] positions, got {truth!r:.40}")
        label = number(row, "label", where, 1000)
        return cls(query, keys, context, label, tuple(map(tuple, truth)), str(row.get("id", "")))

    def check(self) -> None:
        """Raises InputError where a token is empty, or where there are none or too many."""
        for name, texts in (("query", (self.query,)), ("keys", self.keys), ("context", self.context)):
            if not texts or not all(text.strip() for text in texts):
                raise InputError(f"No {name}, or an empty token among them: name at least one.")
            if len(texts) > MOST:
                raise InputError(f"{len(texts)} {name} tokens: at most {MOST} are read.")


def _is_cell(cell: object, sizes: tuple[int, int]) -> bool:
    if not isinstance(cell, list) or len(cell) != 2:
        return False
    return all(type(place) is int and 0 <= place < size for place, size in zip(cell, sizes))


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a task, numbered from 1; 0 is padding.

    numbers: (role, text) → number.  words: the words of each number, those of 0 first (none).
    names: what a token of each role is called.
    """

    numbers: dict[tuple[str, str], int]
    words: tuple[tuple[str, ...], ...]
    special: dict[str, int]
    names: tuple[str, str, str] = NAMES

    @classmethod
    def of(cls, tokens: Iterable[tuple[str, str, tuple[str, ...]]], names: tuple[str, str, str] = NAMES) -> Vocabulary:
        """From (role, text, words); the role counts as one more word.  names: see `LaboratoryTask.TOKENS`."""
        rows = list(tokens)
        numbers = {(role, text): i for i, (role, text, _) in enumerate(rows, 1)}
        words = ((), *((*token_words, f"<{role}>") for role, _, token_words in rows))
        return cls(numbers, words, {"pad": 0, "cls": 0, "sep": 0, "unk": 0}, names)

    @cached_property
    def word_list(self) -> tuple[str, ...]:
        """All words, each once."""
        return tuple(dict.fromkeys(word for words in self.words for word in words))

    def texts(self, role: str) -> list[str]:
        """The tokens of a role."""
        return [text for name, text in self.numbers if name == role]

    def look_up(self, role: str, texts: Sequence[str]) -> tuple[int, ...]:
        """The numbers of tokens.  Raises InputError naming the nearest."""
        try:
            return tuple(self.numbers[role, text] for text in texts)
        except KeyError as error:
            text = error.args[0][1]
            name = self.names[ROLES.index(role)]
            problem = f"unknown {name} {quote(text)}" if text else f"no {name} is given"
            raise InputError(f"{problem}; {choices(text, self.texts(role))}") from None


@dataclass(frozen=True)
class LaboratoryRoles(Roles):
    """Query, keys and context; a joint sequence of all three stands along the axes of a site called `joint`, and what
    pairs go from and to along those of one called `triangle`."""

    nodes: Role | None = None

    @property
    def length(self) -> int:
        """Tokens of the row: what a row of a batch costs."""
        return len(self.query) + len(self.key) + len(self.context)

    def axes(self, site: Site) -> dict[str, Role]:
        """Whose tokens stand along the axes of a site."""
        if site.role == "triangle" and self.nodes is not None:
            return dict.fromkeys(("query", "key", "context"), self.nodes)
        if site.role != "joint":
            return {"query": self.query, "key": self.key, "context": self.context}
        columns = [self.query, self.key, self.context]
        names = ("ids", "strings", "texts", "spans", "special", "positions", "types", "segments")
        joint = Role(*(sum((getattr(role, name) for role in columns), ()) for name in names))
        return {"query": joint, "key": joint}


def node_role(nodes: Sequence[str]) -> Role | None:
    """What pairs go from and to, as the tokens of axes; None without any."""
    size = len(nodes)
    columns = (("",) * size, ((0, 0),) * size, (False,) * size, (-1,) * size, (0,) * size, ("",) * size)
    return Role((0,) * size, tuple(nodes), *columns) if nodes else None


def role_of(kind: int, name: str, texts: Sequence[str], vocabulary: Vocabulary) -> Role:
    starts, end = [], 0
    for text in texts:
        starts.append(end)
        end += len(text) + len(SEPARATOR)
    size, ids = len(texts), vocabulary.look_up(name, texts)
    spans = tuple((start, start + len(text)) for start, text in zip(starts, texts))
    columns = ((name,) * size, spans, (False,) * size, tuple(range(size)), (kind,) * size, (name,) * size)
    return Role(ids, tuple(texts), *columns)
